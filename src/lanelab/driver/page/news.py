"""News for pages that are open, as server-sent events. A source yields what each look has to tell, b"" where that is
nothing: WATCHING first, as soon as it knows what was there before."""

import asyncio
from collections.abc import AsyncIterator, Callable

ALIVE_EVERY_S = 15.0  # something is written, so that a reader that is gone is noticed


def event(name: str, words: str) -> bytes:
    """Return an event with these words, in one line."""
    return f"event: {name}\ndata: {' '.join(words.split())}\n\n".encode()


CHANGED = event("changed", "run")
WATCHING, ALIVE = b": watching\n\n", b": still here\n\n"


async def stream(source: AsyncIterator[bytes], every_s: float, is_ending: Callable[[], bool]) -> AsyncIterator[bytes]:
    """Look so often, and yield what there is to tell, until the source or the server ends."""
    silent_s = 0.0
    async for message in source:
        silent_s = 0.0 if message else silent_s + every_s
        if message:
            yield message
        elif silent_s >= ALIVE_EVERY_S:
            silent_s = 0.0
            yield ALIVE
        await asyncio.sleep(every_s)
        if is_ending():
            break
