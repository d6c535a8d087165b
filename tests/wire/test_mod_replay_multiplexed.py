"""mod_replay over HTTP/2, as curl asks, and over SPDY: every recorded answer comes back as it was."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.programs.find_program import find
from lanelab.driver.site.site import StoredObject
from tests.wire.recorded_objects import BIG, MODIFIED, OBJECTS, SENT, curl

from .replaying import Replay, pack_of, replaying, site_of
from .spdy_client import SpdyClient, connect


@pytest.fixture(scope="module")
def h2(apache: Path, module_tools: None) -> Iterator[Replay]:
    assert module_tools is None
    settings = {"tls": "1.3", "protocol": "h2"}
    with replaying(apache, site_of(OBJECTS), pack_of(OBJECTS), settings) as replay:
        yield replay
        assert not replay.unexpected()


def test_http2_keeps_all_headers_in_their_order(h2: Replay) -> None:
    status, headers, body = curl(h2, "a.test/")
    assert (status, body) == ("HTTP/2 200 ", b"hello")
    assert headers == [(name.lower(), value) for name, value in SENT]


@pytest.mark.parametrize("each", [each for each in OBJECTS if each.object.method == "GET"], ids=lambda e: e.object.path)
def test_http2_serves_every_object(h2: Replay, each: StoredObject) -> None:
    status, headers, body = curl(h2, each.object.url, "--globoff")
    assert (status, body) == (f"HTTP/2 {each.object.status} ", each.body)
    wanted = [(name.lower(), value) for name, value in each.object.headers if name == "Set-Cookie"]
    assert [pair for pair in headers if pair[0] == "set-cookie"] == wanted


def test_http2_heads_ranges_and_posts(h2: Replay) -> None:
    assert curl(h2, "a.test/", "--head")[1] == curl(h2, "a.test/")[1]
    assert curl(h2, "a.test/big", "-r", "7-9")[::2] == ("HTTP/2 206 ", BIG[7:10])
    assert curl(h2, "a.test/post", "-d", "a=2")[::2] == ("HTTP/2 200 ", b"two")
    assert curl(h2, "a.test/beacon", "-d", "x" * 100_000)[0] == "HTTP/2 204 "
    assert curl(h2, "a.test/nowhere")[::2] == ("HTTP/2 404 ", b"not in the record\n")
    assert curl(h2, "a.test/", "-H", 'If-None-Match: "odd"')[0] == "HTTP/2 304 "


def most_memory_bytes(replay: Replay) -> int:
    """Of that of its processes which had most."""
    main = int((replay.folder / "httpd.pid").read_text())
    children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in children]
    return max(int(text.partition("VmHWM:")[2].split()[0]) * 1024 for text in texts)


def test_http2_holds_no_copies_of_large_bodies(apache: Path, module_tools: None) -> None:
    """As many streams as would need their bodies' bytes many times over, and all of them at once from one file."""
    program = find("h2load")
    if program is None:
        pytest.skip("missing: h2load")
    assert module_tools is None
    streams, settings = 24, {"tls": "1.3", "protocol": "h2", "mpm": "event", "via": "gateway"}
    with replaying(apache, site_of(OBJECTS), pack_of(OBJECTS), settings) as replay:
        argv = [f"-n{streams}", "-c1", f"-m{streams}", "-w16", "-H", ":authority: a.test"]
        url = f"https://127.0.0.1:{replay.ports['https']}/big"
        before = most_memory_bytes(replay)
        done = subprocess.run([str(program), *argv, url], capture_output=True, text=True, check=True, timeout=300)
        assert f"{streams} succeeded" in done.stdout
        assert most_memory_bytes(replay) - before < len(BIG) * streams / 2
        assert not replay.unexpected()


# ---- SPDY ----


@pytest.fixture(scope="module", params=["off", "1.3"], ids=["clear", "TLS"])
def spdy(request: pytest.FixtureRequest, apache: Path, module_tools: None) -> Iterator[SpdyClient]:
    assert module_tools is None
    settings = {"tls": request.param, "protocol": "spdy/3.1"}
    with replaying(apache, site_of(OBJECTS), pack_of(OBJECTS), settings) as replay:
        (port,) = replay.ports.values()
        client = connect(port, "3.1", tls=request.param != "off")
        yield client
        client.close()
        assert not replay.unexpected()


@pytest.mark.parametrize("each", [each for each in OBJECTS if each.object.method == "GET"], ids=lambda e: e.object.path)
def test_spdy_serves_every_object(spdy: SpdyClient, each: StoredObject) -> None:
    response = spdy.get(each.object.path, host=each.object.host)
    assert response.status == f"{each.object.status} {each.object.reason}"
    assert response.body == each.body
    wanted = [value for name, value in each.object.headers if name == "Set-Cookie"]
    assert response.headers.get("set-cookie", "").split("\0") == (wanted or [""])


def test_spdy_heads_ranges_and_posts(spdy: SpdyClient) -> None:
    head = spdy.get("/", host="a.test", method="HEAD")
    assert (head.body, head.headers["server"], head.headers["date"]) == (b"", "gws", MODIFIED)
    part = spdy.get("/big", host="a.test", headers=[("range", "bytes=7-9")])
    assert (part.status, part.body) == ("206 Partial Content", BIG[7:10])
    stream = spdy.request("/post", host="a.test", method="POST", headers=[("content-length", "3")], fin=False)
    spdy.data(stream, b"a=2", fin=True)
    assert spdy.response(stream).body == b"two"
    assert spdy.get("/nowhere", host="a.test").status == "404 Not Found"
