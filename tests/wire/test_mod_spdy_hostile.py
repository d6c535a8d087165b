"""Clients that mean no good: whatever they do, httpd's processes live on, serve others, and do not grow."""

import contextlib
import random
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .httpd import Httpd, Module, memory_kib, running, threads_of
from .spdy_client import (
    FIN,
    HEADERS,
    INITIAL_WINDOW,
    PING,
    RST_STREAM,
    SETTINGS,
    SYN_REPLY,
    SYN_STREAM,
    Closed,
    connect,
)
from .spdy_client import SpdyClient as Client

PROTOCOL_ERROR = 1  # of GOAWAY


BOTH = "SpdyEnabled on\nSpdyCleartext 3.1"


MOST_THREADS = 32  # for streams


SLOW = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nsleep 0.2\n"


@pytest.fixture(scope="module")
def server(apache: Path, spdy_module: Module) -> Iterator[Httpd]:
    with running(
        apache, spdy_module, f"{BOTH}\nTimeout 3\nSpdyMaxThreadsPerProcess {MOST_THREADS}", threads=32
    ) as httpd:
        httpd.expect("AH10244: invalid URI path")
        httpd.expect("AH01270: Error reading request entity")  # of a request whose session ends
        httpd.put("page.html", b"<p>page</p>")
        httpd.put("large", bytes(4 << 20))
        httpd.put("cgi/slow", SLOW)
        yield httpd


@pytest.fixture(autouse=True)
def lives_on(server: Httpd) -> Iterator[None]:
    before = server.children()
    yield
    assert server.children() == before
    client = connect(server.tls_port, "3.1", tls=True)
    assert client.get("/page.html").body == b"<p>page</p>"
    client.close()


def until_gone(client: Client) -> None:
    """The server may close while we still send."""
    with contextlib.suppress(Closed):
        client.until_closed()


def header(kind: int, flags: int, length: int) -> bytes:
    return struct.pack(">HHI", 0x8003, kind, flags << 24 | length)


SESSION_ERRORS: dict[str, Callable[[Client], None]] = {
    "another-version": lambda c: c.send(struct.pack(">HHI", 0x8009, SYN_STREAM, 4) + bytes(4)),
    "a-block-that-is-no-zlib": lambda c: c.control(SYN_STREAM, struct.pack(">IIH", 1, 0, 0) + b"\xff" * 100, FIN),
    "a-short-syn-stream": lambda c: c.control(SYN_STREAM, b"\0\0\0\1"),
    "a-stream-of-our-side": lambda c: c.control(SYN_STREAM, struct.pack(">IIH", 2, 0, 0) + c.block([]), FIN),
    "a-short-ping": lambda c: c.control(PING, b"\0"),
    "settings-that-lie": lambda c: c.control(SETTINGS, struct.pack(">I", 1000) + bytes(8)),
    "window-of-nothing": lambda c: c.window_update(0, 0),
    "window-overflow": lambda c: c.send(struct.pack(">HHIII", 0x8003, 9, 8, 0, 0x7FFFFFFF) * 2),
}


@pytest.mark.parametrize("name", SESSION_ERRORS)
def test_ends_a_session_that_breaks_the_framing(server: Httpd, name: str) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    SESSION_ERRORS[name](client)
    until_gone(client)
    assert client.goaway is not None
    assert client.goaway.status == PROTOCOL_ERROR
    client.close()


def data_for_no_stream(client: Client) -> int:
    client.data(99, b"x")
    return 99


def data_after_the_end(client: Client) -> int:
    stream = client.request("/cgi/slow")
    client.data(stream, b"x")
    return stream


def a_reply_to_nothing(client: Client) -> int:
    client.control(SYN_REPLY, struct.pack(">I", 77) + client.block([]))
    return 77


@pytest.mark.parametrize("wrong", [data_for_no_stream, data_after_the_end, a_reply_to_nothing])
def test_resets_a_stream_that_breaks_the_rules(server: Httpd, wrong: Callable[[Client], int]) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    stream = wrong(client)
    client.until(lambda: any(frame.kind == RST_STREAM and frame.stream == stream for frame in client.frames))
    assert client.get("/page.html").status == "200 OK"
    client.close()


BAD_REQUESTS: dict[str, list[tuple[str, str]]] = {
    "nothing": [],
    "no-path": [(":method", "GET"), (":version", "HTTP/1.1"), (":host", "a.example"), (":scheme", "http")],
    "no-host": [(":method", "GET"), (":path", "/"), (":version", "HTTP/1.1"), (":scheme", "http")],
    "line-break": [
        (":method", "GET"),
        (":path", "/ HTTP/1.1\r\nx: y"),
        (":version", "HTTP/1.1"),
        (":host", "a.example"),
        (":scheme", "http"),
    ],
    "line-break-in-field": [
        (":method", "GET"),
        (":path", "/"),
        (":version", "HTTP/1.1"),
        (":host", "a.example"),
        (":scheme", "http"),
        ("x-a", "b\r\nc: d"),
    ],
    "bad-host": [
        (":method", "GET"),
        (":path", "/"),
        (":version", "HTTP/1.1"),
        (":host", "a b/c"),
        (":scheme", "http"),
    ],
    "climbing": [
        (":method", "GET"),
        (":path", "/../../etc/passwd"),
        (":version", "HTTP/1.1"),
        (":host", "a.example"),
        (":scheme", "http"),
    ],
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_answers_a_request_that_is_none(server: Httpd, name: str) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    response = client.response(client.syn_stream(BAD_REQUESTS[name]))
    assert response.status == "400 Bad Request" or response.reset == PROTOCOL_ERROR
    assert client.get("/page.html").status == "200 OK"
    client.close()


@pytest.mark.parametrize("control", ["\x01", "\x08", "\x1b", "\x7f", "\r", "\n"], ids=ascii)
def test_refuses_control_characters_in_a_field(server: Httpd, control: str) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    assert client.get("/page.html", headers=[("x-a", f"b{control}c")]).status == "400 Bad Request"
    assert client.get("/page.html", headers=[("x-a", "b\tc")]).status == "200 OK"
    client.close()


PARTS = "\0".join(["y" * 335] * 190)  # of one field: 64 KB expanded, some hundred bytes on the wire


AMPLIFIERS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "field-of-many-parts": ("/page.html", [("x-a", PARTS)]),
    "cookie-of-many-parts": ("/page.html", [("cookie", PARTS)]),
    "long-path": ("/" + "y" * 64000, []),
    "long-host": ("/page.html", [(":host", "y" * 64000)]),
}


@pytest.mark.parametrize("name", AMPLIFIERS)
def test_little_input_takes_little_memory(apache: Path, spdy_module: Module, name: str) -> None:
    """A hundred answers that are never taken: what each of them keeps is counted."""
    path, headers = AMPLIFIERS[name]
    with running(apache, spdy_module, "SpdyCleartext 3\nTimeout 300") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.port, "3", window_updates=False)
        assert client.get("/page.html").status == "200 OK"
        (child,) = httpd.children()
        client.set({INITIAL_WINDOW: 0})
        before = memory_kib(child)
        special = {":method": "GET", ":path": path, ":version": "HTTP/1.1", ":host": "a.example", ":scheme": "http"}
        streams = [client.syn_stream(list({**special, **dict(headers)}.items())) for _ in range(100)]
        client.until(lambda: all(client.responses[stream].headers for stream in streams))
        assert {client.responses[stream].status[:3] for stream in streams} <= {"400", "414"}
        if not spdy_module.environment:  # the sanitizers keep what is freed
            assert memory_kib(child) < before + (16 << 10)
        client.close()


def test_counts_each_part_of_a_field(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3\nLimitRequestFields 10") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.port, "3")
        for name in ("x-a", "cookie"):
            assert client.get("/page.html", headers=[(name, "\0".join("abcde"))]).status == "200 OK"
            assert client.get("/page.html", headers=[(name, "\0".join("abcdefghijk"))]).status == "400 Bad Request"
        assert [line["status"] for line in httpd.access(4)] == [200, 400, 200, 400]
        client.close()


def test_refuses_a_tunnel(server: Httpd) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    assert client.get("/", method="CONNECT").status[:3] in {"400", "405", "501"}
    client.close()


def test_ends_a_session_that_floods_with_pings(server: Httpd) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    with contextlib.suppress(Closed):
        for _ in range(5000):
            client.ping()
    until_gone(client)
    assert len(client.pongs) < 5000
    client.close()


def test_ends_a_session_that_opens_and_resets(server: Httpd) -> None:
    (child,) = server.children()
    before, most = threads_of(child), 0
    client = connect(server.tls_port, "3.1", tls=True)
    with contextlib.suppress(Closed):
        for number in range(5000):
            client.reset(client.request("/cgi/slow"))
            if number % 100 == 0:
                most = max(most, threads_of(child))
    until_gone(client)
    assert most <= before + MOST_THREADS
    client.close()


def test_ends_a_session_that_floods_with_headers(server: Httpd) -> None:
    """On an open stream: each costs the server an expansion, and says nothing."""
    client = connect(server.tls_port, "3.1", tls=True)
    stream = client.request("/cgi/slow", method="POST", fin=False)
    with contextlib.suppress(Closed):
        for _ in range(9000):
            client.control(HEADERS, struct.pack(">I", stream) + client.block([("x-a", "b")]))
    with pytest.raises(Closed):
        client.get("/page.html")
    assert client.goaway is None or client.goaway.status == PROTOCOL_ERROR  # a reset may overtake it
    client.close()


def test_a_bomb_of_headers_ends_the_session(server: Httpd) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    memory_before = memory_kib(server.children()[0])
    with contextlib.suppress(Closed):
        client.request("/page.html", headers=[("x-bomb", "y" * (8 << 20))])
        client.settle()
    until_gone(client)
    assert memory_kib(server.children()[0]) < memory_before + 8192
    client.close()


def test_a_client_that_never_reads_is_given_up(server: Httpd) -> None:
    client = connect(server.port, "3.1", receive_buffer_bytes=4096)
    client.set({INITIAL_WINDOW: 1 << 30})
    client.window_update(0, 1 << 30)
    for _ in range(20):
        client.request("/large")
    lines = len(server.access())
    server.wait(lambda: sum(line["state"] == "X" for line in server.access()[lines:]) >= 20)
    client.close()


def test_lives_through_noise(server: Httpd) -> None:
    """Bytes that begin as SPDY does and go on as they like."""
    chance = random.Random(4)
    for _ in range(200):
        sock = socket.create_connection(("127.0.0.1", server.port), 60)
        with contextlib.suppress(OSError):
            for _ in range(chance.randrange(1, 6)):
                length = chance.randrange(64)
                sock.sendall(header(chance.randrange(12), chance.randrange(4), length) + chance.randbytes(length))
            if chance.random() < 0.5:
                sock.shutdown(socket.SHUT_WR)
            sock.settimeout(0.05)
            sock.recv(4096)
        sock.close()


def test_lives_through_clients_that_vanish(server: Httpd) -> None:
    chance = random.Random(5)
    for number in range(40):
        tls = number % 2 == 0
        client = connect(server.tls_port if tls else server.port, "3.1", tls=tls)
        with contextlib.suppress(Closed):
            for _ in range(chance.randrange(1, 30)):
                client.request(chance.choice(["/large", "/cgi/slow", "/page.html"]))
            client.settle(chance.random() / 50)
        if chance.random() < 0.5:  # an RST instead of a FIN
            client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()


def test_neither_threads_nor_memory_grow(server: Httpd, spdy_module: Module) -> None:
    (child,) = server.children()

    def rounds(count: int) -> None:
        for number in range(count):
            client = connect(server.tls_port, ("3.1", "3", "2")[number % 3], tls=True)
            for stream in [client.request("/page.html") for _ in range(50)]:
                client.response(stream)
            client.close()

    rounds(40)
    memory = memory_kib(child)
    rounds(120)
    assert threads_of(child) <= 32 + 32 + 2 + MOST_THREADS, "connections', HTTP/2's, two of httpd's, streams'"
    if not spdy_module.environment:  # the sanitizers keep what is freed
        assert memory_kib(child) < memory + 2048, "6000 more streams on 120 more connections"
