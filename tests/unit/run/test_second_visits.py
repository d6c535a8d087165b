"""What of a site expires until a second visit: told by a plan, and refused where it is nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.api.plans import plan
from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.link import Link
from lanelab.driver.run import start
from lanelab.driver.run.second_visits import require_change
from lanelab.driver.site.prepare.prepare import prepare
from lanelab.driver.site.prepare.variant import Variant
from lanelab.driver.site.site import Headers, Site
from tests.kit.records import OBJECTS, SITE

EXPERIMENT = """\
sites: dummy
links: {rate: 10mbit, rtt: 20ms}
arms: {again: {start: warm, revisit_after: AFTER}}
trials: 5
"""
DAY, MONTH = (("Cache-Control", "max-age=86400"),), (("Cache-Control", "max-age=2592000"),)
ALWAYS, SILENT = (("Cache-Control", "no-store"),), (("Content-Type", "image/png"),)


def site(*headers: Headers) -> Site:
    objects = zip(OBJECTS, headers, strict=True)
    return replace(SITE, objects=tuple(replace(each, headers=one) for each, one in objects))


def cell(after: str, **settings: object) -> Cell:
    arm = Arm.parse("again", {"start": "warm", "revisit_after": after, **settings})
    return Cell("tiny", LinkCase("link", Link.parse({"rtt": "20ms"})), arm)


@pytest.mark.parametrize("after", ["1d", "30d", "300d"])
def test_a_visit_by_which_something_expires_is_one(after: str) -> None:
    require_change(cell(after), site(DAY, MONTH, ALWAYS))


def test_without_a_time_between_nothing_has_to_expire() -> None:
    require_change(cell("0s"), site(ALWAYS, ALWAYS, SILENT))


def test_one_by_which_nothing_expires_is_refused_with_what_expires_when() -> None:
    with pytest.raises(InputError, match=r"^revisit_after: nothing of tiny expires within 23h") as no:
        require_change(cell("23h"), site(DAY, MONTH, ALWAYS))
    assert "of 3 objects 1 is asked for on each visit" in no.value.what
    assert "2 expire later (a.test/index.html within 1d, a.test/style.css?v=1 within 30d)" in no.value.what
    assert no.value.remedy == "Write revisit_after: 1d or more, or leave it out"
    require_change(cell("1d"), site(DAY, MONTH, ALWAYS))


def test_a_site_of_which_nothing_ever_expires_is_refused() -> None:
    with pytest.raises(InputError, match=r"of 2 nothing says for how long they are fresh") as no:
        require_change(cell("30d"), site(ALWAYS, SILENT, SILENT))
    assert "take a site whose answers say" in no.value.remedy


def test_what_is_refused_before_a_site_is_prepared_is_so_afterwards() -> None:
    for after, is_refused in (("23h", True), ("1d", False)):
        asked, archived = cell(after), site(DAY, MONTH, ALWAYS)
        for each in (archived, prepare(archived, Variant(age_s=asked.arm.revisit_s, aged_for=asked.arm.browser))):
            if is_refused:
                with pytest.raises(InputError):
                    require_change(asked, each)
            else:
                require_change(asked, each)


def test_what_was_an_hour_old_when_it_was_recorded_expires_an_hour_sooner() -> None:
    archived = site((*DAY, ("Age", "3600")), MONTH, ALWAYS)
    enough, too_soon = cell("23h"), cell("22h")
    for asked in (enough, too_soon):
        for each in (archived, prepare(archived, Variant(age_s=asked.arm.revisit_s, aged_for=asked.arm.browser))):
            if asked is enough:
                require_change(asked, each)
            else:
                with pytest.raises(InputError, match=r"a\.test/index\.html within 23h"):
                    require_change(asked, each)


def test_a_plan_refuses_it_at_the_arms_line(tmp_path: Path) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(EXPERIMENT.replace("AFTER", "1d"))
    with pytest.raises(InputError, match=r"nothing of dummy expires within 1d") as no:
        plan(file)
    assert f"{file}:3" in str(no.value)
    assert "arms.again.revisit_after" in str(no.value)


def test_a_run_refuses_it_before_it_has_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(EXPERIMENT.replace("AFTER", "40d"))
    experiment = plan(file).experiment
    (one,) = experiment.cells
    too_soon = replace(one, arm=replace(one.arm, revisit_after="1d"))
    with pytest.raises(InputError, match=r"arms\.again\.revisit_after"):
        start.begin(replace(experiment, cells=(too_soon,)), "0.1.0", tmp_path / "run", 1, {})
    assert not (tmp_path / "run").exists()


def test_a_plan_says_how_much_expires_and_what_of_it_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "years.yaml"
    file.write_text(EXPERIMENT.replace("AFTER", "300d"))
    told = [each for each in plan(file).warnings if each.startswith("again: ")]
    assert len(told) == 1
    assert told[0].startswith("again: 24 of 24 objects of dummy expire within 300d, 24 of them by a browser's guess")
    assert "dummy.test/index.html" in told[0]
