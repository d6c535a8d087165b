"""What minify makes of a whole site, in figures: objects and bytes of each type, as they are and as they are sent."""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.site.composition import TYPES, type_of
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES
from lanelab.driver.site.minify.effects import Effect, Minified
from lanelab.driver.site.site import SiteObject, StoredObject

GZIP_LEVEL = 6  # mod_deflate's own
LONGEST_NAME = 200  # of a file
REPORT = "minify.json"


@dataclass(frozen=True, slots=True)
class Side(Coded):
    """One type's objects, before or after."""

    objects: int
    bytes: int
    sent: int  # compressed where the server compresses
    gzipped: int  # if it compressed all text


@dataclass(frozen=True, slots=True)
class TypeChange(Coded):
    type: str
    before: Side
    after: Side


@dataclass(frozen=True, slots=True)
class ObjectLeft(Coded):
    """An object of the minified site."""

    url: str
    mime: str
    bytes: int
    sent: int
    late: bool  # a load may do without it


@dataclass(frozen=True, slots=True)
class MinifyReport(Coded):
    site: str
    filters: tuple[str, ...]
    generation: str
    types: tuple[TypeChange, ...]
    total: TypeChange
    effects: tuple[Effect, ...]
    objects: tuple[ObjectLeft, ...]


def report_of(
    site: str, filters: Iterable[str], generation: str, before: Sequence[StoredObject], minified: Minified
) -> MinifyReport:
    after = _asked_for(before, minified.objects)
    changes = [_change(each, _of_type(before, each), _of_type(after, each)) for each in TYPES]
    return MinifyReport(
        site,
        tuple(sorted(filters)),
        generation,
        tuple(each for each in changes if each.before.objects or each.after.objects),
        _change("all", before, after),
        minified.effects,
        tuple(
            ObjectLeft(each.object.url, each.object.mime, len(each.body), sent(each), each.object.late)
            for each in minified.objects
        ),
    )


def _asked_for(before: Iterable[StoredObject], after: Iterable[StoredObject]) -> list[StoredObject]:
    """Without what only minify lets a load do without: replaced originals whose names scripts have, and what waits."""
    late = {each.object.url for each in before if each.object.late}
    return [each for each in after if not each.object.late or each.object.url in late]


def sent(each: StoredObject) -> int:
    """Return bytes of its body on the wire."""
    return gzipped(each.body) if each.object.compressed else len(each.body)


def gzipped(body: bytes) -> int:
    """Return what mod_deflate makes of it."""
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    return len(packer.compress(body)) + len(packer.flush())


def _change(name: str, before: Sequence[StoredObject], after: Sequence[StoredObject]) -> TypeChange:
    return TypeChange(name, _side(before), _side(after))


def _side(objects: Sequence[StoredObject]) -> Side:
    whole = sum(len(each.body) for each in objects)
    text = sum(gzipped(each.body) if _is_text(each.object) else len(each.body) for each in objects)
    return Side(len(objects), whole, sum(map(sent, objects)), text)


def _is_text(each: SiteObject) -> bool:
    return each.mime in COMPRESSED_TYPES and not each.encoding


def _of_type(objects: Iterable[StoredObject], kind: str) -> list[StoredObject]:
    return [each for each in objects if type_of(each.object.mime) == kind]


def write_minified(folder: Path, report: MinifyReport, minified: Minified) -> None:
    """Write the minified objects and the report into a new folder."""
    try:
        folder.mkdir(parents=True)
        for number, each in enumerate(minified.objects):
            file = folder / _file_name(number, each)
            file.write_bytes(each.body)
        (folder / REPORT).write_text(json.dumps(report.to_json(), indent=2) + "\n")
    except FileExistsError as error:
        raise InputError(f"{folder} is there already", "Name a new folder", key="--out") from error
    except OSError as error:
        raise StoreError(
            f"cannot write the minified objects to {folder}: {error.strerror}", "Name another folder"
        ) from error


def _file_name(number: int, each: StoredObject) -> str:
    """Return its place among the objects, and its address in characters that every file system takes."""
    address = quote(each.object.url, safe="").replace("%2F", "_")[-LONGEST_NAME:]
    return f"{number:03}-{address}"
