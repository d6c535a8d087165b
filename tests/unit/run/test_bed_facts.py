"""What a run keeps of its hosts: the keys, in the order in which they are stored."""

from types import SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.bed.substrate import Substrate, Traits
from lanelab.driver.run.channel.facts import bed_facts


@pytest.mark.parametrize("direct", [False, True])
def test_the_keys_of_a_host_keep_their_order(*, direct: bool) -> None:
    node = SimpleNamespace(run=lambda _argv, check: SimpleNamespace(stdout=""))  # noqa: ARG005 - its name counts
    proven = SimpleNamespace(bps=1)
    router = SimpleNamespace(node=node, kind="kernel", kernel="6.1", compensation_us=0, proven=proven)
    substrate = SimpleNamespace(
        node=lambda _name: node, router=router, traits=Traits(direct=direct), describe=lambda: {"client": {}}
    )
    facts = bed_facts(cast("Substrate", substrate))
    assert list(facts) == ["machines", "client", "server", "router"]
    between = ["direct_offloads"] if direct else []
    for host in (facts["client"], facts["server"]):
        assert list(host) == ["kernel", "programs", "sysctls", "offloads", *between, "routes"]
