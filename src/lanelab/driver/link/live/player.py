"""The player in the router, as the bed process knows it: one for the link that the bed has, where that moves."""

import json
import time

from lanelab.driver.base.errors import LinkError
from lanelab.driver.bed.line_program import LineProgram, Program
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote import player, radio_states, tc_netlink
from lanelab.driver.record.evidence.moving import Played

PROGRAM = Program(player, (radio_states, tc_netlink))
CLOCK_LOOKS = 7


class LinkPlayer:
    """Begins and ends what moves. Raises LinkError where the player has ended, or says nothing."""

    def __init__(self, router: Node, settings: player.Settings) -> None:
        self._program = LineProgram(router, PROGRAM, "the player in the router", LinkError)
        try:
            self._program.ask(json.dumps(settings, separators=(",", ":")))
            self._ahead_ns, self._uncertain_ns = self._clock()
        except BaseException:
            self.close()
            raise
        self._began: tuple[int, int] | None = None

    @property
    def failed(self) -> bool:
        return self._program.failed

    def _clock(self) -> tuple[int, int]:
        """Return by how much the router's clock is ahead of this one, and how uncertain that is."""
        looks = []
        for _ in range(CLOCK_LOOKS):
            before = time.time_ns()
            there = self._there("clock")
            after = time.time_ns()
            looks.append(((after - before) // 2, there - (before + after) // 2))
        uncertain, ahead = min(looks)
        return ahead, uncertain

    def _there(self, word: str) -> int:
        """Say a word; return when it was heard there."""
        return self._program.ask_for(player.Answer, word)["unix_ns"]

    def begin(self) -> None:
        """Begin the traces."""
        self._ahead_ns, self._uncertain_ns = self._clock()
        self._began = self._there("begin") - self._ahead_ns, self._uncertain_ns

    def end(self) -> Played | None:
        """The link stands still again. None: nothing had begun."""
        if self._began is None:
            return None
        (began_ns, uncertain_ns), self._began = self._began, None
        done = self._program.ask_for(player.LastAnswer, "end")
        return Played(
            began_unix_us=began_ns // 1000,
            uncertain_us=uncertain_ns // 1000,
            ended_us=(done["unix_ns"] - self._ahead_ns - began_ns) // 1000,
            steps=tuple((due, late) for due, late in done["late"]),
            radio=tuple((at, state) for at, state in done["radio"]),
        )

    def close(self) -> None:
        """End it. The link stays as it is at that moment: whoever closes this sets another, or ends the bed."""
        self._program.close()
