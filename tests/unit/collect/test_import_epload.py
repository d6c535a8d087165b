"""Dependency graphs of Epload's as pages: what waits for what, and what is refused."""

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.importer import Imported
from lanelab.driver.collect.importers.registry import import_from, importer_of
from tests.kit.epload import GRAPH, written


def imported(folder: Path) -> Imported:
    return import_from(folder, "folder.test")[1]


def activities(page: bytes) -> Any:
    (text,) = re.findall(r"\}\((\[\[.*\]\])\)\);", page.decode())
    return json.loads(text)


def test_a_graph_becomes_a_page_that_does_the_same(tmp_path: Path) -> None:
    folder = written(tmp_path / "three")
    assert importer_of(folder).name == "epload"
    found = imported(folder)
    assert (found.entry, found.title, found.of_one_load, found.doubtful) == (
        "http://www.test/page.html",
        "three",
        True,
        (),
    )
    page, script, picture = found.exchanges
    assert [each.url for each in found.exchanges] == [
        "http://www.test/page.html", "http://js.test/a.js", "http://www.test/c.png",
    ]  # fmt: skip
    assert [len(each.body) for each in found.exchanges] == [5000, 80, 100]
    assert not any(each.late for each in found.exchanges)
    assert dict(script.headers)["Access-Control-Allow-Origin"] == "*"
    assert dict(picture.headers)["Content-Type"] == "image/png"
    assert activities(page.body) == [
        ["", 0, True, []],
        [None, 500, False, [[0, -1]]],
        [None, 7, False, [[1, -1], [4, -1]]],
        ["//js.test/a.js", 0, False, [[1, 300]]],
        [None, 50.5, False, [[3, -1]]],
        ["//www.test/c.png", 0, False, [[2, 0]]],
    ]


def test_a_page_smaller_than_its_script_is_named(tmp_path: Path) -> None:
    found = imported(written(tmp_path / "small", page=200))
    (words,) = found.doubtful
    assert re.fullmatch(r"the page has 2,\d{3} bytes instead of 200, which its script takes", words)


def test_objects_with_one_address_are_named(tmp_path: Path) -> None:
    """Epload asks for each of them when it is due; a browser has the second wait for the first."""
    graph: Any = deepcopy(GRAPH)
    again = {"id": "r4", "download": {"id": "r4_d", "type": "download"}}
    graph["objs"].append(graph["objs"][2] | again)
    graph["deps"].append({"id": "dep4", "a1": "r1_c2", "a2": "r4_d", "time": 0})
    assert imported(written(tmp_path / "twice", graph)).doubtful == (
        "http://www.test/c.png is 2 objects of the graph, which a browser fetches one after the other",
    )


def test_other_folders_are_none(tmp_path: Path) -> None:
    folder = written(tmp_path / "other", {"objs": []})
    assert importer_of(folder).name == "folder"
    (folder / "graph.json").write_text("[" * 5000)
    assert importer_of(folder).name == "folder"


def changed(*keys: Any, value: object) -> object:
    graph = deepcopy(GRAPH)
    place: Any = graph
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return graph


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (changed("start_activity", value="r9_d"), "start_activity 'r9_d' is the download of no object"),
        (changed("deps", 0, "a1", value="r9"), "deps: there is no activity 'r9'"),
        (changed("deps", 0, "time", value=-3), "-3 is no time in milliseconds"),
        (changed("objs", 0, "comps", 0, "time", value="5"), "'5' is no time in milliseconds"),
        (changed("objs", 0, "when_comp_start", value=2), "when_comp_start is 2, and neither 1 nor -1"),
        (changed("objs", 2, "download", "id", value="r2_d"), "two activities have one id"),
        (changed("deps", 0, "a1", value="r1_c2"), "r1_c2, r2_d, r2_c1, r3_d would never begin"),
        (changed("deps", 0, "a2", value="r1_d"), "r1_d begins the page, and waits for something"),
        (changed("deps", value=[]), "r2_d, r2_c1, r3_d would never begin"),
        (changed("objs", 0, "path", value="/b.js"), "the object js.test/b.js is not below"),
        (changed("objs", 0, "path", value="/../a.js"), "'/../a.js' is no path of an address"),
        (changed("objs", 0, "host", value="10.0.0.1"), "'10.0.0.1' cannot be a host"),
        (changed("objs", 0, "comps", value=None), "it is no dependency graph of Epload"),
        (changed("objs", value=[7]), "it is no dependency graph of Epload"),
    ],
)
def test_what_cannot_be_played_is_refused(tmp_path: Path, graph: object, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        imported(written(tmp_path / "wrong", graph))
