"""Stands before what draws, while a run goes on: nothing is drawn while a trial is under way. A page that was drawn
since the last trial ended is sent again as it is, so that of a class of thirty one draws."""

import asyncio
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lanelab.driver.page.access import READING
from lanelab.driver.page.guard import OPEN, ROLE
from lanelab.driver.page.language import tag
from lanelab.driver.page.moments import Moments, Stamp

AT_ONCE = (*OPEN, "/begun/", "/bench/")  # what takes nothing to draw, or waits by itself
STREAM = "/changes"
MOST_KEPT, LARGEST_KEPT = 50, 4_000_000  # pages, bytes of one

Key = tuple[object, ...]


@dataclass
class Pacer:
    """Lets requests for pages through at the right moments."""

    app: ASGIApp
    moments: Moments
    _stamp: Stamp = ()
    _kept: dict[Key, list[Message]] = field(default_factory=dict)
    _drawing: WeakValueDictionary[Key, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in READING:
            await self.app(scope, receive, send)
            self._kept.clear()  # something may have changed
            return
        path = str(scope["path"])
        if path.startswith(AT_ONCE) or path.endswith(STREAM) or not self.moments.stamp:
            await self.app(scope, receive, send)
            return
        key: Key = (scope["method"], scope.get(ROLE), tag(), path, scope["query_string"])
        lock = self._drawing.setdefault(key, asyncio.Lock())
        async with lock:
            kept = self._current().get(key)
            if kept is None:
                await self.moments.wait()
                await self._draw(key, scope, receive, send)
                return
        for message in kept:
            await send(_copy(message))

    def _current(self) -> dict[Key, list[Message]]:
        """Return what was drawn since the last trial ended."""
        stamp = self.moments.stamp
        if stamp != self._stamp or len(self._kept) >= MOST_KEPT:
            self._stamp, self._kept = stamp, {}
        return self._kept

    async def _draw(self, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through, and keep the page."""
        kept, page = self._current(), list[Message]()

        async def send_and_keep(message: Message) -> None:
            if page or _is_page(message):
                page.append(_copy(message))
            await send(message)

        await self.app(scope, receive, send_and_keep)
        if page and sum(len(message.get("body", b"")) for message in page) <= LARGEST_KEPT:
            kept[key] = page


def _copy(message: Message) -> Message:
    """Return a message whose headers are its own: who sends it on adds some."""
    return {**message, "headers": list(message["headers"])} if "headers" in message else message


def _is_page(message: Message) -> bool:
    """Return whether an answer begins that is a page, what was asked for, and nothing of one browser alone."""
    if message["type"] != "http.response.start" or message["status"] != 200:
        return False
    headers = Headers(raw=message["headers"])
    return headers.get("content-type", "").startswith("text/html") and "set-cookie" not in headers
