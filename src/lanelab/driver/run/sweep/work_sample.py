"""How long a fixed piece of work takes here: what says that a machine is slow, that it is noisy, or that its beds
disturb one another. The work is in work_sample_program.py."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from lanelab.driver.base.errors import BedError

PROGRAM = Path(__file__).with_name("work_sample_program.py")
SECONDS = 1.0
REMEDY = "Look at the machine's load and free memory, and try again"


@dataclass(frozen=True, slots=True)
class WorkTimes:
    """The times that the pieces took."""

    pieces_ms: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        return statistics.median(self.pieces_ms)

    @property
    def noise(self) -> float:
        """The standard deviation as a share of the mean; 0 for a single piece."""
        return statistics.pstdev(self.pieces_ms) / statistics.fmean(self.pieces_ms)


class FixedWorker:
    """A process that waits to do the work, on its processors alone. `with` ends it."""

    def __init__(self, processors: Collection[int] = ()) -> None:
        """Keep the `processors` of the work: () for those of this process."""
        processors_text = ",".join(map(str, sorted(processors or os.sched_getaffinity(0))))
        argv = [str(Path(sys.executable).resolve()), "-I", "-S", str(PROGRAM), processors_text]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def __enter__(self) -> "FixedWorker":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def await_ready(self) -> None:
        self._line()

    def begin(self, seconds: float) -> None:
        """Begin to work; `end` waits for the times."""
        try:
            os.write(_descriptor(self._process.stdin), f"{seconds}\n".encode())
        except OSError as error:
            raise self._ended() from error

    def end(self) -> WorkTimes:
        return WorkTimes(tuple(json.loads(self._line())))

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            some = os.read(_descriptor(self._process.stdout), 1 << 16)
            if not some:
                raise self._ended()
            line += some
        return line

    def _ended(self) -> BedError:
        return BedError(f"the fixed work ended by itself, with status {self._process.wait()}", REMEDY)


def _descriptor(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise BedError("the fixed work has no pipe to it", REMEDY)
    return pipe.fileno()


def measure_fixed_work(seconds: float = SECONDS, processors: Collection[int] = ()) -> WorkTimes:
    """Time the work by itself on these processors; () for those of this process. Takes `seconds` and some 0.1 s
    more."""
    with FixedWorker(processors) as worker:
        worker.await_ready()
        (times,) = all_at_once([worker], seconds)
        return times


def all_at_once(workers: Sequence[FixedWorker], seconds: float) -> list[WorkTimes]:
    """Time the work of each, while all work."""
    for worker in workers:
        worker.begin(seconds)
    return [worker.end() for worker in workers]
