"""Scripts that see the same clock and the same chance in each load, wherever they run."""

import hashlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.site import SiteObject
from tests.e2e.scripts import PLACES
from tests.kit.handles import LanelabCommand
from tests.kit.inside import call

from .runs import play, share_programs

RECORDED_MS = 1_600_000_000_000
LOADS_WITHIN_MS = 300_000
STARTS = ["fresh-process", "fresh-context"]


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("scripts")
    found: dict[str, Any] = call("scripts", "loads", folder, {}, now_ms=RECORDED_MS, starts=STARTS)
    return found


@pytest.mark.parametrize("start", STARTS)
def test_each_place_gets_the_same_numbers_again(loads: dict[str, Any], start: str) -> None:
    first, second = loads[f"repeatable {start}"]
    assert (first["failures"], second["failures"]) == ([], [])
    assert sorted(first["told"]) == sorted(PLACES)
    for place in PLACES:
        for key in ("random", "bytes", "words", "uuid", "written", "kinds"):
            assert first["told"][place][key] == second["told"][place][key], (place, key)
        for told in (first["told"][place], second["told"][place]):
            assert all(0 <= date - RECORDED_MS < LOADS_WITHIN_MS for date in told["dates"][:2]), place
            assert -1000 < told["dates"][2] - RECORDED_MS < LOADS_WITHIN_MS, place  # a date in words has whole seconds
            assert all(told["kinds"]), place


def test_places_do_not_make_the_same_names(loads: dict[str, Any]) -> None:
    told = loads["repeatable fresh-process"][0]["told"]
    assert len({told[place]["uuid"] for place in PLACES}) == len(PLACES)
    assert len({told[place]["random"][0] for place in PLACES}) == len(PLACES)


def test_both_starts_get_the_same_numbers(loads: dict[str, Any]) -> None:
    process, context = (loads[f"repeatable {start}"][0]["told"] for start in STARTS)
    assert {place: process[place]["uuid"] for place in PLACES} == {place: context[place]["uuid"] for place in PLACES}


@pytest.mark.parametrize("start", STARTS)
def test_as_is_nothing_is_the_same(loads: dict[str, Any], start: str) -> None:
    first, second = loads[f"as-is {start}"]
    assert (first["failures"], second["failures"]) == ([], [])
    for place in PLACES:
        for key in ("random", "words", "uuid"):
            assert first["told"][place][key] != second["told"][place][key], (place, key)
        assert all(date > RECORDED_MS + LOADS_WITHIN_MS for date in first["told"][place]["dates"])
        assert all(first["told"][place]["kinds"])


PAGE = '<!doctype html><link rel="icon" href="data:,"><script>new Image().src = "/p.png?" + Math.random()</script>'
RUN = """\
sites: chance
links: {}
defaults: {start: fresh-context}
arms: {one: {}, over h2: {protocol: h2, tls: 1.3}, as-is: {scripts: as-is}}
trials: 2
retries: 0
capture: off
tolerances: {extra: 1, inexact: 1}
"""


@pytest.mark.long
def test_the_trials_of_a_recorded_site_ask_for_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "sites" / "chance"
    (folder / "content" / "chance.test").mkdir(parents=True)
    (folder / "content" / "chance.test" / "index.html").write_text(PAGE)
    found = {"host": "chance.test", "path": "/", "mime": "text/html", "size": len(PAGE)}
    listed = SiteObject(**found, sha256=hashlib.sha256(PAGE.encode()).hexdigest())  # type: ignore[arg-type]
    manifest = Manifest("Chance", "a test", "chance.test/", (listed,), date="2020-09-13T12:26:40Z")
    (folder / "site.yaml").write_text(manifest.to_yaml())
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    played = play(lanelab, tmp_path, RUN, env={"LANELAB_SITES": str(folder.parent)})
    assert played.done.returncode == 0, played.done.stderr
    asked = {
        arm: [urlsplit(each["url"]).query for each in played.requests(arm) if "/p.png" in each["url"]]
        for arm in ("one", "over h2", "as-is")
    }
    assert [len(queries) for queries in asked.values()] == [2, 2, 2]
    assert len({*asked["one"], *asked["over h2"]}) == 1
    assert len(set(asked["as-is"])) == 2
