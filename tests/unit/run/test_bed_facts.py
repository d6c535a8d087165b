"""What a run keeps of its hosts: the keys, in the order in which they are stored."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.bed.substrate import Substrate, Traits
from lanelab.driver.run.channel.fact_operations import BedReport
from lanelab.driver.run.channel.facts import bed_facts


def report(names: str = "", *, direct: bool = False) -> BedReport:
    """Return the facts of nodes that say nothing but `names` to uname."""

    def run(argv: Sequence[str], check: bool) -> SimpleNamespace:  # noqa: ARG001 - its name counts
        return SimpleNamespace(stdout=names if argv[0] == "uname" else "")

    node = SimpleNamespace(run=run)
    proven = SimpleNamespace(bps=1)
    router = SimpleNamespace(node=node, kind="kernel", kernel="6.1", compensation_us=0, proven=proven)
    substrate = SimpleNamespace(
        node=lambda _name: node, router=router, traits=Traits(direct=direct), describe=lambda: {"client": {}}
    )
    return bed_facts(cast("Substrate", substrate))


@pytest.mark.parametrize("direct", [False, True])
def test_the_keys_of_a_host_keep_their_order(*, direct: bool) -> None:
    facts = report(direct=direct)
    assert list(facts) == ["machines", "client", "server", "router"]
    between = ["direct_offloads"] if direct else []
    for host in (facts["client"], facts["server"]):
        assert list(host) == ["kernel", "programs", "sysctls", "offloads", *between, "routes"]


def test_only_a_host_that_has_another_name_than_its_node_tells_it() -> None:
    facts = report("client 6.1.0-9\n")
    assert (facts["client"]["kernel"], "host_name" in facts["client"]) == ("6.1.0-9", False)
    assert facts["server"].get("host_name") == "client"
