"""Connections on which nobody asks for anything, or nobody reads what was asked for: they are closed after a while. So
the places of a class are not all taken by somebody who only opens some."""

import asyncio
import fcntl
import socket
import struct
import termios
from contextlib import suppress

from uvicorn.protocols.http.h11_impl import H11Protocol

WAITS_S = 10.0  # for a whole request, from the first byte to the last of its head
LEAST_TAKEN = 32 * 1024  # bytes of an answer that a reader takes in that time: any phone does
PATIENCE = 3  # so often somebody may take less
ACKED_AT = 120  # where tcp_info has tcpi_bytes_acked


class PatientProtocol(H11Protocol):
    """HTTP/1.1 on one connection, which is closed where no whole request comes in time, and where nobody reads."""

    _look: asyncio.TimerHandle | None = None
    _last: object = None  # the request that was the latest one when it was looked at
    _due: int = 0  # how much should have been taken by the next look
    _short: int = 0  # looks, one after the other, at which it was less

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look = self.loop.call_later(WAITS_S, self._look_again)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._look:
            self._look.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        """Close it where since the last look no request has come and none is being answered, and where what was sent is
        not read."""
        connection: socket.socket = self.transport.get_extra_info("socket")
        taken, waiting = _read_by_peer(connection)
        self._short = self._short + 1 if taken < self._due else 0
        self._due = taken + min(waiting, LEAST_TAKEN)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        is_idle = self.cycle is self._last and not is_answering and not waiting
        if is_idle or self._short >= PATIENCE:
            with suppress(OSError):  # without what it has not read: the kernel would keep that for it
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
            return
        self._last = self.cycle
        self._look = self.loop.call_later(WAITS_S, self._look_again)


def _read_by_peer(connection: socket.socket) -> tuple[int, int]:
    """Return how many bytes the other side has taken, and how many wait for that in the kernel."""
    with suppress(OSError, AttributeError):  # it is closed, or the kernel does not tell
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, ACKED_AT + 8)
        waiting = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        return struct.unpack_from("Q", info, ACKED_AT)[0], struct.unpack("i", waiting)[0]
    return 0, 0
