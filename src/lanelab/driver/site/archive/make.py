"""The objects of a site that is an archive."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.limits import OF_LANELAB
from lanelab.driver.site.archive.objects import objects_of
from lanelab.driver.site.archive.read_warc import read_warc
from lanelab.driver.site.manifest import MANIFEST, Manifest
from lanelab.driver.site.site import StoredObject


def make(folder: Path, manifest: Manifest) -> Iterator[StoredObject]:
    """Yield the objects of a site with an archive, which has to be the one that its manifest names."""
    file = folder / str(manifest.archive)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the site's archive {file}: {error.strerror}", "Bring it back") from error
    if hashlib.sha256(data).hexdigest() != manifest.sha256:
        remedy = f"Bring it back, or write its sha256 into {folder / MANIFEST}"
        raise InputError(f"the site's archive {file} was changed: another sha256 than the manifest has", remedy)
    yield from objects_of(read_warc(data, str(file), OF_LANELAB).exchanges, OF_LANELAB, by_lanelab=True).stored
