"""News of a run that goes on, for pages that are open: between trials, when something was stored.

Nothing is rendered here: a page that hears of news asks for it. What is measured of a link is told as it happens, in a
line of text; while a trial is under way nothing is told.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from lanelab.analysis.results.run_folder import changed_ns
from lanelab.driver.api.run_now import RunNow
from lanelab.driver.page.moments import Moments

EVERY_S = 0.1
ALIVE_EVERY_S = 15.0  # something is written, so that a reader that is gone is noticed
NEWS = b"event: changed\ndata: run\n\n"

Seen = tuple[int, int, bool]


async def changes(folder: Path, moments: Moments, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Yield a server-sent event for each change of the run, until it has no writer any more, is gone, or the server
    ends."""
    last, line, silent_s = _look(folder, moments), "", 0.0
    yield b": watching\n\n"
    while not is_ending():
        await asyncio.sleep(EVERY_S)
        silent_s += EVERY_S
        now = moments.now(folder)
        if now.line != line and not now.is_in_trial:
            line, silent_s = now.line, 0.0
            yield f"event: now\ndata: {' '.join(line.split())}\n\n".encode()
        seen = _look(folder, moments, now) if moments.is_quiet else last
        if seen != last:
            last, silent_s = seen, 0.0
            yield NEWS
        elif silent_s >= ALIVE_EVERY_S:
            silent_s = 0.0
            yield b": still here\n\n"
        if not last[2]:
            break


def _look(folder: Path, moments: Moments, now: RunNow | None = None) -> Seen:
    """Return when the run was last written to, how many steps it has made, and whether somebody may still write."""
    return changed_ns(folder), (now or moments.now(folder)).steps, moments.goes_on(folder)
