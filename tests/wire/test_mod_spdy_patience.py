"""What mod_spdy waits for, and for how long: windows, bodies, clients that do not read, or drip, or only say hello."""

import contextlib
import hashlib
import os
import random
import select
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .httpd import Module, running
from .spdy_client import GOAWAY, INITIAL_WINDOW, Closed, SpdyClient, connect

CANCEL, INTERNAL_ERROR = 5, 6  # of RST_STREAM
PROTOCOL_ERROR = 1  # of GOAWAY
ECHO = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec md5sum\n"
NEVER_READS = b"#!/bin/sh\nsleep 5\nprintf 'Content-Type: text/plain\\n\\ndone\\n'\n"
MUCH = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec head -c 300000 /dev/zero 2>/dev/null\n"
ENDLESS = b"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec cat /dev/zero 2>/dev/null\n"


def undecided(client: SpdyClient, stream: int) -> bool:
    response = client.responses[stream]
    return not response.ended and response.reset is None


def md5(data: bytes) -> bytes:
    return hashlib.md5(data).hexdigest().encode()  # noqa: S324


# Windows


def test_gives_up_what_the_sessions_window_is_never_given_for(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyEnabled on\nTimeout 1") as httpd:
        httpd.put("large", bytes(3 << 20))
        client = connect(httpd.tls_port, "3.1", tls=True, window_updates=False)
        client.set({INITIAL_WINDOW: 0x7FFFFFFF})
        response = client.response(client.request("/large"))
        assert (response.reset, len(response.body)) == (CANCEL, 65536)
        assert httpd.access(1)[0]["state"] == "X"
        client.close()


def test_spares_what_is_only_less_urgent(apache: Path, spdy_module: Module) -> None:
    """The client takes what it is given, slowly, and all of it belongs to another stream for longer than Timeout."""
    with running(apache, spdy_module, "SpdyEnabled on\nTimeout 4") as httpd:
        httpd.put("large", bytes(16 << 20))
        httpd.put("cgi/much", MUCH)
        client = connect(httpd.tls_port, "3.1", tls=True, window_updates=False)
        client.set({INITIAL_WINDOW: 1 << 30})
        urgent = client.request("/large", priority=0)
        patient = client.request("/cgi/much", priority=7)
        client.until(lambda: bool(client.responses[patient].headers))
        begun = time.monotonic()
        while time.monotonic() - begun < 6:
            client.window_update(0, 8192)
            client.settle(0.05)
        assert client.responses[patient].reset is None
        assert len(client.responses[urgent].body) < 16 << 20, "it was not sent at once"
        client.window_update(0, 1 << 30)
        assert client.response(patient).body == bytes(300000)
        client.close()


# Clients that do not read


def test_ends_a_session_of_nothing_but_bad_requests(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 3.1") as httpd:
        client = connect(httpd.port, "3.1")
        with contextlib.suppress(Closed):
            for _ in range(5000):
                client.syn_stream([])
        with contextlib.suppress(Closed):
            client.until_closed()
        assert sum(response.status.startswith("400") for response in client.responses.values()) < 5000
        assert client.goaway is None or client.goaway.status == PROTOCOL_ERROR  # a reset may overtake it
        client.close()


class Deaf(SpdyClient):
    """Never reads while it sends. `rest`: what the server did not take."""

    rest = b""

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view and not self.rest:
            try:
                view = view[self.sock.send(view) :]
            except BlockingIOError:
                if not select.select([], [self.sock], [], 3)[1]:
                    self.rest = bytes(view)


def test_does_not_listen_to_a_client_that_does_not_read(apache: Path, spdy_module: Module) -> None:
    """Each request is answered at once, by a few bytes that wait for the client; later it gets all of them."""
    directives = "SpdyCleartext 3.1\nTimeout 300\nSpdyMaxStreamsPerConnection 5000"
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        sock = connect(httpd.port, "3.1", receive_buffer_bytes=4096).sock
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        client, chance, most = Deaf(sock, "3.1"), random.Random(6), 40000
        while not client.rest and len(client.responses) < most:
            client.request("/page.html", method="HEAD", headers=[("x-noise", chance.randbytes(600).hex())])
        assert len(client.responses) < most
        rest, client.rest = client.rest, b""
        SpdyClient.send(client, rest)
        client.until(lambda: not any(undecided(client, stream) for stream in client.responses))
        assert {response.reset for response in client.responses.values()} == {None}
        client.close()


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fill(sock: socket.socket, data: bytes) -> None:
    """As much of it as is taken at the other end and on the way."""
    view = memoryview(data)
    while view and select.select([], [sock], [], 1)[1]:
        with contextlib.suppress(BlockingIOError):
            view = view[sock.send(view) :]


def test_a_client_that_vanishes_while_it_is_not_read_costs_nothing(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyCleartext 2\nSpdySessionWindow 65536") as httpd:
        httpd.expect("cgid:error|cgid:warn")
        httpd.put("cgi/never-reads", NEVER_READS)
        (child,) = httpd.children()
        client = connect(httpd.port, "2")
        stream = client.request("/cgi/never-reads", method="POST", fin=False)
        fill(client.sock, 512 * (struct.pack(">II", stream, 16384) + bytes(16384)))
        before = cpu_s(child)
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        assert httpd.access(1)[0]["state"] == "X"
        assert cpu_s(child) - before < 1.5, "some 4 s passed until the script ended"


# Bodies


def session_room(client: SpdyClient, sent: int) -> int:
    return 65536 + sum(frame.status for frame in client.frames if frame.kind == 9 and frame.stream == 0) - sent


@pytest.mark.parametrize("version", ["2", "3", "3.1"])
def test_bodies_that_wait_for_a_thread_stop_no_other(apache: Path, spdy_module: Module, version: str) -> None:
    directives = f"SpdyCleartext {version}\nTimeout 300\nSpdyMaxThreadsPerProcess 1\nSpdyMinThreadsPerProcess 1"
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("cgi/echo", ECHO)
        client = connect(httpd.port, version)
        first = client.request("/cgi/echo", method="POST", priority=0, fin=False)
        client.until(lambda: bool(client.frames))
        client.settle()
        others = [client.request("/cgi/echo", method="POST", priority=3, fin=False) for _ in range(6)]
        sent = 0
        for stream in others:
            for at in range(0, 65536, 16384):
                sent += 16384
                if version == "3.1":
                    client.until(lambda sent=sent: session_room(client, sent) >= 0)  # type: ignore[misc]
                client.data(stream, bytes(16384), fin=at == 65536 - 16384)
        if version == "3.1":
            client.until(lambda: session_room(client, sent) >= 1000)
        client.data(first, b"x" * 1000, fin=True)
        assert client.response(first).body.split()[0] == md5(b"x" * 1000)
        for stream in others:
            assert client.response(stream).body.split()[0] == md5(bytes(65536))
        client.close()


def drip(client: SpdyClient, stream: int, times: int) -> int:
    """A byte at a time, until the server has had enough."""
    for number in range(times):
        if not undecided(client, stream):
            return number
        client.data(stream, b"x")
        client.settle(0.1)
    return times


@pytest.mark.parametrize("directives", ["", "SpdyMinBodyRate 0"], ids=["default", "without-a-rate"])
def test_a_body_has_to_bring_some_bytes_per_second(apache: Path, spdy_module: Module, directives: str) -> None:
    with running(apache, spdy_module, f"SpdyEnabled on\nTimeout 3\n{directives}") as httpd:
        httpd.expect("cgid:error.*AH01270: Error reading request entity")
        httpd.expect("cgid:warn|cgid:error.*timeout|timeout.*cgid")
        httpd.expect("^md5sum: -: Connection reset by peer")
        httpd.put("cgi/echo", ECHO)
        client = connect(httpd.tls_port, "3.1", tls=True)
        stream = client.request("/cgi/echo", method="POST", fin=False)
        if directives:
            begun, sent = time.monotonic(), 0
            while time.monotonic() - begun < 5:
                sent += drip(client, stream, 5)
            client.data(stream, b"", fin=True)
            assert client.response(stream).body.split()[0] == md5(b"x" * sent)
        else:
            assert drip(client, stream, 500) < 500
            assert client.responses[stream].status.startswith("408")
        client.close()


def test_logs_once_what_is_given_up_while_its_handler_runs(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyEnabled on") as httpd:
        httpd.put("cgi/endless", ENDLESS)
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.tls_port, "3.1", tls=True)
        for _ in range(5):
            stream = client.request("/cgi/endless")
            client.until(lambda stream=stream: len(client.responses[stream].body) > 100000)  # type: ignore[misc]
            client.reset(stream)
        lines = httpd.access(5)
        assert client.get("/page.html").status == "200 OK"
        assert [(line["state"], line["out"] > 100000) for line in lines] == [("X", True)] * 5
        assert len(httpd.access(6)) == 6
        client.close()


@pytest.mark.parametrize("path", ["/large", "/page.shtml"])
def test_resets_a_file_that_became_shorter(apache: Path, spdy_module: Module, path: str) -> None:
    """In whatever pieces it comes from its handler: a part of a page comes before the page's end."""
    pages = "<Location />\nOptions +Includes\nAddOutputFilter INCLUDES .shtml\n</Location>"
    with running(apache, spdy_module, f"SpdyEnabled on\n{pages}") as httpd:
        httpd.expect("the rest of its response cannot be read")
        httpd.put("large", bytes(1 << 20))
        httpd.put("page.shtml", b'<!--#include virtual="/large" -->')
        client = connect(httpd.tls_port, "3.1", tls=True, window_updates=False)
        stream = client.request(path)
        client.until(lambda: len(client.responses[stream].body) == 65536)
        os.truncate(httpd.site / "large", 65536)
        client.window_update(stream, 1 << 20)
        client.window_update(0, 1 << 20)
        assert client.response(stream).reset == INTERNAL_ERROR
        client.close()


def test_resets_a_stream_without_window_though_the_clock_was_set_back(apache: Path, spdy_module: Module) -> None:
    with (
        preloading(spdy_module, "clock_set_back", "CLOCK_SET_BACK") as module,
        running(apache, module, "SpdyEnabled on\nTimeout 3") as httpd,
    ):
        httpd.put("large", bytes(1 << 20))
        client = connect(httpd.tls_port, "3.1", tls=True, window_updates=False)
        stream = client.request("/large")
        client.until(lambda: len(client.responses[stream].body) == 65536)
        Path(module.environment["CLOCK_SET_BACK"]).touch()
        assert client.response(stream).reset == CANCEL
        client.close()


# Disks


@pytest.fixture
def slow_disk(spdy_module: Module) -> Iterator[Module]:
    """mod_spdy in an httpd for which some files are on a slow disk: tests/wire/slow_disk.c."""
    with preloading(spdy_module, "slow_disk", "SLOW_DISK_GO") as module:
        yield module


@contextlib.contextmanager
def preloading(module: Module, name: str, mark: str) -> Iterator[Module]:
    """It in an httpd with this library, which looks at the file that the variable `mark` names."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # httpd's processes are another user's
        library = f"{folder}/{name}.so"
        source = Path(__file__).with_name(f"{name}.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        before = module.environment.get("LD_PRELOAD", "")
        environment = {"LD_PRELOAD": f"{before} {library}".strip(), mark: f"{folder}/mark"}
        yield Module(module.path, {**module.environment, **environment})


def test_a_slow_disk_stops_no_other_stream(apache: Path, slow_disk: Module) -> None:
    with running(apache, slow_disk, "SpdyEnabled on\nEnableMMAP off") as httpd:
        content = bytes(range(256)) * 4096
        httpd.put("content.slow", content)
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.tls_port, "3.1", tls=True)
        slow = client.request("/content.slow", priority=0)
        client.until(lambda: bool(client.responses[slow].headers))
        given_up = client.request("/content.slow", priority=1)
        client.until(lambda: bool(client.responses[given_up].headers))
        assert client.get("/page.html", priority=7).body == b"<p>page</p>"
        client.reset(given_up)
        assert client.get("/page.html", priority=7).body == b"<p>page</p>"
        assert client.responses[slow].body == b""
        Path(slow_disk.environment["SLOW_DISK_GO"]).touch()
        assert client.response(slow).body == content
        assert sorted(line["state"] for line in httpd.access(4)) == ["+", "+", "+", "X"]
        client.close()


# Pushes

PUSHED = ", ".join(rf"\"/style.css?{n}\":1" for n in range(32))
PUSHES = f'Header set X-Associated-Content "{PUSHED}"'


def test_pushes_take_no_place_from_requests(apache: Path, spdy_module: Module) -> None:
    """The client takes none of them to its end."""
    directives = (
        f"SpdyCleartext 3.1\nSpdyPush on\nSpdyMaxStreamsPerConnection 5\n<Location /page.html>\n{PUSHES}\n</Location>"
    )
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        httpd.put("style.css", bytes(1000))
        client = connect(httpd.port, "3.1", window_updates=False)
        client.set({INITIAL_WINDOW: 100})
        for _ in range(10):
            assert client.get("/page.html").body == b"<p>page</p>"
        assert 1 <= len(client.pushed) <= 5
        client.close()


def test_pushes_end_when_the_client_goes_away(apache: Path, spdy_module: Module) -> None:
    """And what it asked for goes on."""
    header = 'Header set X-Associated-Content "\\"/style.css\\":1"'
    directives = f"SpdyCleartext 3.1\nSpdyPush on\nTimeout 300\n<Location /page.html>\n{header}\n</Location>"
    with running(apache, spdy_module, directives) as httpd:
        httpd.put("page.html", bytes(1000))
        httpd.put("style.css", bytes(1000))
        client = connect(httpd.port, "3.1", window_updates=False)
        client.set({INITIAL_WINDOW: 100})
        page = client.request("/page.html")
        client.until(lambda: bool(client.pushed) and all(len(r.body) == 100 for r in client.responses.values()))
        client.control(GOAWAY, struct.pack(">II", 0, 0))
        (line,) = httpd.access(1)
        assert (line["pushed"], line["state"]) == ("1", "X")
        client.window_update(page, 1000)
        assert client.response(page).body == bytes(1000)
        client.until_closed()
        client.close()


# Beginnings and pauses


def test_part_of_a_beginning_holds_no_thread_for_long(apache: Path, spdy_module: Module) -> None:
    directives = "SpdyCleartext 3.1\nTimeout 300\nRequestReadTimeout header=1"
    with running(apache, spdy_module, directives) as httpd:
        sock = socket.create_connection(("127.0.0.1", httpd.port), 60)
        sock.sendall(b"\x80\x03")
        assert sock.recv(100)[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 408", b""}
        sock.close()


def ping_until(so: Callable[[], bool], client: SpdyClient) -> int:
    for number in range(300):
        if so():
            return number
        with contextlib.suppress(Closed):
            client.ping()
            client.settle(0.2)
    return 300


@pytest.mark.parametrize("mpm", ["event", "worker"])
def test_pings_keep_no_session_alive(apache: Path, spdy_module: Module, mpm: str) -> None:
    with running(apache, spdy_module, "SpdyEnabled on\nKeepAliveTimeout 1", mpm=mpm) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.tls_port, "3.1", tls=True)
        assert client.get("/page.html").status == "200 OK"
        assert ping_until(lambda: client.closed, client) < 300
        assert client.goaway is not None
        assert client.goaway.status == 0
        client.close()
