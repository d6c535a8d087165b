"""Packs a run folder as the run that comes with lanelab: `lanelab.sample_run()`.

    lanelab run sample.yaml --out sample       the experiment is in the packed run
    python -m tools.sample_run sample

Keys and what can be made again stay out. Pictures, which are many bytes, stay for the first trial of each cell and for
the median one, a trace for the first of all. To its readers the run was stored so: `lanelab verify` misses nothing.
"""

import shutil
import sqlite3
import sys
import tarfile
import tempfile
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.tables import median_trial
from lanelab.driver.api.sample import NAME, PACKED
from lanelab.driver.base.paths import PACKAGE, build_folder
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.digests import THE_RUN, note_digests, note_new_digests

MOST_BYTES = 5_000_000
LEFT_OUT = (run_format.REPORT, "authority", "in-use", "unfinished")


def main(folder: Path) -> int:
    """Pack the run in this folder; the exit status."""
    target = PACKAGE / "driver" / "api" / PACKED
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(folder, Path(scratch, NAME), ignore=shutil.ignore_patterns(*LEFT_OUT, "*-journal")))
        _slim(copy)
        with tarfile.open(target, "w:xz", preset=9) as archive:
            for path in sorted(path for path in copy.rglob("*") if path.is_file()):
                archive.add(path, f"{NAME}/{path.relative_to(copy)}", filter=_plain)
    size = target.stat().st_size
    print(f"{target}: {size:,} bytes")
    return 0 if size < MOST_BYTES else 1


def _slim(folder: Path) -> None:
    """Leave out what is large, and where on this machine lanelab was."""
    cells = read_run(folder).by_cell().values()
    first = {min(trial.number for trial in trials) for trials in cells}
    medians = {trial.number for trials in cells if (trial := median_trial(trials))}
    with closing(sqlite3.connect(folder / run_format.DATABASE)) as database, database:
        trials = [number for (number,) in database.execute("SELECT trial FROM trials")]
        for name, kept in (("trace.json.gz", {min(first)}), ("filmstrip.json.gz", first | medians)):
            _remove(folder, database, name, set(trials) - kept)
        place = str(build_folder().parent)
        database.execute("UPDATE sessions SET provenance = replace(provenance, ?, '')", (f"{place}/",))
        database.execute("DELETE FROM digests")
        note_digests(database, "run", THE_RUN)
        note_new_digests(database, "trial", trials)
        tests = [number for (number,) in database.execute("SELECT self_test FROM self_tests")]
        note_new_digests(database, "self-test", tests)
    with closing(sqlite3.connect(folder / run_format.DATABASE)) as database:
        database.execute("VACUUM")


def _remove(folder: Path, database: sqlite3.Connection, name: str, trials: Collection[int]) -> None:
    for trial in trials:
        (folder / run_format.ARTIFACTS / f"{trial:06d}" / name).unlink(missing_ok=True)
        database.execute("DELETE FROM artifacts WHERE trial = ? AND name = ?", (trial, name))


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who packed it, and when."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    member.mode = 0o644
    return member


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
