"""Clients that open many streams, give no window and go, or stay: what they hold, and whether others are served."""

import http.client
import random
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .httpd import Httpd, Module, running
from .spdy_client import INITIAL_WINDOW, SpdyClient, connect

THREADS, STREAMS, LEAVING = 25, 30, 2
TIMEOUT_S, PROMPTLY_S = 60, 20  # httpd's Timeout; a busy machine may take some of the other
STAYING = 9  # connections that give no window: more than mod_http2 bears, which is 6 with as many threads
LETTERS = "".join(random.Random(1).choices("abcdefghijklmnop", k=1 << 16))
DIRECTIVES = f"SpdyEnabled on\nSpdyCleartext 3.1\nTimeout {TIMEOUT_S}\nAddOutputFilterByType DEFLATE text/plain"


@pytest.fixture
def server(apache: Path, spdy_module: Module) -> Iterator[Httpd]:
    with running(apache, spdy_module, DIRECTIVES, threads=THREADS) as httpd:
        httpd.expect("AH00484: server reached MaxRequestWorkers|AH10159: server is within MinSpareThreads")
        httpd.put("page.html", b"<p>page</p>")
        httpd.put("text.txt", LETTERS.encode() * 48)
        yield httpd


def starve(httpd: Httpd, streams: int = STREAMS, *, tls: bool = False) -> SpdyClient:
    """A client that gives no window for texts that a filter of httpd's makes as they are sent."""
    client = connect(httpd.tls_port if tls else httpd.port, "3.1", tls=tls, window_updates=False)
    client.set({INITIAL_WINDOW: 0})
    asked = [client.request("/text.txt", headers=[("accept-encoding", "gzip")]) for _ in range(streams)]
    client.until(lambda: any(client.responses[stream].headers for stream in asked))
    client.settle()
    return client


def assert_others_are_served(httpd: Httpd) -> None:
    begun = time.monotonic()
    client = connect(httpd.port, "3.1")
    assert client.get("/page.html").body == b"<p>page</p>"
    client.close()
    ordinary = http.client.HTTPConnection("127.0.0.1", httpd.port, timeout=TIMEOUT_S)
    ordinary.request("GET", "/page.html")
    assert ordinary.getresponse().read() == b"<p>page</p>"
    ordinary.close()
    assert time.monotonic() - begun < PROMPTLY_S


def leave(client: SpdyClient, how: str) -> None:
    if how == "RST":
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif how == "half a FIN":
        client.sock.shutdown(socket.SHUT_WR)
        return
    client.close()


@pytest.mark.parametrize("tls", [False, True], ids=["clear", "tls"])
@pytest.mark.parametrize("how", ["FIN", "half a FIN", "RST"])
def test_a_client_that_is_gone_holds_nothing(server: Httpd, how: str, tls: bool) -> None:
    starving = [starve(server, tls=tls) for _ in range(LEAVING)]
    begun = time.monotonic()
    for client in starving:
        leave(client, how)
    assert_others_are_served(server)
    server.wait(lambda: server.connections() == 0)
    assert time.monotonic() - begun < PROMPTLY_S, "their sessions are over"
    assert {line["state"] for line in server.access() if line["request"].startswith("GET /text")} == {"X"}
    for client in starving:
        client.close()


def test_clients_that_give_no_window_leave_threads_for_others(server: Httpd) -> None:
    starving = [starve(server) for _ in range(STAYING)]
    assert_others_are_served(server)
    for client in starving:
        client.close()


@pytest.mark.parametrize("tls", [False, True], ids=["clear", "tls"])
def test_sessions_that_wait_for_windows_hold_no_thread_of_a_busy_server(server: Httpd, tls: bool) -> None:
    """More of them than the server has threads, each with files, which hold no thread for streams."""
    server.put("large", bytes(1 << 20))
    waiting = []
    for _ in range(THREADS + 10):
        client = connect(server.tls_port if tls else server.port, "3.1", tls=tls, window_updates=False)
        client.set({INITIAL_WINDOW: 1000})
        stream = client.request("/large")
        client.until(lambda client=client, stream=stream: len(client.responses[stream].body) == 1000)  # type: ignore[misc]
        waiting.append((client, stream))
    assert_others_are_served(server)
    for client, stream in waiting:  # and they are heard when they give some
        client.window_update(stream, 500)
        client.until(lambda client=client, stream=stream: len(client.responses[stream].body) == 1500)  # type: ignore[misc]
        client.close()
