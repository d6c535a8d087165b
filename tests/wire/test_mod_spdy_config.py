"""mod_spdy's directives: what they refuse, and what they change."""

import time
from pathlib import Path

import pytest

from .httpd import Httpd, Module, refusal, running, threads_of
from .spdy_client import INITIAL_WINDOW, MAX_STREAMS, SYN_REPLY, SpdyClient, connect

SETTLED_S = 2
NUMBERS = {
    "SpdyMaxStreamsPerConnection": "streams from 1 to 10000",
    "SpdyStreamWindow": "bytes from 1024 to 1073741824",
    "SpdySessionWindow": "bytes from 65536 to 1073741824",
    "SpdyDataFrameBytes": "bytes from 512 to 1048576",
    "SpdyBufferBytes": "bytes from 4096 to 67108864",
    "SpdyUnsentBytes": "bytes from 0 to 67108864",
    "SpdyWriteBytes": "bytes from 1024 to 32768",
    "SpdyMaxHeaderBytes": "bytes from 1024 to 1048576",
    "SpdyMinBodyRate": "bytes per second from 0 to 1073741824",
    "SpdyMinResponseRate": "bytes per second from 0 to 1073741824",
    "SpdyHeaderCompression": "levels of zlib from 0 to 9",
    "SpdyMinThreadsPerProcess": "threads from 1 to 10000",
    "SpdyMaxThreadsPerProcess": "threads from 1 to 10000",
    "SpdyMaxThreadsPerSession": "threads from 1 to 10000",
}


@pytest.mark.parametrize(
    ("directive", "says"),
    [
        ("SpdyVersions 4", 'SpdyVersions: "4" is no version of SPDY; it may be 3.1, 3 or 2'),
        ("SpdyVersions 3 3", "SpdyVersions names 3 twice"),
        ("SpdyVersions", "SpdyVersions needs at least one version: any of 3.1, 3 and 2"),
        ("SpdyCleartext on", 'SpdyCleartext: "on" is neither off nor a version of SPDY (3.1, 3 or 2)'),
        ("SpdyEnabled maybe", "SpdyEnabled must be On or Off"),
        ("SpdyPush maybe", "SpdyPush must be On or Off"),
        (
            "SpdyEnabled on\nSpdyMinThreadsPerProcess 5\nSpdyMaxThreadsPerProcess 4",
            "SpdyMinThreadsPerProcess (5) is more than SpdyMaxThreadsPerProcess (4): lower the first or raise the",
        ),
        (
            "<VirtualHost *>\nSpdyMaxThreadsPerProcess 4\n</VirtualHost>",
            "SpdyMaxThreadsPerProcess cannot occur within <VirtualHost> section",
        ),
        *(
            (f"{name} {value}", f'{name}: "{value}" is not a whole number of {allowed}')
            for name, allowed in NUMBERS.items()
            for value in ("-1", "1x", "99999999999999999999")
        ),
    ],
)
def test_refuses_what_makes_no_sense(apache: Path, spdy_module: Module, directive: str, says: str) -> None:
    assert says in " ".join(refusal(apache, spdy_module, directive).split())


def test_refuses_an_mpm_without_threads(apache: Path, spdy_module: Module) -> None:
    said = refusal(apache, spdy_module, "SpdyEnabled on", mpm="prefork")
    assert 'the MPM "prefork" has none: load mpm_event or mpm_worker instead' in said


def test_minds_no_mpm_where_it_is_not_used(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, mpm="prefork") as httpd:
        httpd.expect("AH10034: The mpm module .prefork.c. is not supported by mod_http2")
        assert httpd.alive()


def session(httpd: Httpd, version: str = "3.1") -> SpdyClient:
    """In clear, where the client speaks first."""
    client = connect(httpd.port, version)
    client.ping()
    client.until(lambda: bool(client.settings))
    return client


def test_tells_clients_of_its_limits(apache: Path, spdy_module: Module) -> None:
    directives = "SpdyCleartext 3.1\nSpdyMaxStreamsPerConnection 7\nSpdyStreamWindow 9000\nSpdySessionWindow 100000"
    with running(apache, spdy_module, directives) as httpd:
        client = session(httpd)
        client.settle()
        assert client.settings == {MAX_STREAMS: 7, INITIAL_WINDOW: 9000}
        assert [(f.stream, f.status) for f in client.frames if f.kind == 9] == [(0, 100000 - 65536)]
        client.close()


def test_lets_a_virtual_host_have_limits_of_its_own(apache: Path, spdy_module: Module) -> None:
    directives = "SpdyEnabled on\nSpdyCleartext 3\nSpdyMaxStreamsPerConnection 7"
    with running(apache, spdy_module, directives, tls="SpdyMaxStreamsPerConnection 9") as httpd:
        in_clear, in_tls = session(httpd, "3"), connect(httpd.tls_port, "3", tls=True)
        in_tls.until(lambda: bool(in_tls.settings))
        assert (in_clear.settings[MAX_STREAMS], in_tls.settings[MAX_STREAMS]) == (7, 9)
        in_clear.close()
        in_tls.close()


def test_refuses_streams_beyond_the_limit(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3\nSpdyMaxStreamsPerConnection 3") as httpd:
        httpd.put("large", bytes(1 << 20))
        client = connect(httpd.port, "3", window_updates=False)
        client.set({INITIAL_WINDOW: 100})
        streams = [client.request("/large") for _ in range(5)]
        client.until(lambda: sum(client.responses[s].reset == 3 for s in streams) == 2)
        assert [client.responses[stream].reset for stream in streams] == [None, None, None, 3, 3]
        client.close()


def test_refuses_headers_beyond_the_limit(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3.1\nSpdyMaxHeaderBytes 2000") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = session(httpd)
        assert client.get("/page.html", headers=[("x-much", "y" * 3000)]).reset == 11, "FRAME_TOO_LARGE"
        assert client.get("/page.html", headers=[("x-less", "y" * 1000)]).status == "200 OK"
        client.close()


def test_keeps_to_httpds_limits_of_requests(apache: Path, spdy_module: Module) -> None:
    directives = "SpdyCleartext 3.1\nLimitRequestLine 100\nLimitRequestFields 10\nLimitRequestFieldSize 200"
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = session(httpd)
        assert client.get("/" + "x" * 200).status.startswith("414")
        assert client.get("/page.html", headers=[(f"x-{n}", "y") for n in range(20)]).status.startswith("400")
        assert client.get("/page.html", headers=[("x-much", "y" * 300)]).status.startswith("400")
        assert client.get("/page.html").status == "200 OK"
        assert [line["spdy"] for line in httpd.access(4)] == ["3.1"] * 4, "each is logged"
        client.close()


def test_compresses_headers_as_it_is_told(apache: Path, spdy_module: Module) -> None:
    def reply_bytes(level: int) -> int:
        with running(apache, spdy_module, f"SpdyCleartext 3.1\nSpdyHeaderCompression {level}") as httpd:
            httpd.put("page.html", b"<p>page</p>")
            client = session(httpd)
            for _ in range(5):
                assert client.get("/page.html").status == "200 OK"
            client.close()
            return sum(len(frame.payload) for frame in client.frames if frame.kind == SYN_REPLY)

    assert reply_bytes(0) > 3 * reply_bytes(9)


def test_sends_frames_of_the_size_that_it_is_told(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3.1\nSpdyDataFrameBytes 700") as httpd:
        httpd.put("large", bytes(20000))
        client = session(httpd)
        assert client.get("/large").body == bytes(20000)
        assert max(len(frame.payload) for frame in client.frames if frame.kind == 0) == 700
        client.close()


@pytest.mark.parametrize(
    ("directives", "largest"), [("", 16384), ("SpdyWriteBytes 4104\nSpdyDataFrameBytes 4096", 4104)]
)
def test_writes_as_much_at_once_as_it_is_told(apache: Path, spdy_module: Module, directives: str, largest: int) -> None:
    """So that a client need not wait for a whole record of TLS that is larger than the first flight."""
    body = bytes(range(256)) * 1000
    with running(apache, spdy_module, f"SpdyEnabled on\n{directives}") as httpd:
        httpd.put("large", body)
        client = connect(httpd.tls_port, "3.1", tls=True)
        assert client.get("/large").body == body
        assert client.largest_read == largest
        client.close()


@pytest.mark.parametrize("unsent", [0, 4096])
def test_sends_all_whatever_waits_in_the_kernel(apache: Path, spdy_module: Module, unsent: int) -> None:
    with running(apache, spdy_module, f"SpdyCleartext 3.1\nSpdyUnsentBytes {unsent}\nSpdyBufferBytes 4096") as httpd:
        httpd.put("large", bytes(range(256)) * 8192)
        client = session(httpd)
        assert client.get("/large").body == bytes(range(256)) * 8192
        client.close()


def test_makes_no_more_threads_than_it_may(apache: Path, spdy_module: Module) -> None:
    script = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nsleep 0.3\n"
    with running(apache, spdy_module, "SpdyCleartext 3.1\nSpdyMaxThreadsPerProcess 3") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        httpd.put("cgi/slow", script)
        (child,) = httpd.children()
        client = session(httpd)
        before = threads_of(child)
        streams = [client.request("/cgi/slow") for _ in range(9)]
        most = 0
        while not all(client.responses[stream].ended for stream in streams):
            client.settle(0.05)
            most = max(most, threads_of(child))
        assert most <= before + 3
        assert {client.responses[stream].status for stream in streams} == {"200 OK"}
        client.close()


def settled_threads_of(child: int) -> int:
    """Once httpd has started all of its own, which on a busy machine takes a while."""
    number, since = threads_of(child), time.monotonic()
    while time.monotonic() - since < SETTLED_S:
        time.sleep(0.1)  # nothing tells that no thread comes any more but time
        if threads_of(child) != number:
            number, since = threads_of(child), time.monotonic()
    return number


def test_lets_idle_threads_go(apache: Path, spdy_module: Module) -> None:
    directives = "SpdyCleartext 3.1\nSpdyMinThreadsPerProcess 1\nSpdyMaxThreadsPerProcess 8"
    script = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nsleep 0.2\n"
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("cgi/slow", script)
        (child,) = httpd.children()
        before = settled_threads_of(child)
        client = session(httpd)
        for stream in [client.request("/cgi/slow") for _ in range(8)]:
            client.response(stream)
        assert threads_of(child) > before + 1
        httpd.wait(lambda: threads_of(child) <= before + 1)  # `before` may count the one that starts the others
        client.close()
