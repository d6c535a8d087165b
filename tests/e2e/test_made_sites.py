"""A generated site and its skeleton, loaded by the real browser: each object is found, in each way of asking for it."""

import json
from pathlib import Path

import pytest

from lanelab.driver.collect.skeleton import add_skeleton
from lanelab.driver.site.generate.new import add_generated
from lanelab.driver.site.load import load_site
from tests.kit.epload import GRAPH, written
from tests.kit.handles import LanelabCommand
from tests.kit.recipes import EVERYTHING

from .runs import Played, play, share_programs

RUN = """\
sites: [everything, skeleton]
links: {rtt: 10ms}
arms:
  h1: {}
  h2: {protocol: h2, tls: 1.3}
trials: 1
"""


WAITS = """\
title: Scripts that wait
host: waits.test
page: {size: 4000}
objects:
  - {type: script, name: a, size: 4000}
  - {type: script, name: b, size: 4000, from: a, wait: 400ms}
  - {type: image, name: c, size: 900, from: b, wait: 300ms}
  - {type: image, name: d, size: 900, from: a, wait: 100ms}
"""


def test_pages_wait_as_long_as_they_are_told(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    (tmp_path / "recipe.yaml").write_text(WAITS)
    add_generated("waits", tmp_path / "recipe.yaml", archive=archive)
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    text = RUN.replace("[everything, skeleton]", "waits")
    done = play(lanelab, tmp_path, text, env={"LANELAB_SITES": str(archive)})
    for arm in ("h1", "h2"):
        assert done.statuses(arm) == ["ok"], done.reasons(arm)
        (measures,) = done.measures(arm)
        assert 700 < measures["plt_ms"] < 1500
        query = "SELECT name, data FROM requests JOIN arms_of_trials USING (trial)"
        asked = [json.loads(data) for name, data in done.rows(query) if name == arm]
        began = {each["url"].rpartition("/")[2].partition(".")[0]: each for each in asked}
        assert len(asked) == 5
        assert 400 <= began["b"]["started_ms"] - began["a"]["ended_ms"] < 700
        assert 100 <= began["d"]["started_ms"] - began["a"]["ended_ms"] < 350
        assert 300 <= began["c"]["started_ms"] - began["b"]["ended_ms"] < 600


def test_a_dependency_graph_is_played(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    folder = written(tmp_path / "three")
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    env = {"LANELAB_SITES": str(archive)}
    done = lanelab.run("site", "import", str(folder), "--name", "graph", env=env)
    assert done.returncode == 0, done.stderr
    run = play(lanelab, tmp_path, RUN.replace("[everything, skeleton]", "graph"), env=env)
    for arm in ("h1", "h2"):
        assert run.statuses(arm) == ["ok"], run.reasons(arm)
        (measures,) = run.measures(arm)
        assert 500 < measures["plt_ms"] < 1200
        query = "SELECT name, data FROM requests JOIN arms_of_trials USING (trial)"
        asked = {each["url"].rpartition("/")[2]: each for name, text in run.rows(query) if name == arm
                 for each in [json.loads(text)]}  # fmt: skip
        assert set(asked) == {"page.html", "a.js", "c.png"}
        assert 300 <= asked["a.js"]["started_ms"] < 600
        assert 500 <= asked["c.png"]["started_ms"] < 1000


def test_many_short_computations_of_a_graph_take_no_longer(tmp_path: Path) -> None:
    """60 of 1.5 ms, each after the one before: a browser makes 4 ms of a short wait that another one sets."""
    comps = [{"id": f"r1_c{number}", "type": "evalhtml", "time": 1.5} for number in range(60)]
    page, picture = GRAPH["objs"][1], GRAPH["objs"][2]
    graph = {
        "objs": [page | {"comps": comps}, picture],
        "deps": [{"id": "dep1", "a1": "r1_c59", "a2": "r3_d", "time": -1}],
        "start_activity": "r1_d",
    }
    folder = written(tmp_path / "short", graph, page=8000)
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    env = {"LANELAB_SITES": str(tmp_path / "archive")}
    done = lanelab.run("site", "import", str(folder), "--name", "graph", env=env)
    assert done.returncode == 0, done.stderr
    run = play(lanelab, tmp_path, RUN.replace("[everything, skeleton]", "graph"), env=env)
    assert run.statuses("h1") == ["ok"], run.reasons("h1")
    query = "SELECT name, data FROM requests JOIN arms_of_trials USING (trial)"
    asked = {each["url"].rpartition("/")[2]: each for name, text in run.rows(query) if name == "h1"
             for each in [json.loads(text)]}  # fmt: skip
    assert 60 <= asked["c.png"]["started_ms"] - asked["page.html"]["ended_ms"] < 170


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("made")
    archive = folder / "archive"
    (folder / "recipe.yaml").write_text(EVERYTHING)
    add_generated("everything", folder / "recipe.yaml", archive=archive)
    add_skeleton(load_site("everything", archive), "skeleton", archive)
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, RUN, env={"LANELAB_SITES": str(archive)})


@pytest.mark.parametrize("arm", ["h1", "h2"])
def test_every_object_is_asked_for(played: Played, arm: str) -> None:
    assert played.statuses(arm) == ["ok", "ok"], played.reasons(arm)
