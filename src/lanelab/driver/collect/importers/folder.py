"""A plain folder of files, served by one host, as any web server would.

Nothing in it says when it was recorded. The times of files do not: packages give all of theirs one of long ago, and
mirrors have what the server said. So its date is that of the import.
"""

import datetime
import os
from email.utils import format_datetime
from pathlib import Path
from urllib.parse import quote

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.files import files_below
from lanelab.driver.collect.importers.importer import Imported, Importer, Source, changed_utc, read_file
from lanelab.driver.site.archive.media_types import by_extension, sniffed
from lanelab.driver.site.exchange import Exchange

INDEXES = ("index.html", "index.htm")
PAGES = (".html", ".htm", ".xhtml")


def matches(path: Path) -> bool:
    return path.is_dir()


def read(source: Source) -> Imported:
    files, left_out = files_below(source.path, source.limits)
    return Imported(*exchanges_of(source, files, left_out))


def exchanges_of(
    source: Source, files: list[Path], left_out: list[str], entry: str | None = None
) -> tuple[tuple[Exchange, ...], tuple[str, ...], str | None]:
    """Return each file at its path, a folder's index also at the folder's; words; and the entry: the first index, or
    page."""
    exchanges: list[Exchange] = []
    paths: list[str] = []
    imported = utc_now()
    total = 0
    for file in files:
        data = read_file(file, source.limits)
        source.limits.require_record(len(data), str(file))
        total += len(data)
        source.limits.require_total(total, str(source.path))
        path = _path(file.relative_to(source.path))
        served = [path[: -len(file.name)]] if file.name in INDEXES else []
        for each in (*served, path):
            paths.append(each)
            exchanges.append(_exchange(f"http://{source.host}{each}", each, data, changed_utc(file), imported))
    if not exchanges:
        raise InputError(f"there is no file in {source.path}", "Name a folder with a page")
    pages = sorted((each for each in paths if each.endswith(("/", *PAGES))), key=_depth)
    if entry is None and pages:
        entry = pages[0]
    return tuple(exchanges), tuple(left_out), f"http://{source.host}{entry}" if entry else None


def _depth(path: str) -> tuple[int, bool, str]:
    """Return the nearest to the top first, and of these a folder's index."""
    return path.count("/"), not path.endswith("/"), path


def _path(relative: Path) -> str:
    """A '?' in a file's name begins a query, as mirrors of wget have it."""
    names = [quote(os.fsencode(part), safe="!$&'()*+,-.:;=@_~?|[]") for part in relative.parts]
    return "/" + "/".join(names)


def _exchange(url: str, path: str, data: bytes, changed_utc: str, at_utc: str) -> Exchange:
    changed = format_datetime(datetime.datetime.fromisoformat(changed_utc), usegmt=True)
    headers = (("Content-Type", by_extension(path) or sniffed(path, data)), ("Last-Modified", changed))
    return Exchange("GET", url, (), b"", 200, "OK", headers, data, "http/1.1", at_utc)


FOLDER = Importer("folder", "a folder of files", matches, read)
