"""What the router did while a page loaded: whether it ran all the time, and whether somebody set its queues anew."""

from typing import TypedDict

from lanelab.driver.base.errors import RouterError
from lanelab.driver.bed.line_program import LineProgram, Program
from lanelab.driver.bed.remote import router_watch, tc_netlink
from lanelab.driver.bed.routers.pulse import Pulse
from lanelab.driver.bed.routers.router import Router
from lanelab.driver.link.shaping.shaping import DEVICES
from lanelab.driver.record.evidence.capture import RouterStall

PROGRAM = Program(router_watch, (tc_netlink,))


class _Announced(TypedDict):
    changes: list[tuple[str, str]]  # device, kind


class RouterWatch:
    """Of one bed; it watches one load after the other."""

    def __init__(self, router: Router) -> None:
        self._router = router
        self._program = LineProgram(router.node, PROGRAM, "the program that watches the router", RouterError)
        self._pulse: Pulse | None = None
        self._moves = False

    def prepare(self) -> None:
        """Try ahead of the load that both answer."""
        self.drop()
        self._program.ask("begin")
        self._pulse = self._router.pulse()

    def begin(self, *, moves: bool) -> None:
        """`moves`: the link does, so its queues are set anew by right."""
        self._moves = moves
        self._program.ask("begin")
        if self._pulse:
            self._pulse.begin()

    def end(self) -> tuple[RouterStall, ...] | None:
        """Return how long it did not answer. None: it is no process of this machine."""
        pulse, self._pulse = self._pulse, None
        return pulse.end() if pulse else None

    def queues_changed(self) -> tuple[str, ...] | None:
        """Return which of the link's queues were set anew since the load began, in words. None: the link moves."""
        changes = self._program.ask_for(_Announced, "end")["changes"]
        if self._moves:
            return None
        return tuple(sorted({f"{kind} of {device}" for device, kind in changes if device in DEVICES or not device}))

    def drop(self) -> None:
        """End what a trial that failed has left."""
        if self._pulse:
            self._pulse.close()
            self._pulse = None
