"""Which processors a load's two ends have."""

import json
import os
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.api import beds as options
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.base.errors import InputError
from lanelab.driver.bed import placement as module
from lanelab.driver.bed.placement import placement, processors_here, warning
from lanelab.driver.bed.substrate import Substrate, Traits
from lanelab.driver.link import Link
from lanelab.driver.link.live.state import LinkState
from lanelab.driver.link.profiles import PROFILES
from lanelab.driver.run.events import Event

DIRECT, SHAPED = PROFILES["direct"].link, PROFILES["load-test-2013"].link


@pytest.mark.parametrize(
    ("processors", "direct", "client", "router", "server"),
    [
        ([0, 1], True, "0", "0", "1"),
        ([0, 1], False, "0", "0", "1"),
        ([2, 5, 7], False, "2,5", "2,5", "7"),
        ([0, 1, 2, 3], False, "0,1", "0,1", "2,3"),
        ([0, 4, 1, 5, 2, 6], True, "0,4,1", "0,4,1", "5,2,6"),
        ([0, 4, 1, 5, 2, 6], False, "0,4", "1", "5,2,6"),
    ],
)
def test_places(processors: list[int], direct: bool, client: str, router: str, server: str) -> None:
    assert placement(processors, "load", direct=direct) == {"client": client, "server": server, "router": router}


@given(st.lists(st.integers(0, 300), unique=True, max_size=40), st.booleans())
def test_the_server_has_its_own_half_on_every_link(processors: list[int], direct: bool) -> None:
    made = {node: names.split(",") for node, names in placement(processors, "load", direct=direct).items()}
    if len(processors) < 2:
        assert made == {}
        assert warning(processors, "load")
        return
    assert not warning(processors, "load")
    assert len(made["server"]) == len(processors) // 2
    assert not set(made["server"]) & {*made["client"], *made["router"]}
    assert {*made["client"], *made["router"], *made["server"]} == set(map(str, processors))
    assert made["server"] == placement(processors, "load", direct=not direct)["server"].split(",")


def test_page_loads_run_anywhere() -> None:
    assert placement([0, 1, 2, 3], "page_load", direct=False) == {}
    assert not warning([0], "page_load")


def test_threads_of_one_core_are_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):  # as many machines number them: the second threads after all first ones
        folder = tmp_path / f"cpu{number}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text("0\n")
        (folder / "core_id").write_text(f"{number % 4}\n")
    monkeypatch.setattr(module, "TOPOLOGY", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(8)))
    assert processors_here() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert placement(processors_here(), "load", direct=True)["server"] == "2,6,3,7"


def test_a_run_has_them_unless_the_user_says_which(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[Event] = []
    monkeypatch.setattr(options, "processors_here", lambda: [0, 1])
    placed = BedOptions().placed("load", [DIRECT, SHAPED])
    assert placed.cpus == {"client": "0", "server": "1", "router": "0"}
    assert BedOptions.from_json(json.loads(json.dumps(placed.to_json()))) == placed
    own = BedOptions(cpus={"server": "0"})
    assert own.placed("load", [DIRECT]) == own
    elsewhere = BedOptions(substrate="ssh", given={"inventory": "/nowhere.yml"})
    assert elsewhere.placed("load", [SHAPED]) == elsewhere
    assert BedOptions().placed("page_load", [SHAPED]) == BedOptions()
    monkeypatch.setattr(options, "processors_here", lambda: [3])
    assert BedOptions().placed("load", [DIRECT], told.append) == BedOptions()
    assert "there is one processor" in told[0].words


def test_machines_of_their_own_have_no_direct_link() -> None:
    elsewhere = BedOptions(substrate="ssh", given={"inventory": "/nowhere.yml"})
    elsewhere.require([SHAPED, Link.parse({})])
    with pytest.raises(InputError, match="no way between client and server past the router"):
        elsewhere.require([SHAPED, DIRECT])
    BedOptions().require([DIRECT])


def test_a_bed_without_that_cable_refuses_the_link_before_it_changes_anything() -> None:
    class Apart:
        traits = Traits()

    state = LinkState(cast(Substrate, Apart()))
    with pytest.raises(InputError, match="no way between client and server past the router") as error:
        state.set(Link.parse({"path": "direct"}))
    assert error.value.key == "path"
    state.require_whole()
