"""The kinds of recordings that can be imported. The first whose content it is reads it."""

from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.epload import EPLOAD
from lanelab.driver.collect.importers.folder import FOLDER
from lanelab.driver.collect.importers.har import HAR
from lanelab.driver.collect.importers.httrack import HTTRACK
from lanelab.driver.collect.importers.importer import Imported, Importer, Source, read_file, require_plain, start_of
from lanelab.driver.collect.importers.mahimahi import MAHIMAHI
from lanelab.driver.collect.importers.wacz import WACZ
from lanelab.driver.site.archive.addresses import NotServedError, require_host
from lanelab.driver.site.archive.limits import LIMITS, Limits
from lanelab.driver.site.archive.read_warc import read_warc
from lanelab.driver.site.archive.records import is_archive, is_zstd


def matches(path: Path) -> bool:
    start = start_of(path)
    return is_archive(start) or is_zstd(start)


def read(source: Source) -> Imported:
    archive = read_warc(read_file(source.path, source.limits), source.path.name, source.limits)
    return Imported(archive.exchanges, archive.left_out, doubtful=archive.doubtful)


WARC = Importer("warc", "a WARC or ARC file", matches, read)


IMPORTERS = (WARC, WACZ, HAR, HTTRACK, MAHIMAHI, EPLOAD, FOLDER)  # a folder of anything comes last


def importer_of(path: Path) -> Importer:
    require_plain(path)
    importer = next((each for each in IMPORTERS if each.matches(path)), None)
    if importer is None:
        kinds = ", ".join(each.title for each in IMPORTERS)
        raise InputError(f"{path} is nothing that can be imported", f"There are {kinds}")
    return importer


def import_from(path: Path, host: str, limits: Limits = LIMITS) -> tuple[Importer, Imported]:
    """Return what is recorded there. `host`: for files that name none."""
    try:
        require_host(host)
    except NotServedError as error:
        raise InputError(
            f"{host!r} cannot be the host: {error}", "Write a name like example.test", key="--host"
        ) from None
    importer = importer_of(path)
    try:
        return importer, importer.read(Source(path, host, limits))
    except OSError as error:
        what = f"cannot read {error.filename or path}: {error.strerror or error}"
        raise InputError(what, "Check its path and permissions") from error
