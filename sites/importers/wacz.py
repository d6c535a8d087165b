"""WACZ: a zip file with WARC files in archive/, and a list of pages."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from model.errors import InputError
from sites.archive.read_warc import read_warcs, shown
from sites.importers.imported import Imported, Importer, Source, start_of
from sites.importers.zipped import MAGIC, ZipReader, member_names

ARCHIVES, PAGES = "archive/", "pages/pages.jsonl"
ENDS = (".warc", ".warc.gz", ".arc", ".arc.gz")


def matches(path: Path) -> bool:
    return start_of(path, 4) == MAGIC and any(name.startswith(ARCHIVES) for name in member_names(path))


def read(source: Source) -> Imported:
    with contextlib.closing(ZipReader(source.path, source.limits)) as members:
        names = sorted(name for name in members.members if name.startswith(ARCHIVES) and name.endswith(ENDS))
        if not names:
            raise InputError(f"{source.path} has no WARC file in {ARCHIVES}", "Name a WACZ file that has")
        archive = read_warcs([(shown(name), members.read(name)) for name in names], source.limits)
        url, title = _first_page(members.read(PAGES)) if PAGES in members.members else (None, None)
    asked = {each.url for each in archive.exchanges}
    return Imported(archive.exchanges, archive.left_out, url if url in asked else None, title)


def _first_page(text: bytes) -> tuple[str | None, str | None]:
    """Address and title. Lines that are none of a page, like the first, are passed over."""
    for line in text.split(b"\n")[:10_000]:
        try:
            page = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(page, dict) and isinstance(page.get("url"), str):
            title = page.get("title")
            return page["url"], title if isinstance(title, str) else None
    return None, None


WACZ = Importer("wacz", "a WACZ file", matches, read)
