"""mod_spdy and clients that hold its threads with drops of window."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .httpd import Httpd, Module, running
from .spdy_client import (
    INITIAL_WINDOW,
    WAIT_S,
    connect,
)
from .spdy_client import SpdyClient as Client

ENDLESS = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec cat /dev/zero 2>/dev/null\n"


PAGE = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\npage'\n"


CANCEL = 5  # of RST_STREAM


def drip(client: Client, streams: list[int], enough: Callable[[], bool]) -> None:
    """A byte of window for each, again and again."""
    while not enough():
        for stream in streams:
            if client.responses[stream].reset is None:
                client.window_update(stream, 1)
        client.settle(0.7)


@pytest.fixture
def endless(apache: Path, spdy_module: Module) -> Iterator[Httpd]:
    """Eight threads; whatever the script writes waits for its client."""
    directives = "SpdyCleartext 3.1\nTimeout 2\nSpdyMaxThreadsPerProcess 8"
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("cgi/endless", ENDLESS)
        httpd.put("cgi/page", PAGE)
        yield httpd


def test_drops_of_window_are_too_little(endless: Httpd) -> None:
    """And while they last, others are served."""
    client = connect(endless.port, "3.1", window_updates=False)
    client.set({INITIAL_WINDOW: 1})
    streams = [client.request("/cgi/endless") for _ in range(8)]
    client.until(lambda: sum(bool(client.responses[stream].headers) for stream in streams) == 4)
    client.settle()
    assert sum(bool(client.responses[stream].headers) for stream in streams) == 4, "half of the threads are left"
    other = connect(endless.port, "3.1")
    assert other.get("/cgi/page").body == b"page"
    assert all(client.responses[stream].reset is None for stream in streams), "it was served during the attack"
    deadline = time.monotonic() + WAIT_S
    drip(
        client,
        streams,
        lambda: all(client.responses[s].reset == CANCEL for s in streams) or time.monotonic() > deadline,
    )
    assert {client.responses[stream].reset for stream in streams} == {CANCEL}
    client.close()
    other.close()


def test_drops_of_the_sessions_window_are_too_little(endless: Httpd) -> None:
    client = connect(endless.port, "3.1", window_updates=False)
    client.set({INITIAL_WINDOW: 1 << 30})
    stream = client.request("/cgi/endless")
    client.until(lambda: len(client.responses[stream].body) == 65536)
    deadline = time.monotonic() + WAIT_S
    while client.responses[stream].reset is None and time.monotonic() < deadline:
        client.window_update(0, 1)
        client.settle(0.7)
    assert client.responses[stream].reset == CANCEL
    client.close()


def test_a_slow_line_is_no_attack(endless: Httpd) -> None:
    """Four responses at once over a modem's 5 KB/s, for several times Timeout."""
    client = connect(endless.port, "3.1", window_updates=False)
    client.set({INITIAL_WINDOW: 4096})
    streams = [client.request("/cgi/endless") for _ in range(4)]
    client.until(lambda: all(len(client.responses[stream].body) == 4096 for stream in streams))
    for _ in range(40):
        for stream in streams:
            client.window_update(stream, 300)
        client.settle(0.2)
    assert [client.responses[stream].reset for stream in streams] == [None] * 4
    for stream in streams:
        client.reset(stream)
    client.settle()
    client.close()


def test_a_rate_of_nothing_lets_drops_pass(apache: Path, spdy_module: Module) -> None:
    directives = "SpdyCleartext 3.1\nTimeout 3\nSpdyMinResponseRate 0\nSpdyMaxThreadsPerSession 1"
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("cgi/endless", ENDLESS)
        client = connect(httpd.port, "3.1", window_updates=False)
        client.set({INITIAL_WINDOW: 1})
        first, second = client.request("/cgi/endless"), client.request("/cgi/endless")
        until = time.monotonic() + 10
        drip(client, [first], lambda: time.monotonic() > until)
        assert client.responses[first].reset is None
        assert not client.responses[second].headers, "the session has one thread"
        client.reset(second)
        client.reset(first)
        client.settle()
        client.close()
