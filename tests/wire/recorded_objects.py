"""What the tests of mod_replay have recorded, how curl asks for it, and how an answer compares with it."""

import hashlib
import re
import subprocess

import pytest

from lanelab.driver.base.programs.find_program import find
from lanelab.driver.site.site import Headers

from .replaying import Answer, Replay, stored

MODIFIED = "Tue, 01 Jan 2019 00:00:00 GMT"


BIG = hashlib.sha256(b"big").digest() * 150_000


ODD: Headers = (
    ("Server", "gws"), ("X-First", "1"), ("Date", MODIFIED), ("Set-Cookie", "a=1; path=/"),
    ("Content-Type", "text/html; charset=latin-1"), ("Set-Cookie", "b=2"), ("X-Folded", "one\r\n  two\r\n\tthree"),
    ("Content-Length", "5"), ("X-Empty", ""), ("X-Eight-Bit", "caf\xe9"), ("X-first", "again"), ("X-Tab", "a\tb"),
    ("Connection", "close"), ("Keep-Alive", "timeout=7"), ("ETag", '"odd"'), ("Last-Modified", MODIFIED),
    ("Transfer-Encoding", "chunked"),
)  # fmt: skip


LEFT_OUT = {"Connection", "Keep-Alive", "Transfer-Encoding"}


SENT = tuple((name, re.sub(r"\r\n[ \t]+", " ", value)) for name, value in ODD if name not in LEFT_OUT)


COOKIE: Headers = (("Set-Cookie", "c=3"),)


OBJECTS = [
    stored("a.test/", b"hello", ODD),
    stored("a.test/plain.txt", b"x" * 100),
    stored("a.test/empty", b"", COOKIE),
    stored("a.test/big", BIG, (("Content-Type", "video/mp4"), ("ETag", '"big"'))),
    stored("a.test/gone", b"gone", COOKIE, status=410, reason="Gone For Good"),
    stored("a.test/silent", b"?", COOKIE, status=500, reason=""),
    stored("a.test/strange", b"!", COOKIE, status=999, reason="Request denied"),
    stored("a.test/moved", b"", (("Location", "/elsewhere"), *COOKIE), status=302, reason="Found"),
    stored("a.test/nothing", b"", COOKIE, status=204, reason="No Content"),
    stored("a.test/same", b"", (("ETag", '"s"'), *COOKIE), status=304, reason="Not Modified"),
    stored("a.test/part", b"abc", (("Content-Range", "bytes 0-2/10"), *COOKIE), status=206, reason="Partial Content"),
    stored("a.test/untyped", b"?", COOKIE),
    stored(
        "a.test/post",
        b"one",
        COOKIE,
        method="POST",
        request_sha1=hashlib.sha1(b"a=1", usedforsecurity=False).hexdigest(),
    ),
    stored(
        "a.test/post",
        b"two",
        COOKIE,
        method="POST",
        request_sha1=hashlib.sha1(b"a=2", usedforsecurity=False).hexdigest(),
    ),
    stored("a.test/beacon", b"", (), method="POST", status=204, reason="No Content"),
    stored("a.test/asked", b"", (("Content-Length", "77"), *COOKIE), method="HEAD"),
    stored("a.test/asked", b"", (("Allow", "GET"), *COOKIE), method="OPTIONS"),
    stored("a.test/q?v=1&w=2", b"q1", COOKIE),
    stored("a.test/q?v=1&w=3", b"q2", COOKIE),
    stored("a.test/%2Fx/%00%zz%u4e00", b"escaped", COOKIE),
    stored('a.test/odd|"<>^`{}\\[];=@', b"ugly", COOKIE),
    stored("under_score.test/x", b"host", COOKIE),
    stored("b.test/", b"another", COOKIE),
    stored("a.test/text", b"text " * 1000, (("Content-Type", "text/plain"), ("Vary", "Cookie")), compressed="gzip"),
    stored("a.test/plain.css", b"css { } " * 1000, (), mime="text/css", compressed="gzip"),
]


def fields(answer: Answer) -> list[tuple[str, str]]:
    """Without what Apache adds where the record has none, and in whatever order it begins."""
    return [pair for pair in answer.headers if pair[0] not in ("Date", "Server")]


def curl(server: Replay, url: str, *options: str) -> tuple[str, list[tuple[str, str]], bytes]:
    """Status, header fields in their order, body."""
    program = find("curl")
    if program is None:
        pytest.skip("missing: curl")
    host, _, path = url.partition("/")
    port = server.ports["https"]
    argv = [str(program), "-sk", "--http2", "--path-as-is", "-i", "--resolve", f"{host}:{port}:127.0.0.1", *options]
    done = subprocess.run([*argv, f"https://{host}:{port}/{path}"], capture_output=True, check=True, timeout=60)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return first, [(name, value.removeprefix(" ")) for name, _, value in (x.partition(":") for x in lines)], body
