"""WACZ: a zip file with WARC files in archive/, and a list of pages."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.importer import Imported, Importer, Source, start_of
from lanelab.driver.collect.importers.zip_members import MAGIC, ZipReader, member_names
from lanelab.driver.site.archive.digests import agrees
from lanelab.driver.site.archive.read_warc import read_warcs, shown

ARCHIVES, PAGES = "archive/", "pages/pages.jsonl"
ENDS = (".warc", ".warc.gz", ".arc", ".arc.gz", ".warc.zst")
CONTENTS, ITS_DIGEST = "datapackage.json", "datapackage-digest.json"


def matches(path: Path) -> bool:
    return start_of(path, 4) == MAGIC and any(name.startswith(ARCHIVES) for name in member_names(path))


def read(source: Source) -> Imported:
    with contextlib.closing(ZipReader(source.path, source.limits)) as members:
        names = sorted(name for name in members.members if name.startswith(ARCHIVES) and name.endswith(ENDS))
        if not names:
            raise InputError(f"{source.path} has no WARC file in {ARCHIVES}", "Name a WACZ file that has")
        digests = _digests(members)
        archive = read_warcs([(shown(name), _read(members, name, digests)) for name in names], source.limits)
        url, title = _first_page(_read(members, PAGES, digests)) if PAGES in members.members else (None, None)
    urls = {each.url for each in archive.exchanges}
    return Imported(archive.exchanges, archive.left_out, url if url in urls else None, title, doubtful=archive.doubtful)


def _read(members: ZipReader, name: str, hashes: Mapping[str, str]) -> bytes:
    """Return a member, which has to be the one that the list of contents describes."""
    data = members.read(name)
    if agrees(hashes.get(name, ""), data) is False:
        what = f"{members.path} was changed: {shown(name)} has another hash than {CONTENTS} says"
        raise InputError(what, "Get a whole copy of it")
    return data


def _digests(members: ZipReader) -> dict[str, str]:
    """By name of member, as the file says them; empty where it does not."""
    if CONTENTS not in members.members:
        return {}
    mapping = _mapping(members.read(ITS_DIGEST)) if ITS_DIGEST in members.members else {}
    contents = _mapping(_read(members, CONTENTS, {CONTENTS: str(mapping.get("hash", ""))}))
    resources = contents.get("resources")
    listed = [each for each in resources if isinstance(each, dict)] if isinstance(resources, list) else []
    return {str(each.get("path")): str(each.get("hash", "")) for each in listed}


def _mapping(text: bytes) -> dict[str, object]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _first_page(text: bytes) -> tuple[str | None, str | None]:
    """Return address and title of the first page. Other lines, like the first of all, are passed over."""
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
