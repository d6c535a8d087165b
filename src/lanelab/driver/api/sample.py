"""The run that comes with lanelab: a real one, small, for documentation, tests, and a first look.

It is kept as one packed file, since a run folder is 300 files and may be written to (its report); it is unpacked into
the folder for what can be made again.
"""

import tarfile
import tempfile
from importlib import resources
from pathlib import Path

from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.api.opened_run import Run
from lanelab.driver.base.errors import StoreError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.run.folder.digests import file_digest

PACKED = "sample_run.tar.xz"
NAME = "sample"


def sample_run() -> Run:
    """Return the run that comes with lanelab, unpacked once. Reading it needs neither a browser nor a server."""
    return Run(read_run(unpacked()))


def unpacked() -> Path:
    """Return the folder of the sample, which is made when it is not there."""
    with resources.as_file(resources.files(__package__).joinpath(PACKED)) as packed:
        place = build_folder() / "sample-run" / file_digest(packed)[:16]
        if not (place / NAME).is_dir():
            try:
                _unpack(packed, place)
            except OSError as error:
                remedy = "Set LANELAB_BUILD to a folder that can be written"
                raise StoreError(f"cannot unpack the sample run into {place}: {error.strerror}", remedy) from error
    return place / NAME


def _unpack(packed: Path, place: Path) -> None:
    """Unpack it beside its place first: two programs may do so at the same moment, and one may be stopped."""
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as scratch, tarfile.open(packed) as archive:
        for member in archive:  # ours, and all are files: `filter` came with Python 3.11.4
            source = archive.extractfile(member)
            if source:
                target = Path(scratch) / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read())
        if not (place / NAME).is_dir():
            (Path(scratch) / NAME).rename(place / NAME)
