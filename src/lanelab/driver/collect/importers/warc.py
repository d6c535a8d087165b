"""WARC and ARC files: crawlers, wget --warc-file, archives' downloads."""

from pathlib import Path

from lanelab.driver.collect.importers.imported import Imported, Importer, Source, read_file, start_of
from lanelab.driver.site.archive.read_warc import read_warc
from lanelab.driver.site.archive.records import is_archive, is_zstd


def matches(path: Path) -> bool:
    start = start_of(path)
    return is_archive(start) or is_zstd(start)


def read(source: Source) -> Imported:
    archive = read_warc(read_file(source.path, source.limits), source.path.name, source.limits)
    return Imported(archive.exchanges, archive.left_out, doubtful=archive.doubtful)


WARC = Importer("warc", "a WARC or ARC file", matches, read)
