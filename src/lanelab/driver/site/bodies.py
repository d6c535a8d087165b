"""Bodies of objects as files named by their sha256: one for each content, however many objects have it."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.site import SiteObject, StoredObject


def store(folder: Path, objects: Iterable[StoredObject]) -> tuple[SiteObject, ...]:
    """Write the bodies that are not there yet. Gives the objects, with size and sha256 of what was written."""
    stored = []
    for each in objects:
        digest = hashlib.sha256(each.body).hexdigest()
        file = folder / digest
        if not file.exists():
            part = folder / f".{digest}.part"
            part.write_bytes(each.body)
            part.rename(file)
        stored.append(replace(each.object, size=len(each.body), sha256=digest))
    return tuple(stored)


def verify(folder: Path, objects: Iterable[SiteObject], remedy: str) -> None:
    """Raises InputError where an object's body is not there, or is not what the object says."""
    for each in {each.sha256: each for each in objects}.values():
        file = folder / each.sha256
        try:
            with file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            what = f"cannot read the content of {each.url}, which is {file}: {error.strerror}"
            raise InputError(what, remedy) from error
        if digest != each.sha256:
            raise InputError(f"the content of {each.url} was changed: {file}", remedy)


def read(folder: Path, each: SiteObject) -> StoredObject:
    try:
        return StoredObject(each, (folder / each.sha256).read_bytes())
    except OSError as error:
        what = f"cannot read the content of {each.url}: {error.strerror}"
        raise InputError(what, f"Remove the folder {folder}; it is made again when it is needed") from error
