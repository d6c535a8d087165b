"""Between two trials the router's queues are empty, which is what it says of them and nothing that is assumed."""

from types import SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.base.errors import LinkError
from lanelab.driver.bed.substrate import Substrate, Traits
from lanelab.driver.link.live.state import DRAIN_LOOKS, LinkState

# As tc of iproute2 6.1 writes it.
EMPTY = (
    '[{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"refcnt":2,"options":{},"bytes":0,"packets":0,"drops":0,'
    '"overlimits":0,"requeues":0,"backlog":0,"qlen":0}]'
)


def drained(*answers: str) -> int:
    """Return how many of these answers of tc it took."""
    left = list(answers)
    node = SimpleNamespace(run=lambda _argv: SimpleNamespace(stdout=left.pop(0)))
    substrate = SimpleNamespace(traits=Traits(), router=SimpleNamespace(node=node))
    LinkState(cast("Substrate", substrate)).drain()
    return len(answers) - len(left)


def test_the_queues_have_to_be_empty_some_times_in_a_row() -> None:
    full = EMPTY.replace('"qlen":0', '"qlen":2')
    assert drained(EMPTY, full, *[EMPTY] * (DRAIN_LOOKS + 1)) == 2 + DRAIN_LOOKS


@pytest.mark.parametrize("answer", ["", "{}", "x", EMPTY.replace(',"qlen":0', ""), EMPTY.replace(":0}]", ":null}]")])
def test_a_router_that_does_not_tell_is_not_taken_for_empty(answer: str) -> None:
    with pytest.raises(LinkError, match="does not tell what waits in its queues"):
        drained(*[answer] * DRAIN_LOOKS)
