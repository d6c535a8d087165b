"""The key `pages`: the journey that each trial of an experiment makes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.settings.source import Written
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.keys import STEP
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.site.manifest import PAGE_NAME
from lanelab.driver.site.site import PAGE_MARK
from lanelab.driver.trial.journey import BACK, Journey, Step
from lanelab.driver.trial.recorders.trace import TraceRecorder
from lanelab.driver.trial.recorders.vitals import Vitals, VitalsOptions

LEAST_THINK, LONGEST_THINK = Duration.parse("1s"), Duration.parse("3600s")
USUAL_THINK = Duration.parse("5s")
MOST_STEPS = 100
NS_PER_MS = 1_000_000
# Settings of an arm that are about one page load, with the values that ask for nothing.
OF_ONE_LOAD: dict[str, object] = {
    "browser": "chromium",
    "via": "browser",
    "minify": "off",
    "preload": "off",
    "fetchpriority": "off",
}
OF_ONE_LOAD |= {"early_hints": "off", "push": "off", "early_data": False, "cpu_slowdown": 1}
SPARE_MS = 500  # between the end of a page's vitals and the next step: so much takes it to read them


def read_journey(entries: Mapping[str, Written], think: Duration, workload: str) -> Journey:
    """Return the journey; empty where the file has none. Raises InputError for what cannot be one. Whether a site has
    the pages is known when its manifest is read."""
    if "pages" not in entries:
        if "think" in entries:
            raise entries["think"].error("it is the time between pages, and there is no pages", "Write pages, too")
        return ()
    written = entries["pages"]
    if workload != PAGE_LOAD:
        raise written.error(f"it means nothing with workload: {workload}", "Leave it out")
    listed = written.elements()
    if not 1 < len(listed) <= MOST_STEPS:
        what = f"a journey has 2 to {MOST_STEPS} steps, and this has {len(listed)}"
        raise written.error(what, "Write several pages, or one as sites: [SITE@PAGE]")
    _require_think(entries.get("think", written), think)
    return _named([_step(each, number, think) for number, each in enumerate(listed)], listed)


def _step(written: Written, number: int, think: Duration) -> Step:
    """Return a step without its own name; one that goes back has no page yet."""
    page, back = "", False
    if written.is_mapping:
        keys = STEP.entries(written)
        plain = STEP.values_of(keys)
        page, back = plain["page"] or "", bool(plain["back"])
        if bool(page) == back:
            raise written.error("a step has either page or back", "Write {page: NAME} or {back: true}")
        if "think" in keys:
            think = plain["think"]
            _require_think(keys["think"], think)
            if not number:
                raise keys["think"].error("nothing was loaded before the first step", "Leave its think out")
    else:
        page = written.text().strip()
    if page and not PAGE_NAME.fullmatch(page):
        hint = "Write {back: true} to go back" if page == BACK else "Write a name of the site's pages, like article"
        raise written.error(f"{page[:40]!r} is no page's name", hint)
    return Step("", page, back, think.ns // NS_PER_MS)


def _named(steps: Sequence[Step], listed: Sequence[Written]) -> Journey:
    """Give each step its page and a name: that of its page, or `back`, with a number from the second one on."""
    history: list[str] = []
    names: Counter[str] = Counter()
    journey = []
    for step, written in zip(steps, listed, strict=True):
        if step.back:
            if len(history) < 2:
                raise written.error("there is no page to go back to", "Go back after two pages or more")
            history.pop()
        else:
            if history and history[-1] == step.page:
                raise written.error(f"the page {step.page} is there already", "Load another one, or go back")
            history.append(step.page)
        base = BACK if step.back else step.page
        names[base] += 1
        name = base if names[base] == 1 else f"{base}-{names[base]}"
        journey.append(Step(name, history[-1], step.back, step.think_ms))
    if len({step.name for step in journey}) < len(journey):
        raise listed[0].error("two steps would have one name", "Call no page `back`, nor PAGE-NUMBER")
    return tuple(journey)


def _require_think(written: Written, think: Duration) -> None:
    if not LEAST_THINK <= think <= LONGEST_THINK:
        what = f"{think} is no time to think: meanwhile the browser is asked what it knows of the page"
        raise written.error(what, f"Write {LEAST_THINK} to {LONGEST_THINK}")


def refuse_what_is_of_one_load(
    entries: Mapping[str, Written],
    arms: Sequence[Arm],
    sites: Sequence[str],
    recorders: Mapping[str, Coded],
    journey: Journey,
) -> None:
    """Raises InputError for settings that a journey has no meaning for, or that nobody has judged with one."""
    for arm in arms:
        settings = arm.settings()
        for name, plain in OF_ONE_LOAD.items():
            value = getattr(arm, name)
            if value != plain:
                what = f"{arm.name}: a journey cannot have {name}: {settings.get(name, value)}"
                raise entries["arms"].error(what, f"Leave {name} out, or write one page as sites: [SITE@PAGE]")
        if arm.start == "warm":
            raise entries["arms"].error(f"{arm.name}: a journey begins with an empty cache", "Leave start out")
    if named := next((site for site in sites if PAGE_MARK in site), None):
        raise entries["sites"].error(f"{named} is one page, and pages says which are loaded", "Name the site alone")
    if TraceRecorder.name in recorders:
        raise entries[TraceRecorder.name].error("it is recorded of one page load", "Leave trace out, or pages")
    vitals = recorders.get(Vitals.name)
    if isinstance(vitals, VitalsOptions):
        _refuse_vitals(entries[Vitals.name], vitals, journey)


def _refuse_vitals(written: Written, vitals: VitalsOptions, journey: Journey) -> None:
    keys = written.entries() if written.is_mapping else {}
    if vitals.click is not None:
        what = "it clicks in one page, and a journey has several steps"
        raise keys["click"].error(what, "Leave click out: a script clicks where it likes")
    if any(step.scripted for step in journey):
        return  # which goes on when its page has been watched
    shortest_ms = min(step.think_ms for step in journey[1:])
    if vitals.after_ms > shortest_ms - SPARE_MS:
        what = f"the next step begins {shortest_ms} ms after a load, and until then the browser is asked as well"
        raise keys.get("after", written).error(what, f"Write {shortest_ms - SPARE_MS}ms at most, or a longer think")
