"""The agent's end of its channel: messages come in and go out, and nobody waits. Standard library only."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable

from lanelab.driver.bed.remote.agent_protocol import Lines, Message, encode


class AgentChannel:
    """Two descriptors, which may be the same. It keeps what there is no room for yet."""

    def __init__(
        self,
        fd_in: int,
        fd_out: int,
        selector: selectors.BaseSelector,
        handle: Callable[[Message], None],
        on_data: Callable[[], None],
    ) -> None:
        """`handle` gets each message; `on_data` is called whenever anything comes, also a part of one."""
        self.fd_in, self.fd_out, self.selector = fd_in, fd_out, selector
        self.handle, self.on_data = handle, on_data
        self.open = True
        self.parser = Lines()
        self.unsent = bytearray()

    def watch(self) -> None:
        """Wait for room on it only while something is unsent."""
        for fd in (self.fd_in, self.fd_out):
            os.set_blocking(fd, False)
        self.events = selectors.EVENT_READ
        self.selector.register(self.fd_in, selectors.EVENT_READ, self.on_events)
        if self.fd_out != self.fd_in:
            self.selector.register(self.fd_out, selectors.EVENT_WRITE, self.on_events)
            self.selector.unregister(self.fd_out)

    def send(self, message: Message) -> None:
        self.unsent += encode(message)
        self.flush()

    def flush(self) -> None:
        try:
            while self.unsent:
                del self.unsent[: os.write(self.fd_out, self.unsent[:65536])]
        except BlockingIOError:
            pass
        except OSError:
            self.open = False
        self.want_room(bool(self.unsent))

    def want_room(self, wanted: bool) -> None:
        if self.fd_out == self.fd_in:
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wanted else 0)
            if events != self.events:
                self.selector.modify(self.fd_in, events, self.on_events)
                self.events = events
        elif wanted != (self.fd_out in self.selector.get_map()):
            if wanted:
                self.selector.register(self.fd_out, selectors.EVENT_WRITE, self.on_events)
            else:
                self.selector.unregister(self.fd_out)

    def on_events(self, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self.flush()
        if events & selectors.EVENT_READ:
            self.read()

    def read(self) -> None:
        try:
            data = os.read(self.fd_in, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.open = False
            return
        self.on_data()
        for message in self.parser.feed(data):
            self.handle(message)
