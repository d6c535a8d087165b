"""Between two trials the router's queues are empty, which is what it says of them and nothing that is assumed."""

import os
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.base.errors import CommandFailed, LinkError
from lanelab.driver.bed.node import Command, Process, Stdio, Terminal
from lanelab.driver.bed.substrate import Substrate, Traits
from lanelab.driver.link.live.state import DRAIN_LOOKS, LinkState
from tests.kit.here import Here

# As tc of iproute2 6.1 writes it.
EMPTY = (
    '[{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"refcnt":2,"options":{},"bytes":0,"packets":0,"drops":0,'
    '"overlimits":0,"requeues":0,"backlog":0,"qlen":0}]'
)


class Router(Here):
    """A router whose tc shows one prepared answer after the other."""

    def __init__(self, answers: Sequence[str]) -> None:
        super().__init__("router")
        self._answers = [*answers]
        self.taken = 0

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        assert command.argv[0] == "tc"
        assert terminal is None
        assert stdio
        assert stdio.stdin is not None
        assert stdio.stdout is not None
        threading.Thread(target=self._answer, args=(os.dup(stdio.stdin), os.dup(stdio.stdout)), daemon=True).start()
        return cast("Process", SimpleNamespace(signal=lambda _number: None))

    def _answer(self, source: int, sink: int) -> None:
        with os.fdopen(source) as lines, os.fdopen(sink, "w") as out:
            for answer in self._answers:
                lines.readline()
                self.taken += 1
                print(answer, file=out, flush=True)


def drained(*answers: str) -> int:
    """Return how many of these answers of tc it took."""
    router = Router(answers)
    substrate = SimpleNamespace(traits=Traits(), router=SimpleNamespace(node=router))
    LinkState(cast("Substrate", substrate)).drain()
    return router.taken


def test_the_queues_have_to_be_empty_some_times_in_a_row() -> None:
    full = EMPTY.replace('"qlen":0', '"qlen":2')
    assert drained(EMPTY, full, *[EMPTY] * (DRAIN_LOOKS + 1)) == 2 + DRAIN_LOOKS


@pytest.mark.parametrize("answer", [EMPTY.replace(',"qlen":0', ""), EMPTY.replace(":0}]", ":null}]"), "[", "[3]"])
def test_a_router_that_does_not_tell_is_not_taken_for_empty(answer: str) -> None:
    with pytest.raises(LinkError, match="does not tell what waits in its queues"):
        drained(*[answer] * DRAIN_LOOKS)


@pytest.mark.parametrize("answer", ["", "{}", "x"])
def test_a_tc_that_ends_without_an_answer_is_not_taken_for_empty(answer: str) -> None:
    with pytest.raises(CommandFailed, match="it has ended"):
        drained(answer)
