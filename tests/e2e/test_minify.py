"""A minified page looks the same in the real browser, and its scripts run the same."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat

from lanelab.driver.site.minify import ALIASES, FILTERS
from tests.e2e.minified import PLAIN, RESIZED
from tests.kit.handles import LanelabCommand
from tests.kit.inside import call
from tests.kit.skipping import needs_program

from .runs import play, share_programs

pytestmark = needs_program("jpegtran")

SETS = {"core-2012": "core-2012", "page-2012": "page-2012", "core": "core"}
FEWER = {"core-2012": 6, "page-2012": 16, "core": 6}  # objects at most, of 16
MEAN_OFF = 3.0  # of 255: JPEG of quality 85 and lossy WebP, over the whole picture
# Those that change when scripts run or images load, or what a script sees of the page.
AFTERWARDS = ("defer_javascript", "lazyload_images", "inline_preview_images")
NOT_ALONE = {*AFTERWARDS, "prioritize_critical_css"}


def _loaded(tmp_path_factory: pytest.TempPathFactory, variants: dict[str, str], wait_s: float = 0) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("minified")
    found: dict[str, Any] = call("minified", "loads", folder, {}, variants=variants, wait_s=wait_s)
    return found


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _loaded(tmp_path_factory, SETS)


def _off(one: dict[str, Any], other: dict[str, Any], *, resized: bool = False) -> Image.Image:
    """Where the pictures differ; `resized`: but for the image whose pixels cannot be the same."""
    pictures = [Image.open(Path(each["picture"])).convert("RGB") for each in (one, other)]
    assert pictures[0].size == pictures[1].size
    off = ImageChops.difference(*pictures)
    if resized:
        off.paste((0, 0, 0), RESIZED)
    return off


@pytest.mark.long
def test_the_page_itself_is_whole(sets: dict[str, Any]) -> None:
    plain = sets[PLAIN]
    assert plain["failures"] == []
    assert set(plain["statuses"]) == {"200"}
    assert plain["ran"] == [
        *("first", "second 3", "inline function", "writer", "long", "finder true", "ready", "loaded"),
    ]
    assert any("written by a script" in each for each in plain["seen"])
    assert len([each for each in plain["seen"] if each.endswith("|true")]) == 5
    assert plain["console"] == ["loaded after 8"]


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_scripts_run_the_same(sets: dict[str, Any], name: str) -> None:
    for what in ("seen", "ran", "text", "console", "failures"):
        assert sets[name][what] == sets[PLAIN][what], what
    assert set(sets[name]["statuses"]) == {"200"}
    assert sets[name]["objects"] <= FEWER[name]


@pytest.mark.long
@pytest.mark.parametrize("name", ["core-2012", "page-2012"])
def test_it_looks_the_same_to_the_pixel(sets: dict[str, Any], name: str) -> None:
    assert _off(sets[PLAIN], sets[name], resized=name == "core-2012").getbbox() is None


@pytest.mark.long
def test_with_losses_it_looks_nearly_the_same(sets: dict[str, Any]) -> None:
    off = _off(sets[PLAIN], sets["core"])
    assert max(ImageStat.Stat(off).mean) <= MEAN_OFF


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    names = {**FILTERS, **ALIASES}
    variants = {name.replace("_", "-"): name for name in names if name not in NOT_ALONE}
    return _loaded(tmp_path_factory, {**variants, "sprites": "rewrite_css,sprite_images"})


@pytest.mark.long
def test_each_filter_alone_leaves_the_page_the_same(alone: dict[str, Any]) -> None:
    wrong = {}
    for name, found in alone.items():
        exact = not any(word in name for word in ("webp", "jpeg", "images", "png-to"))
        off = _off(alone[PLAIN], found, resized=True)
        looks = off.getbbox() is None if exact else max(ImageStat.Stat(off).mean) <= MEAN_OFF
        if not looks:
            wrong[name] = "picture"
        for what in ("seen", "ran", "console", "failures"):
            if found[what] != alone[PLAIN][what]:
                wrong[name] = what
    assert wrong == {}


@pytest.mark.long
def test_what_happens_afterwards_comes_to_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Scripts after the page, in their order; images when they are in sight, and after their previews."""
    found = _loaded(tmp_path_factory, {name.replace("_", "-"): name for name in AFTERWARDS}, 3)
    plain = found[PLAIN]
    for name in ("lazyload-images", "inline-preview-images"):
        assert _off(plain, found[name]).getbbox() is None, name
        assert found[name]["seen"] == plain["seen"]
        assert found[name]["console"] == plain["console"]
    deferred = found["defer-javascript"]
    assert deferred["seen"] == plain["seen"]
    assert [each for each in deferred["ran"] if "finder" not in each] == [
        each for each in plain["ran"] if "finder" not in each
    ]
    assert deferred["console"] == plain["console"]
    assert _off(plain, deferred).getbbox() is None


ARMS = """\
sites: cnn-mobile-2012
links: {rtt: 10ms}
defaults: {start: fresh-context}
arms:
  plain: {}
  core-2012: {minify: core-2012}
  page-2012: {minify: page-2012}
  afterwards: {minify: [core, lazyload_images, defer_javascript]}
trials: 1
retries: 0
"""
REQUESTS = {"plain": 11, "core-2012": 2, "page-2012": 11}


def test_arms_that_minify_load_what_is_left_of_the_site(lanelab: LanelabCommand, tmp_path: Path) -> None:
    share_programs(lanelab)
    played = play(lanelab, tmp_path, ARMS)
    for arm in (*REQUESTS, "afterwards"):
        assert played.statuses(arm) == ["ok"], (played.reasons(arm), played.done.stderr)
    assert {arm: len(played.requests(arm)) for arm in REQUESTS} == REQUESTS
    page, style = played.requests("core-2012")
    assert page["url"] == "http://m.cnn.test/index.html"
    assert ["content-encoding", "gzip"] in [[name.lower(), value] for name, value in page["response_headers"]]
    assert style["url"].endswith("/css/mobile.css")  # of another host: it stays as it is
