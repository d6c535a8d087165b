"""mod_replay in a real httpd: every recorded answer comes back as it was, over HTTP/1.1."""

import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.site.site import Headers
from tests.wire.recorded_objects import BIG, COOKIE, MODIFIED, OBJECTS, SENT, curl, fields

from .httpd import running
from .replaying import Answer, Refused, Replay, ask, pack_of, receive, replaying, site_of, stored


@pytest.fixture(scope="module")
def server(apache: Path, module_tools: None) -> Iterator[Replay]:
    assert module_tools is None
    with replaying(apache, site_of(OBJECTS), pack_of(OBJECTS)) as replay:
        yield replay
        assert not replay.unexpected()


def get(server: Replay, url: str, headers: Headers = (), method: str = "GET", body: bytes = b"") -> Answer:
    with server.connect() as line:
        return ask(line, method, url, headers, body)


def match_of(server: Replay, line: socket.socket, method: str, url: str, body: bytes = b"") -> tuple[bytes, str | None]:
    """What this request is answered with, and what the log of requests says of it."""
    host, _, path = url.partition("/")
    local = "{}:{}".format(*line.getsockname())
    answer = ask(line, method, url, body=body)
    until = time.monotonic() + 60  # it is logged when it was sent, which may be a moment after it is here
    while time.monotonic() < until:
        found = [each for each in server.served(0) if each.remote == local and each.path == f"/{path}"]
        if found:
            assert (found[-1].host, found[-1].status) == (host, int(answer.line.split(" ")[1]))
            return answer.body, found[-1].match
    raise AssertionError(f"{url} is not in the log")


def test_the_whole_head_comes_as_it_was(server: Replay) -> None:
    answer = get(server, "a.test/")
    assert answer.line == "HTTP/1.1 200 OK"
    assert answer.headers[:2] == (("Date", MODIFIED), ("Server", "gws"))  # Apache writes these first
    assert fields(answer) == [pair for pair in SENT if pair[0] not in ("Date", "Server")]
    assert answer.body == b"hello"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("empty", "200 OK"), ("gone", "410 Gone For Good"), ("silent", "500 "), ("strange", "999 Request denied"),
        ("moved", "302 Found"), ("nothing", "204 No Content"), ("same", "304 Not Modified"),
        ("part", "206 Partial Content"), ("untyped", "200 OK"),
    ],
)  # fmt: skip
def test_statuses_come_as_they_were(server: Replay, name: str, line: str) -> None:
    (there,) = [each for each in OBJECTS if each.object.url == f"a.test/{name}"]
    answer = get(server, f"a.test/{name}")
    assert answer.line == f"HTTP/1.1 {line}"
    length = [("Content-Length", str(len(there.body)))] if there.object.status not in (204, 304) else []
    closes = [("Connection", "close")] if there.object.status == 500 else []  # Apache does so after some statuses
    assert fields(answer) == [*there.object.headers, *length, *closes]
    assert answer.body == there.body


def test_one_connection_serves_them_all(server: Replay) -> None:
    """Each answer ends where it says: otherwise the next one would begin in its middle."""
    with server.connect() as line:
        for each in OBJECTS:
            if each.object.method == "GET" and each.object.status != 500:
                assert ask(line, "GET", each.object.url).body == each.body, each.object.url


def test_requests_may_wait_for_each_other_on_a_connection(server: Replay) -> None:
    with server.connect() as line:
        line.sendall(
            b"".join(b"GET /%s HTTP/1.1\r\nHost: a.test\r\n\r\n" % name for name in (b"nothing", b"gone", b""))
        )
        assert [receive_one(line) for _ in range(3)] == [204, 410, 200]


def receive_one(line: socket.socket) -> int:
    """Reads no further than this answer."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        data += line.recv(1)
    length = re.search(rb"(?i)content-length: (\d+)", data)
    for _ in range(int(length[1]) if length else 0):
        line.recv(1)
    return int(data.split(b" ")[1])


def test_without_recorded_headers_it_is_sent_as_a_file_is(server: Replay) -> None:
    answer = get(server, "a.test/plain.txt")
    assert [name for name, _ in answer.headers] == [
        "Date", "Server", "Last-Modified", "ETag", "Accept-Ranges", "Content-Length", "Content-Type",
    ]  # fmt: skip
    # Apache's own: size and time in microseconds, in hexadecimal digits.
    assert answer.one("ETag") == f'"{100:x}-{1577836800_000000:x}"'
    assert answer.one("Last-Modified") == "Wed, 01 Jan 2020 00:00:00 GMT"
    assert answer.one("Content-Type") == "text/plain"
    assert (answer.one("Server") or "").startswith("Apache/2.4")


@pytest.mark.parametrize("accepts", [(), (("Accept-Encoding", "gzip"),)], ids=["plain", "gzip"])
def test_apache_gives_a_file_the_same_head_and_body(server: Replay, apache: Path, accepts: Headers) -> None:
    with running(apache, None, "AddOutputFilterByType DEFLATE text/css", processes=3) as httpd:
        for name in ("plain.txt", "plain.css"):
            (there,) = [each for each in OBJECTS if each.object.url == f"a.test/{name}"]
            httpd.put(name, there.body)
            os.utime(httpd.site / name, (1577836800, 1577836800))
            with socket.create_connection(("127.0.0.1", httpd.port)) as line:
                file = ask(line, "GET", f"a.test/{name}", accepts)
            ours = get(server, f"a.test/{name}", accepts)
            assert (ours.line, ours.body) == (file.line, file.body)
            differ = ("Date", "Server")  # modules are loaded there that name themselves
            assert [pair if pair[0] not in differ else pair[0] for pair in ours.headers] == [
                pair if pair[0] not in differ else pair[0] for pair in file.headers
            ]


def test_a_head_has_the_gets_head(server: Replay) -> None:
    assert get(server, "a.test/", method="HEAD").headers == get(server, "a.test/").headers
    assert get(server, "a.test/asked", method="HEAD").one("Content-Length") == "77"
    assert get(server, "a.test/gone", method="HEAD").line == "HTTP/1.1 410 Gone For Good"


def test_other_methods_are_answered_from_the_record_alone(server: Replay) -> None:
    assert get(server, "a.test/asked", method="OPTIONS").one("Allow") == "GET"
    for method in ("OPTIONS", "PUT", "DELETE", "PROPFIND"):
        assert get(server, "a.test/plain.txt", method=method, body=b"x").line == "HTTP/1.1 404 Not Found"
    assert get(server, "a.test/asked").line == "HTTP/1.1 404 Not Found"


def test_a_posts_body_decides(server: Replay) -> None:
    for body, wanted, match in ((b"a=1", b"one", "exact"), (b"a=2", b"two", "exact"), (b"a=3", b"one", "nearest")):
        with server.connect() as line:
            assert match_of(server, line, "POST", "a.test/post", body) == (wanted, match)
    with server.connect() as line:
        chunked = (
            b"POST /post HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na=\r\n1\r\n2\r\n0\r\n\r\n"
        )
        line.sendall(chunked)
        assert receive(line, "POST").body == b"two"
        assert ask(line, "POST", "a.test/beacon", body=b"x" * 300_000).line == "HTTP/1.1 204 No Content"
        assert ask(line, "GET", "a.test/").body == b"hello"


def test_ranges_of_what_was_recorded_whole(server: Replay) -> None:
    answer = get(server, "a.test/big", (("Range", "bytes=1000-1999"),))
    assert (answer.line, answer.body) == ("HTTP/1.1 206 Partial Content", BIG[1000:2000])
    assert answer.one("Content-Range") == f"bytes 1000-1999/{len(BIG)}"
    assert get(server, "a.test/big", (("Range", "bytes=-5"), ("If-Range", '"big"'))).body == BIG[-5:]
    assert get(server, "a.test/big", (("Range", "bytes=-5"), ("If-Range", '"other"'))).body == BIG
    with server.connect() as line:
        line.sendall(f"GET /big HTTP/1.1\r\nHost: a.test\r\nRange: bytes={len(BIG)}-\r\n\r\n".encode())
        assert line.recv(12) == b"HTTP/1.1 416"


def test_conditions_are_met_by_the_records_validators(server: Replay) -> None:
    for headers, status in (
        ((("If-None-Match", '"odd"'),), 304), ((("If-None-Match", '"x", "odd"'),), 304),
        ((("If-None-Match", '"x"'),), 200), ((("If-Modified-Since", MODIFIED),), 304),
        ((("If-Modified-Since", "Mon, 31 Dec 2018 00:00:00 GMT"),), 200), ((("If-Match", '"x"'),), 412),
    ):  # fmt: skip
        answer = get(server, "a.test/", headers)
        assert answer.line.split(" ")[1] == str(status), headers
        if status == 304:
            assert answer.one("ETag") == '"odd"'
            assert answer.all("Set-Cookie") == ["a=1; path=/", "b=2"]
    assert get(server, "a.test/gone", (("If-None-Match", "*"),)).line == "HTTP/1.1 410 Gone For Good"
    assert get(server, "a.test/empty", (("If-Modified-Since", MODIFIED),)).line == "HTTP/1.1 200 OK"


@pytest.mark.parametrize(
    ("url", "body", "match"),
    [
        ("a.test/q?v=1&w=3", b"q2", "exact"), ("a.test/q?v=1&w=3&_=9", b"q2", "stripped"),
        ("a.test/q?w=3", b"q2", "nearest"), ("a.test/q", b"q1", "nearest"), ("a.test/q?v=1", b"q1", "nearest"),
        ("a.test/%2Fx/%00%zz%u4e00", b"escaped", "exact"), ('a.test/odd|"<>^`{}\\[];=@', b"ugly", "exact"),
        ("under_score.test/x", b"host", "exact"), ("b.test/", b"another", "exact"),
        ("a.test//", b"not in the record\n", "none"), ("b.test/plain.txt", b"not in the record\n", "none"),
        ("elsewhere.test/", b"not in the record\n", "none"),
    ],
)  # fmt: skip
def test_what_is_asked_for_is_found(server: Replay, url: str, body: bytes, match: str) -> None:
    with server.connect() as line:
        assert match_of(server, line, "GET", url) == (body, match)


def test_a_whole_url_is_a_request_too(server: Replay) -> None:
    with server.connect() as line:
        assert ask(line, "GET", "b.test/", whole=True).body == b"another"


def test_what_is_to_be_compressed_is_compressed_for_who_takes_it(server: Replay) -> None:
    for name, vary in (("text", "Cookie,Accept-Encoding"), ("plain.css", "Accept-Encoding")):
        (there,) = [each for each in OBJECTS if each.object.url == f"a.test/{name}"]
        packed = get(server, f"a.test/{name}", (("Accept-Encoding", "gzip"),))
        assert (packed.unpacked, packed.one("Content-Encoding"), packed.one("Vary")) == (there.body, "gzip", vary)
        plain = get(server, f"a.test/{name}")
        assert (plain.body, plain.all("Content-Encoding"), plain.one("Vary")) == (there.body, [], vary)
    assert get(server, "a.test/plain.txt", (("Accept-Encoding", "gzip"),)).one("Content-Encoding") is None


# ---- many, mixed, refused ----


def test_three_hundred_hosts(apache: Path, module_tools: None) -> None:
    assert module_tools is None
    objects = [
        stored(f"h{host}.test/{number}?x={number}", f"{host} {number}".encode(), COOKIE)
        for host in range(300) for number in range(10)
    ]  # fmt: skip
    with replaying(apache, site_of(objects), pack_of(objects), {"keepalive_requests": 0}) as server:
        with server.connect() as line:
            for each in objects:
                assert ask(line, "GET", each.object.url).body == each.body
            assert ask(line, "GET", "h300.test/0?x=0").line == "HTTP/1.1 404 Not Found"
        assert not server.unexpected()


def test_each_scheme_has_its_own_answers(apache: Path, module_tools: None) -> None:
    assert module_tools is None
    clear, secret = (stored("a.test/", scheme.encode(), COOKIE, scheme=scheme) for scheme in ("http", "https"))
    only = stored("a.test/only", b"only", COOKIE, scheme="https")
    settings = {"tls": "1.3", "protocol": "h2", "schemes": "recorded"}
    with replaying(apache, site_of([clear, secret, only]), pack_of([clear, secret, only]), settings) as server:
        for scheme in ("http", "https"):
            with server.connect(scheme) as line:
                assert ask(line, "GET", "a.test/").body == scheme.encode()
                assert ask(line, "GET", "a.test/only").body == b"only"
        assert curl(server, "a.test/")[::2] == ("HTTP/2 200 ", b"https")
        assert not server.unexpected()


WHOLE = pack_of(OBJECTS[:3])


@pytest.mark.parametrize(
    ("packed", "why"),
    [
        (b"", "it is empty, or no file"),
        (b"<html>", "it is no pack"),
        (WHOLE[:-1], "it is not whole"),
        (WHOLE[:8] + b"\x09" + WHOLE[9:], "it is a pack of another version"),
        (WHOLE[:24] + b"\xff" * 8 + WHOLE[32:], "a part of it is outside of it"),
    ],
    ids=["empty", "page", "cut", "version", "outside"],
)
def test_a_pack_that_is_not_right_stops_the_start(apache: Path, module_tools: None, packed: bytes, why: str) -> None:
    assert module_tools is None
    said = rf"the pack /\S+/pack cannot be used: {why}"
    with pytest.raises(Refused, match=said), replaying(apache, site_of(OBJECTS[:1]), packed):
        pass


def test_an_object_that_nothing_can_compress_stops_the_start(apache: Path, module_tools: None) -> None:
    assert module_tools is None
    odd = [replace(each, object=replace(each.object, compressed="gzip")) for each in OBJECTS[:1]]
    said = "to be compressed with gzip, and mod_deflate is not loaded"
    with pytest.raises(Refused, match=said), replaying(apache, site_of(OBJECTS[:1]), pack_of(odd)):
        pass
