"""News of a run that goes on, for pages that are open: one line when something was stored, which is between trials.

One task looks at each run, however many are watching. Nothing is rendered here: a page that hears of news asks for it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from lanelab.analysis.results.run_folder import changed_ns

EVERY_S = 0.5
ALIVE_EVERY_S = 15.0  # something is written, so that a reader that is gone is noticed


async def changes(folder: Path, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Yield a server-sent event for each change of the run, until the server ends."""
    last, silent_s = changed_ns(folder), 0.0
    yield b": watching\n\n"
    while not is_ending():
        await asyncio.sleep(EVERY_S)
        now, silent_s = changed_ns(folder), silent_s + EVERY_S
        if now != last:
            last, silent_s = now, 0.0
            yield b"event: changed\ndata: run\n\n"
        elif silent_s >= ALIVE_EVERY_S:
            silent_s = 0.0
            yield b": still here\n\n"
