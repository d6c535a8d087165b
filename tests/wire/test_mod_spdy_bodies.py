"""Bodies through mod_spdy, both ways: scripts, proxied servers, uploads, windows, priorities, resets, pushes."""

import contextlib
import hashlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from .httpd import Httpd, Module, running
from .spdy_client import INITIAL_WINDOW, SpdyClient, connect

VERSIONS = ("2", "3", "3.1")
ECHO = b"""#!/bin/sh
printf 'Content-Type: text/plain\\r\\nX-Length: %s\\r\\n\\r\\n' "${CONTENT_LENGTH-none}"
exec md5sum
"""
SLOW = b"""#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\nfirst\\n'
while [ ! -e "$(dirname "$0")/../go-on" ]; do sleep 0.05; done
echo second
"""
UPLOAD = hashlib.sha256(b"lanelab").digest() * 40000  # 1.28 MB


@pytest.fixture(scope="module")
def backend() -> Iterator[int]:
    """An HTTP/1.1 server to be proxied: /early sends an interim response first, /broken ends in the middle, /chunked
    has no length, and any other path tells the request's body and transfer-encoding."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(60)


def _serve(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as reader:
                connection.sendall(_answer(reader))


def _answer(reader: BinaryIO) -> bytes:
    line, headers = next(reader).decode(), {}
    while (field := next(reader).strip()) != b"":
        name, value = field.decode().split(":", 1)
        headers[name.lower()] = value.strip()
    path = line.split()[1]
    body = _chunked(reader) if "transfer-encoding" in headers else reader.read(int(headers.get("content-length", 0)))
    if path == "/backend/early":
        return b"HTTP/1.1 103 Early Hints\r\nLink: </x.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
    if path == "/backend/broken":
        return b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 50000
    if path == "/backend/chunked":
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        return head + b"5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n"
    told = f"{hashlib.md5(body).hexdigest()} {headers.get('transfer-encoding', '-')}".encode()  # noqa: S324
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(told), told)


def _chunked(reader: BinaryIO) -> bytes:
    body = b""
    while size := int(next(reader), 16):
        body += reader.read(size)
        reader.read(2)
    next(reader)
    return body


@pytest.fixture(scope="module")
def server(apache: Path, spdy_module: Module, backend: int) -> Iterator[Httpd]:
    directives = f"""
SpdyEnabled on
SpdyPush on
ProxyPass /backend/ http://127.0.0.1:{backend}/backend/ disablereuse=on
<Location /cgi/small>
    LimitRequestBody 1000
</Location>
<Location /pushing.html>
    Header set X-Associated-Content '"/style.css":3, "/cgi/echo", "/style.css", "http://elsewhere.example/x.css"'
</Location>
"""
    with running(apache, spdy_module, directives) as httpd:
        httpd.expect(r"\[cgid:error\].* (AH02651|AH01270): Error (writing|reading) request (body|entity)")
        httpd.expect(r"^md5sum: -: Connection reset by peer|proxy_http:error.* AH01110: error reading response")
        for name, script in {"echo": ECHO, "small": ECHO, "slow": SLOW}.items():
            httpd.put(f"cgi/{name}", script)
        httpd.put("large", bytes(range(256)) * 8192)
        httpd.put("page.html", b"<p>page</p>")
        httpd.put("pushing.html", b"<p>pushing</p>")
        httpd.put("style.css", b"p { }")
        yield httpd


@pytest.fixture(params=VERSIONS)
def client(request: pytest.FixtureRequest, server: Httpd) -> Iterator[SpdyClient]:
    client = connect(server.tls_port, request.param, tls=True)
    yield client
    client.close()


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()  # noqa: S324


def post(client: SpdyClient, path: str, body: bytes, *, length: int | None) -> int:
    """In pieces, within the windows that the server has given."""
    headers = [] if length is None else [("content-length", str(length))]
    stream = client.request(path, method="POST", headers=headers, fin=not body)
    window = Window(client, stream)
    for at in range(0, len(body), 4096):
        piece = body[at : at + 4096]
        window.wait_for(len(piece))
        if client.responses[stream].ended or client.responses[stream].reset is not None:
            break
        client.data(stream, piece, fin=at + 4096 >= len(body))
    return stream


class Window:
    """What the server lets us send on a stream, counted from its frames."""

    def __init__(self, client: SpdyClient, stream: int) -> None:
        self.client, self.stream, self.sent = client, stream, 0
        client.until(lambda: bool(client.frames))

    def wait_for(self, count: int) -> None:
        client = self.client
        if client.version != "2":
            client.until(lambda: self._room() >= count or client.responses[self.stream].ended or self._reset())
        self.sent += count

    def _reset(self) -> bool:
        return self.client.responses[self.stream].reset is not None

    def _room(self) -> int:
        updates = [frame for frame in self.client.frames if frame.kind == 9]
        stream = client_window(self.client) + sum(f.status for f in updates if f.stream == self.stream) - self.sent
        if self.client.version != "3.1":
            return stream
        session = 65536 + sum(frame.status for frame in updates if frame.stream == 0) - self.sent
        return min(stream, session)


def client_window(client: SpdyClient) -> int:
    return client.settings.get(INITIAL_WINDOW, 65536)


@pytest.mark.parametrize("length", [len(UPLOAD), None], ids=["with-length", "without-length"])
def test_gives_a_script_the_body(client: SpdyClient, length: int | None) -> None:
    response = client.response(post(client, "/cgi/echo", UPLOAD, length=length))
    assert response.status == "200 OK"
    assert response.body.decode().split()[0] == md5(UPLOAD)
    assert response.headers["x-length"] == ("none" if length is None else str(length))


@pytest.mark.parametrize("length", [len(UPLOAD), None], ids=["with-length", "without-length"])
def test_gives_a_proxied_server_the_body(client: SpdyClient, length: int | None) -> None:
    response = client.response(post(client, "/backend/echo", UPLOAD, length=length))
    assert response.body.decode() == f"{md5(UPLOAD)} {'chunked' if length is None else '-'}"


def test_an_empty_body_is_none(client: SpdyClient) -> None:
    assert client.response(post(client, "/cgi/echo", b"", length=0)).body.decode().split()[0] == md5(b"")


def test_drops_a_body_that_nobody_reads(client: SpdyClient) -> None:
    response = client.response(post(client, "/page.html", UPLOAD, length=len(UPLOAD)))
    assert response.body == b"<p>page</p>"
    assert client.get("/page.html").body == b"<p>page</p>"


@pytest.mark.parametrize("length", [5000, None], ids=["with-length", "without-length"])
def test_limits_bodies_as_httpd_is_told(client: SpdyClient, length: int | None) -> None:
    response = client.response(post(client, "/cgi/small", b"x" * 5000, length=length))
    assert response.status.startswith("413")
    assert client.get("/page.html").body == b"<p>page</p>"


@pytest.mark.parametrize("length", [10, 30000])
def test_refuses_a_body_of_another_length(client: SpdyClient, length: int) -> None:
    response = client.response(post(client, "/cgi/echo", b"x" * 20000, length=length))
    assert response.reset is not None or response.status.startswith("400"), response
    assert client.get("/page.html").body == b"<p>page</p>"


def test_sends_a_scripts_words_as_they_come(client: SpdyClient, server: Httpd) -> None:
    go_on = server.site / "go-on"
    go_on.unlink(missing_ok=True)
    stream = client.request("/cgi/slow")
    response = client.responses[stream]
    client.until(lambda: response.body == b"first\n")
    assert client.get("/page.html").body == b"<p>page</p>", "others do not wait"
    go_on.touch()
    assert client.response(stream).body == b"first\nsecond\n"
    assert "content-length" not in response.headers


def test_passes_a_proxied_response_on(client: SpdyClient) -> None:
    response = client.get("/backend/chunked")
    assert response.body == b"abcdefgh"
    assert "transfer-encoding" not in response.headers


def test_leaves_interim_responses_out(client: SpdyClient) -> None:
    response = client.get("/backend/early")
    assert (response.status, response.body) == ("200 OK", b"late")


def test_resets_a_stream_whose_backend_ends_in_the_middle(client: SpdyClient) -> None:
    response = client.get("/backend/broken")
    assert response.reset == 6, "INTERNAL_ERROR; a FIN would say that this was all"
    assert not response.ended
    assert client.get("/page.html").body == b"<p>page</p>"


@pytest.mark.parametrize("version", ["3", "3.1"])
def test_keeps_to_a_tiny_window(server: Httpd, version: str) -> None:
    client = connect(server.tls_port, version, tls=True, window_updates=False)
    client.set({INITIAL_WINDOW: 1000})
    stream = client.request("/large")
    response = client.responses[stream]
    client.until(lambda: len(response.body) >= 1000)
    client.settle()
    assert len(response.body) == 1000
    assert client.get("/page.html").body == b"<p>page</p>", "others have windows of their own"
    for _ in range(50):
        before = len(response.body)
        client.window_update(stream, 17)
        client.until(lambda before=before: len(response.body) >= before + 17)  # type: ignore[misc]
    assert response.body == (bytes(range(256)) * 8192)[: 1000 + 50 * 17]
    client.close()


def test_keeps_to_the_sessions_window(server: Httpd) -> None:
    client = connect(server.tls_port, "3.1", tls=True, window_updates=False)
    client.set({INITIAL_WINDOW: 1 << 24})
    first, second = client.request("/large"), client.request("/large")
    client.until(lambda: sum(len(client.responses[s].body) for s in (first, second)) >= 65536)
    client.settle()
    assert sum(len(client.responses[s].body) for s in (first, second)) == 65536
    client.window_update(0, 1 << 24)
    assert client.response(first).body == client.response(second).body == bytes(range(256)) * 8192
    client.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_sends_the_more_urgent_first(server: Httpd, version: str) -> None:
    """Three large responses stand ready; none may be sent before all are."""
    client = connect(server.tls_port, version, tls=True, window_updates=False)
    client.set({INITIAL_WINDOW: 0})
    lowest = 3 if version == "2" else 7
    streams = [client.request("/large", priority=priority) for priority in (lowest, 1, 0)]
    client.until(lambda: all(client.responses[stream].headers for stream in streams))
    if version != "2":
        client.settle()
        client.window_update(0, 1 << 26) if version == "3.1" else None
        client.set({INITIAL_WINDOW: 1 << 26})
    for stream in streams:
        client.response(stream)
    order = [frame.stream for frame in client.frames if frame.kind == 0]
    last = {stream: max(at for at, each in enumerate(order) if each == stream) for stream in streams}
    assert last[streams[2]] < last[streams[1]] < last[streams[0]]
    if version != "2":
        assert order == sorted(order, reverse=True), "one after the other"
    client.close()


def test_goes_on_after_a_reset(client: SpdyClient, server: Httpd) -> None:
    for _ in range(20):
        stream = client.request("/large?given-up")
        client.until(lambda stream=stream: bool(client.responses[stream].headers))  # type: ignore[misc]
        client.reset(stream)
    assert client.get("/large").body == bytes(range(256)) * 8192
    server.wait(lambda: any("given-up" in line["request"] and line["state"] == "X" for line in server.access()))


@pytest.mark.parametrize("version", ["3", "3.1"])
def test_pushes_what_belongs_to_a_page(server: Httpd, version: str) -> None:
    client = connect(server.tls_port, version, tls=True)
    response = client.get("/pushing.html", scheme="https", priority=1)
    client.until(lambda: len(client.pushed) == 2 and all(client.responses[s].ended for s in client.pushed))
    assert "x-associated-content" not in response.headers
    assert response.body == b"<p>pushing</p>"
    pushed = {frame.headers[":path"]: frame for frame in client.pushed.values()}
    assert pushed.keys() == {"/style.css", "/cgi/echo"}
    style = pushed["/style.css"]
    assert (style.associated, style.flags, style.stream % 2) == (1, 2, 0)
    assert style.headers == {":path": "/style.css", ":scheme": "https", ":host": "a.example"}
    assert style.payload[8] >> 5 == 3, "the priority that the header names"
    assert client.responses[style.stream].body == b"p { }"
    assert client.responses[style.stream].status == "200 OK"
    server.wait(lambda: any(line["pushed"] == "1" and "style" in line["request"] for line in server.access()))
    client.close()


def test_never_pushes_in_spdy_2(server: Httpd) -> None:
    client = connect(server.tls_port, "2", tls=True)
    assert "x-associated-content" not in client.get("/pushing.html").headers
    client.settle()
    assert not client.pushed
    client.close()
