"""Second visits after a time, against the site that they visit: where nothing of it expires within that time, the arm
would be the same as without it, and is refused before any bed is made. Pure."""

import math
from collections.abc import Mapping, Sequence

from lanelab.driver.arm.content import MOST_AWAY_S
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.site.prepare.ages import Kept, expire_by, kept_answers
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.requests import few

KEY = "revisit_after"
SPANS_S = (("d", 86_400), ("h", 3600), ("min", 60))


def has_second_visits(experiment: Experiment) -> bool:
    return any(cell.arm.revisit_s for cell in experiment.cells)


def require_change(cell: Cell, site: Site) -> None:
    """Raises InputError where nothing of the site is fresh on a visit at once and has expired on the arm's. `site`: as
    it is archived, or as it was prepared for this arm."""
    if not cell.arm.revisit_s:
        return
    kept = kept_answers(site, cell.arm.browser, cell.arm.revisit_s if site.variant else 0)
    if expire_by(kept, cell.arm.revisit_s):
        return
    later = _soonest_first(kept)
    what = f"nothing of {cell.site} expires within {cell.arm.revisit_after}, so it changes nothing: {_of(kept)}"
    remedy = "Leave it out, or take a site whose answers say for how long they are fresh"
    if later and (later[0].seconds or 0) <= MOST_AWAY_S:
        remedy = f"Write {KEY}: {_within(later[0])} or more, or leave it out"
    raise InputError(what, remedy, key=KEY)


def second_visits_told(experiment: Experiment, sites: Mapping[str, Site]) -> list[str]:
    """Return a sentence for each arm on each site: how much expires, and how much of that by a guess. What `minify`
    makes of a site says it anew, and is not told of. `sites`: as they are archived."""
    cells = {(cell.arm.name, cell.site): cell for cell in experiment.cells if cell.arm.revisit_s}
    return [_sentence(cell, sites[cell.site]) for cell in cells.values() if cell.arm.minify == "off"]


def _sentence(cell: Cell, site: Site) -> str:
    kept = kept_answers(site, cell.arm.browser)
    gone = expire_by(kept, cell.arm.revisit_s)
    words = f"{cell.arm.name}: {len(gone)} of {counted(len(kept), 'object')} of {cell.site} expire within"
    guessed = [each.url for each in gone if each.guessed]
    by_guess = "none of them by a guess"
    if guessed:
        by_guess = f"{len(guessed)} of them by a browser's guess from when they were last changed: {few(guessed)}"
    return f"{words} {cell.arm.revisit_after}, {by_guess}"


def _of(kept: Sequence[Kept]) -> str:
    """Return what there is of each kind, and what expires first."""
    at_once = sum(each.seconds is not None and each.seconds <= 0 for each in kept)
    silent = sum(each.seconds is None for each in kept)
    later = _soonest_first(kept)
    words = [f"of {counted(len(kept), 'object')} {counted(at_once, 'is', 'are')} asked for on each visit"]
    if silent:
        words.append(f"of {silent} nothing says for how long they are fresh")
    if later:
        shown = few([f"{each.url} within {_within(each)}" for each in later])
        words.append(f"{counted(len(later), 'expires', 'expire')} later ({shown})")
    return ", ".join(words)


def _soonest_first(kept: Sequence[Kept]) -> list[Kept]:
    return sorted((each for each in kept if each.seconds and each.seconds > 0), key=lambda each: each.seconds or 0)


def _within(each: Kept) -> str:
    """Return within which time it expires, as an arm would write it."""
    seconds = each.seconds or 0
    unit, length_s = next((span for span in SPANS_S if seconds >= span[1]), ("s", 1))
    return f"{math.ceil(seconds / length_s)}{unit}"
