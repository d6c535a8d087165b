"""Packs a run folder as the run that comes with lanelab: `lanelab.sample_run()`.

    lanelab run sample.yaml --out sample       the experiment is in the packed run
    python -m tools.sample_run sample

Keys and what can be made again stay out. Pictures, which are many bytes, stay for the first trial of each cell and for
the median one, a trace for the first of all.
"""

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.tables import median_trial
from lanelab.driver.api.sample import NAME, PACKED
from lanelab.driver.base.paths import PACKAGE
from lanelab.driver.run.folder import format as run_format

MOST_BYTES = 5_000_000
LEFT_OUT = (run_format.REPORT, "authority", "in-use", "unfinished")


def main(folder: Path) -> int:
    """Pack the run in this folder; the exit status."""
    target = PACKAGE / "driver" / "api" / PACKED
    paths = sorted(_kept(folder))
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for path in paths:
            archive.add(path, f"{NAME}/{path.relative_to(folder)}", filter=_plain)
    size = target.stat().st_size
    print(f"{target}: {size:,} bytes")
    return 0 if size < MOST_BYTES else 1


def _kept(folder: Path) -> Iterator[Path]:
    run = read_run(folder)
    cells = run.by_cell().values()
    first = {min(trial.number for trial in trials) for trials in cells}
    medians = {trial.number for trials in cells if (trial := median_trial(trials))}
    large = {"trace.json.gz": {min(first)}, "filmstrip.json.gz": first | medians}
    for path in folder.rglob("*"):
        place = path.relative_to(folder)
        left_out = place.parts[0] in LEFT_OUT or path.name.endswith("-journal")
        if path.is_file() and not left_out and (path.name not in large or int(place.parts[1]) in large[path.name]):
            yield path


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who packed it, and when."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    member.mode = 0o644
    return member


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
