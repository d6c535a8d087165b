"""Exchanges for tests, and records of other tools, byte by byte."""

import gzip
from dataclasses import replace
from typing import Any

from lanelab.driver.site.exchange import Exchange

DATE = "2026-11-22T10:00:00Z"
PAGE = b"<!doctype html><title>page</title><script src=/a.js></script>"
HTML = (("Content-Type", "text/html; charset=utf-8"),)


def exchange(url: str = "http://a.test/", **changes: Any) -> Exchange:
    """A page, or what the changes make of it."""
    plain = Exchange("GET", url, (("Host", "a.test"),), b"", 200, "OK", HTML, PAGE, "http/1.1", DATE)
    return replace(plain, **changes)


def record(kind: str, url: str, block: bytes, *fields: tuple[str, str], date: str = DATE) -> bytes:
    """A WARC record as any tool may write it."""
    head = [("WARC-Type", kind), ("WARC-Date", date), ("WARC-Target-URI", url), *fields]
    lines = [f"{name}: {value}\r\n" for name, value in (*head, ("Content-Length", str(len(block))))]
    return b"WARC/1.0\r\n" + "".join(lines).encode() + b"\r\n" + block + b"\r\n\r\n"


def answer(body: bytes, *fields: str, status: str = "200 OK") -> bytes:
    """The block of a response."""
    lines = (f"HTTP/1.1 {status}", *fields, "")
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1") + body


def zipped(*records: bytes) -> bytes:
    return b"".join(gzip.compress(each, mtime=0) for each in records)
