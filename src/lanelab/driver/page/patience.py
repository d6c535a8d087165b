"""Connections on which nobody asks for anything: they are closed after a while, so that the places of a class are not
all taken by somebody who only opens some."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

WAITS_S = 10.0  # for a whole request, from the first byte to the last of its head


class PatientProtocol(H11Protocol):
    """HTTP/1.1 on one connection, which is closed where no whole request comes in time."""

    _look: asyncio.TimerHandle | None = None
    _last: object = None  # the request that was the latest one when it was looked at

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look = self.loop.call_later(WAITS_S, self._look_again)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._look:
            self._look.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        """Close it where since the last look no request has come, and none is being answered."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if self.cycle is self._last and not is_answering:
            self.transport.abort()
            return
        self._last = self.cycle
        self._look = self.loop.call_later(WAITS_S, self._look_again)
