"""A journey: the pages that a trial loads one after the other in one browser session. docs/reference/journeys.md."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.arm.browsers.browser import Leg
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.site.site import Site, SitePage, page_named

BACK = "back"


@dataclass(frozen=True, slots=True)
class Step(Coded):
    """One navigation."""

    name: str  # within the journey
    page: str  # that is there after it
    back: bool  # by the browser's way back
    think_ms: int  # after the load before it

    @property
    def think(self) -> Duration:
        return Duration(self.think_ms * 1_000_000)


Journey = tuple[Step, ...]  # empty: one page load


def steps_from_json(options: object) -> Journey:
    """Return the journey that options of a trial have."""
    listed = options.get("journey", []) if isinstance(options, dict) else []
    return tuple(Step.from_json(each, "journey") for each in listed)


def journey_options(journey: Journey) -> dict[str, object]:
    """Return what a trial's options say of it."""
    return {"journey": [step.to_json() for step in journey]} if journey else {}


def time_limit_s(load_s: float, journey: Journey) -> float:
    """Return how long a trial may take whose page loads may take so long each."""
    return load_s * max(1, len(journey)) + sum(step.think.seconds for step in journey)


def pages_of(journey: Journey, site: Site) -> tuple[SitePage, ...]:
    """Return the page of each step. Raises InputError where the site does not have one."""
    try:
        return tuple(page_named(site.name, site.pages, step.page) for step in journey)
    except InputError as error:
        raise InputError(error.what, error.remedy, key="pages") from error


def legs_of(journey: Journey, site: Site, scheme: str | None) -> Sequence[Leg]:
    """Return what a browser is told. `scheme`: of all pages; None: as each was recorded."""
    pages = pages_of(journey, site)
    return [
        Leg(step.name, f"{scheme or site.scheme_of(page.url)}://{page.url}", step.back, step.think_ms / 1000)
        for step, page in zip(journey, pages, strict=True)
    ]
