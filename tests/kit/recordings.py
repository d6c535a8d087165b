"""Recordings as other tools leave them behind, of every kind that can be imported: small, and made in a folder."""

import base64
import hashlib
import json
import zipfile
from pathlib import Path

from tests.kit import epload
from tests.kit.exchanges import DATE, PAGE, answer, record, zipped

PIXEL = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
STYLE = b"body { color: red }"


def warc() -> bytes:
    """A page, its script in chunks, a form's answer, a repetition, and a file without a head."""
    return zipped(
        record("warcinfo", "", b"software: test\r\n", ("Content-Type", "application/warc-fields")),
        record("response", "http://a.test/", answer(PAGE, "Content-Type: text/html"), ("WARC-Record-ID", "<urn:x:1>")),
        record("request", "http://a.test/", b"GET / HTTP/1.1\r\nHost: a.test\r\nCookie: sid=1\r\n\r\n"),
        record("response", "http://a.test/a.js", answer(b"3\r\nx=1\r\n0\r\n\r\n", "Transfer-Encoding: chunked")),
        record("response", "https://b.test/f", answer(b"thanks"), ("WARC-Record-ID", "<urn:x:2>")),
        record("request", "https://b.test/f", b"POST /f HTTP/1.1\r\n\r\nq=1", ("WARC-Concurrent-To", "<urn:x:2>")),
        record("revisit", "http://b.test/", answer(b"", "X: 1"), ("WARC-Refers-To", "<urn:x:1>")),
        record("resource", "http://a.test/x.gif", PIXEL, ("Content-Type", "image/gif")),
    )


def arc() -> bytes:
    info = b"1 0 Some\nURL IP-address Archive-date Content-type Archive-length\n"
    block = answer(PAGE, "Content-Type: text/html")
    return b"filedesc://a.arc 0.0.0.0 20140301000000 text/plain %d\n%s\n" % (
        len(info),
        info,
    ) + b"http://a.test/ 1.2.3.4 20140401000000 text/html %d\n%s\n" % (len(block), block)


def wacz(file: Path, changed: str = "") -> Path:
    """`changed`: the member that is another one than the list of contents says."""
    pages = ({"format": "json-pages-1.0"}, {"url": "http://b.test/", "title": "The other page"})
    members = {"archive/data.warc.gz": warc(), "pages/pages.jsonl": "\n".join(map(json.dumps, pages)).encode()}
    listed = [{"name": name, "path": name, "hash": _hash(data)} for name, data in members.items()]
    members["datapackage.json"] = json.dumps({"profile": "data-package", "resources": listed}).encode()
    own = {"path": "datapackage.json", "hash": _hash(members["datapackage.json"])}
    members["datapackage-digest.json"] = json.dumps(own).encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members.items():
            out.writestr(name, data + b" " * (name == changed))
    return file


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def har() -> dict[str, object]:
    """As browsers save it, for a page loaded in 500 ms."""

    def entry(url: str, text: str | None, ms: int = 0, **more: object) -> dict[str, object]:
        content = {"mimeType": "text/html"} | ({"size": 9} if text is None else {"size": len(text), "text": text})
        response = {"status": 200, "statusText": "OK", "httpVersion": "h2", "headers": [], "content": content, **more}
        request = {"method": "GET", "url": url, "headers": [{"name": ":path", "value": "/"}]}
        begun = f"2026-11-22T11:00:00.{ms:03d}+01:00"
        return {"pageref": "p", "startedDateTime": begun, "request": request, "response": response}

    headers = [{"name": "content-encoding", "value": "gzip"}, {"name": "x-two", "value": "1\n2"}]
    pixel = {"mimeType": "image/gif", "encoding": "base64", "text": base64.b64encode(PIXEL).decode()}
    page = {"id": "p", "title": "https://a.test/", "startedDateTime": "2026-11-22T10:00:00.000Z"}
    entries = [
        entry("http://a.test/", "", status=301),
        entry("https://a.test/", PAGE.decode(), headers=headers),
        entry("https://a.test/x.gif", None, 100, content=pixel),
        entry("https://a.test/lost.png", None, 200),
        entry("https://dead.test/ad.js", None, 300, status=0),
        entry("https://a.test/beacon", "", 800),
        entry("data:image/png;base64,AAAA", "x"),
    ]
    return {"log": {"version": "1.2", "pages": [page | {"pageTimings": {"onLoad": 500}}], "entries": entries}}


def httrack(folder: Path) -> Path:
    """A mirror of two hosts with its cache, in which a page is, and a picture is only named."""
    (folder / "hts-cache").mkdir(parents=True)
    files = {
        "index.html": b'<!-- Mirror by HTTrack --><META HTTP-EQUIV="Refresh" CONTENT="0; URL=www.a.test/index.html">',
        "hts-log.txt": b"log",
        "www.a.test/index.html": b"<img src=../img.b.test/x.gif>rewritten",
        "img.b.test/x.gif": PIXEL,
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    with zipfile.ZipFile(folder / "hts-cache" / "new.zip", "w") as out:
        _cached(out, "http://www.a.test/", PAGE, "Content-Type: text/html", "X-Charset: utf-8", "X-In-Cache: 1")
        _cached(out, "http://img.b.test/x.gif", b"", "Content-Type: image/gif", "X-Save: img.b.test/x.gif")
        _cached(out, "http://img.b.test/up", b"", "X-Save: ../../../../etc/passwd")
        _cached(out, "http://a.test/", b"", "Location: http://www.a.test/", "X-In-Cache: 1", status=301)
    return folder


def _cached(out: zipfile.ZipFile, url: str, body: bytes, *fields: str, status: int = 200) -> None:
    info = zipfile.ZipInfo(url, (2012, 5, 1, 10, 0, 0))
    lines = (f"HTTP/1.1 {status} OK", f"X-StatusCode: {status}", "X-StatusMessage: OK", *fields, "")
    info.extra = "\r\n".join(lines).encode()
    out.writestr(info, body)
    info.extra = b""  # HTTrack writes it before the member only, not into the list of contents


def mahimahi(folder: Path, media_type: str = "image/gif") -> Path:
    """Two files of mm-webrecord: a page in chunks, and a picture over TLS, or what else `media_type` makes of it."""
    folder.mkdir(parents=True)
    fields = {"Transfer-Encoding": "chunked", "Content-Type": "text/html"}
    page = _message(b"HTTP/1.1 200 OK", fields, b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE))
    asked = _message(b"GET / HTTP/1.1", {"Host": "a.test"}, b"")
    (folder / "save.aaaaaa").write_bytes(_saved(80, 1, asked, page))
    picture = _message(b"HTTP/1.1 200 OK", {"Content-Type": media_type}, PIXEL)
    asked = _message(b"GET /x.gif?1 HTTP/1.1", {"Host": "b.test"}, b"")
    (folder / "save.bbbbbb").write_bytes(_saved(443, 2, asked, picture))
    return folder


def _saved(port: int, scheme: int, request: bytes, response: bytes) -> bytes:
    numbers = _bytes(1, b"1.2.3.4") + b"\x10" + _number(port) + b"\x18" + _number(scheme)
    return numbers + _bytes(4, request) + _bytes(5, response)


def _message(first: bytes, fields: dict[str, str], body: bytes) -> bytes:
    headers = (_bytes(2, _bytes(1, name.encode()) + _bytes(2, value.encode())) for name, value in fields.items())
    return _bytes(1, first) + b"".join(headers) + _bytes(3, body)


def _bytes(number: int, value: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(value)) + value


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def plain(folder: Path) -> Path:
    files = {"index.html": PAGE, "css/a.css?v=1": STYLE, "img/a b\u00e9.gif": PIXEL, "sub/index.html": PAGE}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def all_kinds(folder: Path) -> dict[str, Path]:
    """One of each, by the name of its kind."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {"warc": warc(), "arc": arc(), "har": json.dumps(har()).encode()}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {
        **{name: folder / name for name in contents},
        "wacz": wacz(folder / "wacz"),
        "httrack": httrack(folder / "httrack"),
        "mahimahi": mahimahi(folder / "mahimahi"),
        "epload": epload.written(folder / "epload"),
        "folder": plain(folder / "folder"),
    }


__all__ = ["DATE", "PAGE", "PIXEL", "STYLE", "all_kinds", "arc", "har", "httrack", "mahimahi", "plain", "wacz", "warc"]
