"""Which scripts get a clock and chance of ours, and what they are told."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.browser import Repeatable
from lanelab.driver.arm.browsers.repeatable import script
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.surroundings import repeatable_of

SITE = Site("page", "A page", "page.test", "/", (), Path("/content"), date="2020-09-13T12:26:40Z")


def test_the_script_is_one_expression_with_the_numbers_at_its_end() -> None:
    text = script(Repeatable(7, 1_600_000_000_000))
    assert text.startswith("((seed, now_ms) => {")
    assert text.endswith("})(7, 1600000000000);")
    assert text.count("{") == text.count("}")


def test_only_a_recorded_site_gets_them() -> None:
    arm = Arm.parse("one", {})
    found = repeatable_of(arm, SITE)
    assert found is not None
    assert found.now_ms == 1_600_000_000_000
    assert found == repeatable_of(Arm.parse("two", {"protocol": "h2", "tls": "1.3"}), SITE)
    assert repeatable_of(arm, replace(SITE, date=None)) is None
    assert repeatable_of(Arm.parse("one", {"scripts": "as-is"}), SITE) is None


def test_each_site_has_a_seed_of_its_own() -> None:
    assert SITE.scripts_seed == replace(SITE, title="Another title").scripts_seed
    assert SITE.scripts_seed != replace(SITE, name="other").scripts_seed


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2020-09-13", 1_599_955_200_000),
        ("2020-09-13T12:26:40Z", 1_600_000_000_000),
        ("2020-09-13T12:26:40.5Z", 1_600_000_000_500),
        ("2020-09-13T12:26:40.123456Z", 1_600_000_000_123),
        (None, None),
    ],
)
def test_the_instant_of_a_recording(date: str | None, expected: int | None) -> None:
    assert replace(SITE, date=date).recorded_ms == expected
