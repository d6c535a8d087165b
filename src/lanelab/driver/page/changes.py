"""News of a run that goes on, for pages that are open: between trials, when something was stored.

Nothing is rendered here: a page that hears of news asks for it. What is measured of a link is told as it happens, in a
line of text; while a trial is under way nothing is told.
"""

from collections.abc import AsyncIterator
from pathlib import Path

from lanelab.analysis.results.run_folder import changed_ns
from lanelab.driver.api.run_now import RunNow
from lanelab.driver.page.moments import Moments
from lanelab.driver.page.news import CHANGED, WATCHING, event

EVERY_S = 0.1

Seen = tuple[int, int, bool]


async def changes(folder: Path, moments: Moments) -> AsyncIterator[bytes]:
    """Yield what each look at the run has to tell, until it has no writer any more, or is gone."""
    last, line = _look(folder, moments), ""
    yield WATCHING
    while True:
        now, message = moments.now(folder), b""
        if now.line != line and not now.is_in_trial:
            line = now.line
            message = event("now", line)
        seen = _look(folder, moments, now) if moments.is_quiet else last
        if seen != last:
            last = seen
            message += CHANGED
        yield message
        if not last[2]:
            break


def _look(folder: Path, moments: Moments, now: RunNow | None = None) -> Seen:
    """Return when the run was last written to, how many steps it has made, and whether somebody may still write."""
    return changed_ns(folder), (now or moments.now(folder)).steps, moments.goes_on(folder)
