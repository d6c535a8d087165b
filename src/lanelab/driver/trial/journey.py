"""A journey: the pages that a trial loads one after the other in one browser session, or what a user's own script does
in one. docs/reference/journeys.md."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.arm.browsers.browser import Leg, ScriptAsked
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.site.site import Site, SitePage, page_named

BACK = "back"


@dataclass(frozen=True, slots=True)
class Step(Coded):
    """One navigation."""

    name: str  # within the journey
    page: str  # that is there after it; "": a script leads there, and knows itself
    back: bool  # by the browser's way back
    think_ms: int  # after the load before it

    @property
    def scripted(self) -> bool:
        return not self.page

    @property
    def think(self) -> Duration:
        return Duration(self.think_ms * 1_000_000)


Journey = tuple[Step, ...]  # empty: one page load


@dataclass(frozen=True, slots=True)
class Script(Coded):
    """A user's own program that makes a journey. Its steps are those that its text names."""

    name: str  # its path below the experiment's folder
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def wish(self, journey: Journey, site: Site, scheme: str | None) -> ScriptAsked:
        """Return what a browser is told, as `legs_of` does."""

        def address(url: str) -> str:
            return f"{scheme or site.scheme_of(url)}://{url}"

        pages = {page.name: address(page.url) for page in site.pages}
        entry = address(site.entry_host + site.entry_path)
        return ScriptAsked(self.name, self.text, entry, pages, tuple(step.name for step in journey))


def script_from_json(options: object) -> Script | None:
    """Return the script that options of a trial have."""
    script = options.get("script") if isinstance(options, dict) else None
    return Script.from_json(script, "script") if isinstance(script, dict) else None


def steps_from_json(options: object) -> Journey:
    """Return the journey that options of a trial have."""
    listed = options.get("journey", []) if isinstance(options, dict) else []
    return tuple(Step.from_json(each, "journey") for each in listed)


def journey_options(journey: Journey, script: Script | None = None) -> dict[str, object]:
    """Return what a trial's options say of it."""
    steps = {"journey": [step.to_json() for step in journey]} if journey else {}
    return {**steps, "script": script.to_json()} if script else {**steps}


def time_limit_s(load_s: float, journey: Journey) -> float:
    """Return how long a trial may take whose page loads may take so long each. A script may take so long between its
    steps, too."""
    between = len(journey) + 1 if any(step.scripted for step in journey) else 0
    return load_s * max(1, len(journey) + between) + sum(step.think.seconds for step in journey)


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
