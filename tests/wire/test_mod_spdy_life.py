"""How sessions begin to wait, and end: idle clients, slow clients, restarts and stops of the server."""

import contextlib
import http.client
import socket
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from .httpd import Httpd, Module, running
from .spdy_client import GOAWAY, INITIAL_WINDOW, Closed, SpdyClient, connect

SLOW = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nsleep 1\necho done\n"


@pytest.mark.parametrize("mpm", ["event", "worker"])
@pytest.mark.parametrize("tls", [False, True], ids=["clear", "tls"])
def test_says_goodbye_to_an_idle_client(apache: Path, spdy_module: Module, mpm: str, tls: bool) -> None:
    directives = "SpdyEnabled on\nSpdyCleartext 3.1\nKeepAliveTimeout 1"
    with running(apache, spdy_module, directives, mpm=mpm) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.tls_port if tls else httpd.port, "3.1", tls=tls)
        begun = time.monotonic()
        assert client.get("/page.html").status == "200 OK"
        client.until_closed()
        assert time.monotonic() - begun >= 1
        assert client.goaway is not None
        assert (client.goaway.stream, client.goaway.status) == (1, 0)
        client.close()


@pytest.mark.parametrize("mpm", ["event", "worker"])
def test_a_session_goes_on_after_a_pause(apache: Path, spdy_module: Module, mpm: str) -> None:
    with running(apache, spdy_module, "SpdyEnabled on", mpm=mpm) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.tls_port, "3.1", tls=True)
        for _ in range(5):
            assert client.get("/page.html").body == b"<p>page</p>"
            client.settle(0.1)
        ping = client.ping()
        client.until(lambda: ping in client.pongs)
        client.close()


def test_idle_sessions_hold_no_thread_of_the_event_mpm(apache: Path, spdy_module: Module) -> None:
    """More of them than threads. (Were all threads busy at once, httpd would close idle connections.)"""
    directives = "SpdyEnabled on\nSpdyCleartext 3\nKeepAliveTimeout 60\nAsyncRequestWorkerFactor 4"
    with running(apache, spdy_module, directives, threads=25) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        clients = [connect(httpd.tls_port, "3", tls=True) for _ in range(30)]
        clients += [connect(httpd.port, "3") for _ in range(30)]
        for client in clients:
            assert client.get("/page.html").body == b"<p>page</p>"
        for client in reversed(clients):
            assert client.get("/page.html").body == b"<p>page</p>"
            client.close()


def test_silent_connections_hold_no_thread_where_spdy_may_begin(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3", threads=2) as httpd:
        httpd.expect("AH00484: server reached MaxRequestWorkers")  # both work for a moment
        httpd.put("page.html", b"<p>page</p>")
        silent = [socket.create_connection(("127.0.0.1", httpd.port)) for _ in range(6)]
        client = connect(httpd.port, "3")
        assert client.get("/page.html").body == b"<p>page</p>"
        client.close()
        for sock in silent:  # and each may still speak either
            sock.settimeout(60)
            sock.sendall(b"GET /page.html HTTP/1.0\r\n\r\n")
            assert sock.recv(100).startswith(b"HTTP/1.1 200 OK")
            sock.close()


def test_a_first_frame_may_come_in_pieces(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3.1") as httpd:
        client = connect(httpd.port, "3.1")
        for byte in b"\x80\x03\x00\x06\x00\x00\x00\x04\x00\x00\x00\x01":
            client.send(bytes([byte]))
            time.sleep(0.01)  # so that each arrives by itself
        client.until(lambda: client.pongs == [1])
        client.close()


@pytest.mark.parametrize("version", ["3", "3.1"])
def test_gives_up_a_response_that_the_client_gives_no_window_for(
    apache: Path, spdy_module: Module, version: str
) -> None:
    with running(apache, spdy_module, "SpdyEnabled on\nTimeout 1") as httpd:
        httpd.put("large", bytes(1 << 20))
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.tls_port, version, tls=True, window_updates=False)
        client.set({INITIAL_WINDOW: 1000})
        stream = client.request("/large")
        client.until(lambda: client.responses[stream].reset is not None)
        assert client.responses[stream].reset == 5, "CANCEL"
        assert client.get("/page.html").status == "200 OK", "others go on"
        assert httpd.access(2)[0]["state"] == "X"
        client.close()


def test_gives_up_a_client_that_reads_nothing(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 2\nTimeout 1") as httpd:
        httpd.put("large", bytes(64 << 20))
        client = connect(httpd.port, "2", receive_buffer_bytes=4096)
        client.request("/large")
        assert httpd.access(1)[0]["state"] == "X", "logged when the session has ended"
        client.close()


def test_gives_up_a_body_that_does_not_come(apache: Path, spdy_module: Module) -> None:
    script = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec md5sum\n"
    with running(apache, spdy_module, "SpdyEnabled on\nTimeout 1") as httpd:
        httpd.expect("cgid:error.*AH01270: Error reading request entity")
        httpd.expect("cgid:warn|cgid:error.*timeout|timeout.*cgid")
        httpd.expect("^md5sum: -: Connection reset by peer")
        httpd.put("cgi/echo", script)
        client = connect(httpd.tls_port, "3.1", tls=True)
        stream = client.request("/cgi/echo", method="POST", fin=False)
        client.data(stream, b"some of it")
        assert client.response(stream).status.startswith("408")
        client.close()


def test_answers_what_was_asked_before_a_half_close(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3.1") as httpd:
        httpd.put("cgi/slow", SLOW)
        client = connect(httpd.port, "3.1", window_updates=False)
        streams = [client.request("/cgi/slow") for _ in range(3)]
        client.sock.shutdown(socket.SHUT_WR)
        assert [client.response(stream).body for stream in streams] == [b"done\n"] * 3
        client.until_closed()
        client.close()


class Load:
    """Clients that go on asking, and begin anew when the server says goodbye."""

    def __init__(self, httpd: Httpd, clients: int) -> None:
        self.httpd, self.stop = httpd, threading.Event()
        self.answered = self.goodbyes = 0
        self.wrong: list[str] = []
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(clients)]
        for thread in self._threads:
            thread.start()

    def _run(self, number: int) -> None:
        try:
            while not self.stop.is_set():
                self._session(("3.1", "3", "2")[number % 3])
        except Exception as error:  # noqa: BLE001 (a thread's error must not vanish)
            self.wrong.append(repr(error))

    def _session(self, version: str) -> None:
        try:
            client = connect(self.httpd.tls_port, version, tls=True)
        except OSError:
            return  # accepted by nobody any more, or in the middle of a handshake
        with contextlib.closing(client):
            while not self.stop.is_set() and client.goaway is None and not client.closed:
                streams = [client.request("/large") for _ in range(5)]
                self._check(client, streams)
            self.goodbyes += client.goaway is not None

    def _check(self, client: SpdyClient, streams: list[int]) -> None:
        for stream in streams:
            response = client.responses[stream]
            with contextlib.suppress(Closed):
                client.until(partial(self._is_decided, client, stream))
            if response.ended and len(response.body) == 300_000:
                with self._lock:
                    self.answered += 1
            elif not self._passed_over(client, stream):
                self.wrong.append(f"stream {stream}: {response.reset}, {len(response.body)}, {client.goaway}")

    def _is_decided(self, client: SpdyClient, stream: int) -> bool:
        response = client.responses[stream]
        return response.ended or response.reset is not None or self._passed_over(client, stream)

    def _passed_over(self, client: SpdyClient, stream: int) -> bool:
        """Streams that came after GOAWAY's last may be asked for again elsewhere."""
        return client.goaway is not None and stream > client.goaway.stream

    def end(self) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join(120)


@pytest.mark.parametrize("mpm", ["event", "worker"])
def test_a_graceful_restart_drops_no_stream(apache: Path, spdy_module: Module, mpm: str) -> None:
    with running(apache, spdy_module, "SpdyEnabled on\nSpdyVersions 3.1 3 2", mpm=mpm) as httpd:
        httpd.put("large", bytes(300_000))
        before = httpd.children()
        load = Load(httpd, 3)
        try:
            httpd.wait(lambda: load.answered > 10)
            for _ in range(2):
                goodbyes, children = load.goodbyes, set(httpd.children())
                httpd.graceful_restart()
                httpd.wait(lambda goodbyes=goodbyes: load.goodbyes > goodbyes)
                # The next restart can tell only sessions of processes that have begun.
                httpd.wait(lambda children=children: not children & set(httpd.children()))
                answered = load.answered
                httpd.wait(lambda answered=answered: load.answered > answered + 10)
        finally:
            load.end()
        assert load.wrong == []
        httpd.wait(lambda: not set(httpd.children()) & set(before))


@pytest.mark.parametrize("mpm", ["event", "worker"])
def test_a_graceful_stop_finishes_what_was_asked_for(apache: Path, spdy_module: Module, mpm: str) -> None:
    with running(apache, spdy_module, "SpdyEnabled on", mpm=mpm) as httpd:
        httpd.put("cgi/slow", SLOW)
        client = connect(httpd.tls_port, "3.1", tls=True)
        idle = connect(httpd.tls_port, "3", tls=True)
        streams = [client.request("/cgi/slow") for _ in range(5)]
        client.until(lambda: any(client.responses[stream].headers for stream in streams))
        httpd.graceful_stop()
        assert [client.response(stream).body for stream in streams] == [b"done\n"] * 5
        client.until_closed()
        idle.until_closed()
        assert [frame.stream for frame in client.frames if frame.kind == GOAWAY] == [streams[-1]]
        assert idle.goaway is not None
        httpd.wait(lambda: not httpd.alive())
        client.close()
        idle.close()


@pytest.mark.parametrize("mpm", ["event", "worker"])
def test_a_stop_ends_all_at_once(apache: Path, spdy_module: Module, mpm: str) -> None:
    with running(apache, spdy_module, "SpdyEnabled on\nSpdyCleartext 3", mpm=mpm) as httpd:
        httpd.put("large", bytes(64 << 20))
        client = connect(httpd.tls_port, "3", tls=True, window_updates=False)
        client.request("/large")
        other = connect(httpd.port, "3")
        client.until(lambda: bool(client.responses[1].body))
        assert httpd.process is not None
        httpd.process.terminate()
        httpd.wait(lambda: not httpd.alive())
        assert not any("SIGKILL" in line for line in httpd.error_lines())
        client.close()
        other.close()


def test_http_1_and_spdy_share_a_server_under_restarts(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3.1") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        for _ in range(3):
            client = connect(httpd.port, "3.1")
            assert client.get("/page.html").status == "200 OK"
            plain = http.client.HTTPConnection("127.0.0.1", httpd.port, timeout=60)
            plain.request("GET", "/page.html")
            assert plain.getresponse().read() == b"<p>page</p>"
            children = set(httpd.children())
            httpd.graceful_restart()
            client.until_closed()
            httpd.wait(lambda children=children: set(httpd.children()) - children)
            client.close()
            plain.close()
