"""Vitals in real browsers, of a page whose numbers are known: sites-archive/moving-page/generate_moving_page.py."""

from pathlib import Path

import pytest

from tests.kit.handles import LanelabCommand

from .runs import play

RUN = """\
sites: moving-page
links: {rtt: 10ms}
defaults: {start: fresh-context}
arms: {one: {}}
trials: 1
"""
SHIFT = 1000 * 400 / (1366 * 768) * 100 / 1366


def test_what_was_built_into_a_page_is_measured(lanelab: LanelabCommand, tmp_path: Path) -> None:
    played = play(lanelab, tmp_path, RUN + "vitals: {after: 4s, click: '#more'}\n")
    (measures,) = played.measures("one")
    assert measures["cls"] == pytest.approx(SHIFT, rel=0.01)
    assert measures["long_task_count"] >= 1
    assert measures["long_task_ms"] >= 200
    assert measures["tbt_ms"] >= 150
    assert measures["inp_ms"] >= 120
    vitals = played.records("one")[-1]["recordings"]["vitals"]
    largest = vitals["paints"][-1]
    assert (largest["tag"], largest["size"]) == ("img", 640 * 360)
    assert largest["url"].endswith("/hero.png")
    assert [shift["moved"] for shift in vitals["shifts"]] == [["div#story"]]
    click = vitals["interaction"]
    assert (click["element"], click["matched"]) == ("button#more", 1)
    assert click["processing_ms"] >= 120
    assert vitals["absent"] == {}


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_what_is_no_selector_ends_the_run_before_its_first_trial(
    browser: str, lanelab: LanelabCommand, tmp_path: Path
) -> None:
    text = RUN.replace("start: fresh-context", f"browser: {browser}, start: fresh-context")
    played = play(lanelab, tmp_path, text + "vitals:\n  click: 'div[[['\n")
    assert played.done.returncode == 2
    assert ".yaml:7: vitals.click: 'div[[[' is no CSS selector" in played.done.stderr
    assert played.statuses("one") == []


def test_a_selector_that_matches_nothing_fails_the_trial(lanelab: LanelabCommand, tmp_path: Path) -> None:
    played = play(lanelab, tmp_path, RUN + "retries: 0\nvitals: {click: '#nothing'}\n")
    assert played.reasons("one") == {"interaction-failed"}
