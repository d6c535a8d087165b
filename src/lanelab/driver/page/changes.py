"""News of a run that goes on, for pages that are open: one line when something was stored, which is between trials.

Nothing is rendered here: a page that hears of news asks for it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from lanelab.analysis.results.run_folder import changed_ns, has_writer

EVERY_S = 0.5
ALIVE_EVERY_S = 15.0  # something is written, so that a reader that is gone is noticed
NEWS = b"event: changed\ndata: run\n\n"


async def changes(folder: Path, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Yield a server-sent event for each change of the run, until it has no writer any more, is gone, or the server
    ends."""
    last, silent_s = _look(folder), 0.0
    yield b": watching\n\n"
    while not is_ending():
        await asyncio.sleep(EVERY_S)
        now, silent_s = _look(folder), silent_s + EVERY_S
        if now != last:
            last, silent_s = now, 0.0
            yield NEWS
        elif silent_s >= ALIVE_EVERY_S:
            silent_s = 0.0
            yield b": still here\n\n"
        if not now[1]:
            break


def _look(folder: Path) -> tuple[int, bool]:
    """Return when the run was last written to, and whether somebody may still write."""
    return changed_ns(folder), has_writer(folder)
