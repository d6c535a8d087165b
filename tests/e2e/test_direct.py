"""Loads over a link without a router: cells that share it share its self-tests, and both ends keep to their places."""

import json
import os
from pathlib import Path

import pytest

from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.programs.find_program import find
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play

pytestmark = [needs_namespaces, pytest.mark.skipif(find("wrk") is None, reason="wrk is not installed")]

EXPERIMENT = """\
workload: {kind: load, generator: wrk, connections: [1, 5], duration: 1s}
sites: dummy/index.html
links: [direct, {}]
arms: {plain: {}}
trials: 1
seed: 4
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("direct")
    return play(LanelabCommand(folder / "build"), folder, EXPERIMENT)


def test_loads_over_it_are_made_and_its_self_test_is_told_once(played: Played) -> None:
    assert played.reasons("plain") <= {"generator-limited"}, played.done.stderr  # as a busy machine has it
    assert len({cell for (cell,) in played.rows("SELECT cell FROM trials")}) == 4
    tests = played.rows("SELECT links.settings, moment FROM self_tests JOIN links USING (link)")
    made = sorted((json.loads(settings)["path"], moment) for settings, moment in tests)
    assert made == [("direct", "before"), ("router", "before")]
    text = page(read_run(played.folder))
    assert "throughput down" in text
    assert "sent to the router" in text


def test_both_ends_have_processors_of_their_own(played: Played) -> None:
    places = [evidence["placement"] for evidence in played.evidence("plain")]
    ((text,),) = played.rows("SELECT value FROM meta WHERE key = 'bed'")
    assert all(place == json.loads(text)["pinned"] for place in places)
    if len(os.sched_getaffinity(0)) < 2:
        assert places[0] == {}
        return
    client, server = (set(places[0][node].split(",")) for node in ("client", "server"))
    assert client
    assert server
    assert not client & server


def test_a_page_load_over_it_is_refused_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "pages.yaml"
    file.write_text("sites: dummy\nlinks: direct\narms: {plain: {}}\n")
    for words in (("plan", str(file)), ("run", str(file), "--out", str(tmp_path / "run"))):
        done = LanelabCommand(tmp_path / "build").run(*words)
        assert done.returncode == 2
        assert ":2: links: page loads need a router" in done.stderr
    assert not (tmp_path / "run").exists()
