"""Mirrors of HTTrack.

Its cache, hts-cache/new.zip, has every answer by its address: pages with their bodies as the server sent them, other
files as names in the mirror, which are the server's too. The pages in the mirror are others: HTTrack rewrites their
links so that they work from a disk. Where there is no cache, the mirror is served as it lies there, all of it by one
host: relative links lead from one of its folders to another.
"""

import contextlib
import datetime
import re
import zipfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.files import files_below, inside
from lanelab.driver.collect.importers.folder import exchanges_of
from lanelab.driver.collect.importers.importer import Imported, Importer, Source, read_file, start_of
from lanelab.driver.collect.importers.zip_members import ZipReader
from lanelab.driver.site.archive.dates import utc_text
from lanelab.driver.site.archive.http_text import values_of
from lanelab.driver.site.archive.read_warc import shown
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.site import Headers

CACHE = "hts-cache"
CACHES = ("new.zip", "old.zip")
FILES_OF_HTTRACK = (
    "hts-log.txt",
    "backblue.gif",
    "fade.gif",
    "cookies.txt",
    "hts-in_progress.lock",
)  # HTTrack's, not the site's
MARK = b"HTTrack"
# Fields of the cache that a server sent; the others are HTTrack's notes.
SENT = ("content-type", "last-modified", "etag", "location", "content-disposition")
_REFRESH = re.compile(rb"""<meta[^>]{1,200}?url=\s*["']?([^"'>\s]{1,2000})""", re.IGNORECASE)
_FIRST_LINK = re.compile(rb"""<a\s[^>]{0,200}?href=["']?(?!https?:)([^"'>\s]{1,2000})""", re.IGNORECASE)


class _Noted(NamedTuple):
    """The notes of the cache on one answer."""

    status: int
    reason: str
    fields: Headers
    in_cache: bool
    file: str


def matches(path: Path) -> bool:
    if not path.is_dir():
        return False
    return (path / CACHE).is_dir() or ((path / "hts-log.txt").is_file() and MARK in start_of(path / "index.html"))


def read(source: Source) -> Imported:
    cache = next((path for name in CACHES if (path := source.path / CACHE / name).is_file()), None)
    if cache is None or cache.is_symlink() or (source.path / CACHE).is_symlink():
        return _files(source)
    with contextlib.closing(ZipReader(cache, source.limits)) as members:
        return _cached(source, members)


def _cached(source: Source, members: ZipReader) -> Imported:
    exchanges, left_out = [], []
    total = 0
    for url, member in members.members.items():
        noted = _noted(members.local_extra(url))
        if noted is None:
            left_out.append(f"{shown(url)}: the cache does not say what it is")
            continue
        body = members.read(url) if noted.in_cache else _mirrored(source, noted.file)
        if body is None:
            left_out.append(f"{shown(url)}: its file {shown(noted.file)!r} is not in the mirror")
            continue
        total += len(body)
        source.limits.require_total(total, str(source.path))
        at_utc = _date(member)
        exchanges.append(
            Exchange("GET", url, (), b"", noted.status, noted.reason, noted.fields, body, "http/1.1", at_utc)
        )
    if not exchanges:
        raise InputError(f"the cache of the mirror {source.path} has no answer", "Remove it to import the files")
    return Imported(tuple(exchanges), tuple(left_out), _entry(exchanges))


def _entry(exchanges: list[Exchange]) -> str | None:
    """The first page that was fetched: a mirror begins with it."""
    pages = (each for each in exchanges if each.status == 200)
    html = (each.url for each in pages if "html" in ",".join(values_of(each.headers, "content-type")))
    return next(html, None)


def _noted(extra: bytes) -> _Noted | None:
    lines = extra.decode("latin-1").split("\r\n")
    fields = {
        name.strip().lower(): value.strip()
        for line in lines[1:]
        for name, colon, value in [line.partition(":")]
        if colon
    }
    status = fields.get("x-statuscode", "")
    if not re.fullmatch("[0-9]{3}", status):
        return None
    if fields.get("x-charset") and "charset" not in fields.get("content-type", "charset"):
        fields["content-type"] += f"; charset={fields['x-charset']}"
    sent = tuple((name.title(), fields[name]) for name in SENT if fields.get(name))
    stored = fields.get("x-in-cache") == "1"
    return _Noted(int(status), fields.get("x-statusmessage", ""), sent, stored, fields.get("x-save", ""))


def _mirrored(source: Source, name: str) -> bytes | None:
    """Return a file of the mirror. Its name is the cache's word: it must not lead out of the mirror."""
    file = inside(source.path, name)
    if file is None:
        return None
    data = read_file(file, source.limits)
    source.limits.require_record(len(data), str(file))
    return data


def _date(member: zipfile.ZipInfo) -> str:
    """Return when it was stored."""
    try:
        return utc_text(datetime.datetime(*member.date_time, tzinfo=datetime.UTC))
    except ValueError:
        return "1980-01-01T00:00:00Z"  # where the dates of zip files begin


def _files(source: Source) -> Imported:
    """Return the mirror's files, without what HTTrack added."""
    files, left_out = files_below(source.path, source.limits)
    first = _first_page(source.path)
    top = source.path / "index.html"
    folders = {source.path / name for name in FILES_OF_HTTRACK} | ({top} if MARK in start_of(top) and first else set())
    kept = [file for file in files if file not in folders and CACHE not in file.relative_to(source.path).parts[:1]]
    exchanges, words, entry = exchanges_of(source, kept, left_out, f"/{first}" if first else None)
    return Imported(exchanges, words, entry)


def _first_page(folder: Path) -> str | None:
    """Return where HTTrack's own index leads."""
    text = start_of(folder / "index.html", 65_536)
    if MARK not in text:
        return None
    for pattern in (_REFRESH, _FIRST_LINK):
        for match in pattern.finditer(text):
            name = unquote(match[1].decode("utf-8", "replace")).removeprefix("./")
            if inside(folder, name):
                return name
    return None


HTTRACK = Importer("httrack", "a mirror of HTTrack's", matches, read)
