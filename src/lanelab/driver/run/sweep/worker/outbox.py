"""Artifacts of a delivery on the worker's disk, until the controller has them."""

import base64
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.writing import writing
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import TrialCopy
from lanelab.driver.run.sweep.messages import SMALL_BYTES, Pack, PieceRequest
from lanelab.driver.run.sweep.packs import pack, piece_of

LARGEST_PIECE = 64 << 20


class Outbox:
    """One pack at a time: a worker plays nothing while one is fetched."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None

    def put(self, name: str, trials: Iterable[TrialCopy], run: Path) -> Pack:
        """Pack the artifacts of these trials of a run folder."""
        self.clear()
        with writing("make room for a delivery"):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / name
        size, sha256 = pack(self._path, _files(trials, run / run_format.ARTIFACTS))
        data = base64.b64encode(self._path.read_bytes()).decode() if size <= SMALL_BYTES else ""
        return Pack(name, size, sha256, data)

    def piece(self, request: PieceRequest) -> bytes:
        if self._path is None or request.pack != self._path.name:
            raise InputError(f"there is no pack {request.pack[:60]!r} here", "Its portion has to be begun anew")
        return piece_of(self._path, request.offset, min(request.length, LARGEST_PIECE))

    def clear(self) -> None:
        self._path = None
        shutil.rmtree(self._folder, ignore_errors=True)


def _files(trials: Iterable[TrialCopy], artifacts: Path) -> Iterator[tuple[str, Path]]:
    for trial in trials:
        for each in trial.artifacts:
            name = f"{trial.trial:06d}/{each.name}"
            yield name, artifacts / name
