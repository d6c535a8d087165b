"""WARC and ARC files: crawlers, wget --warc-file, archives' downloads."""

from __future__ import annotations

from pathlib import Path

from sites.archive.read_warc import read_warc
from sites.archive.records import is_archive
from sites.importers.imported import Imported, Importer, Source, read_file, start_of


def matches(path: Path) -> bool:
    return is_archive(start_of(path))


def read(source: Source) -> Imported:
    archive = read_warc(read_file(source.path, source.limits), source.path.name, source.limits)
    return Imported(archive.exchanges, archive.left_out)


WARC = Importer("warc", "a WARC or ARC file", matches, read)
