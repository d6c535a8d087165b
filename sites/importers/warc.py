"""WARC and ARC files: crawlers, wget --warc-file, archives' downloads."""

from __future__ import annotations

from pathlib import Path

from sites.archive.read_warc import read_warc
from sites.archive.records import is_archive, is_zstd
from sites.importers.imported import Imported, Importer, Source, read_file, start_of


def matches(path: Path) -> bool:
    start = start_of(path)
    return is_archive(start) or is_zstd(start)


def read(source: Source) -> Imported:
    archive = read_warc(read_file(source.path, source.limits), source.path.name, source.limits)
    return Imported(archive.exchanges, archive.left_out, doubtful=archive.doubtful)


WARC = Importer("warc", "a WARC or ARC file", matches, read)
