"""What a run that goes on compares, to know whether its sites are still the same."""

from dataclasses import replace

import pytest

from lanelab.driver.run.served_sites import site_digest
from lanelab.driver.site.site import Site
from tests.kit.records import OBJECTS, SITE


@pytest.mark.parametrize(
    "other",
    [
        replace(SITE, date="2012-08-01"),
        replace(SITE, user_agent="Another/1.0"),
        replace(SITE, viewport=(320, 480)),
        replace(SITE, distances=(("a.test", "20ms"),)),
        replace(SITE, entry_scheme="https"),
        replace(SITE, unanswered=("dead.test/ad.js",)),
        replace(SITE, other_hosts=("c.test",)),
        replace(SITE, objects=(*OBJECTS[:2], replace(OBJECTS[2], late=True))),
        replace(SITE, objects=(*OBJECTS[:2], replace(OBJECTS[2], status=404))),
    ],
)
def test_whatever_changes_a_load_or_its_verdict_changes_the_digest(other: Site) -> None:
    assert site_digest(other) != site_digest(SITE)


def test_a_title_changes_no_load() -> None:
    assert site_digest(replace(SITE, title="Another title", variant="another")) == site_digest(SITE)
