"""One run of several: lanelab.merge."""

import datetime
from collections.abc import Sequence
from pathlib import Path

from lanelab.analysis.results.runs import find_run
from lanelab.driver.api.opened_run import Run, open_run
from lanelab.driver.base.errors import ArgumentError
from lanelab.driver.base.version import VERSION
from lanelab.driver.run.events import Listener, Notice, unheard
from lanelab.driver.run.folder.format import RUNS
from lanelab.driver.run.merging import merge as merge_folders


def merge(names: Sequence[str | Path], out: str | Path | None = None, *, on_event: Listener = unheard) -> Run:
    """Make one run of several runs of equal experiments, and open it. They stay as they are. out: the folder of the new
    run, which must not be there; without it runs/DATE-merged. on_event: hears how far it is, and what differs.

    Raises InputError where the experiments are not equal."""
    if isinstance(names, str | Path):
        raise ArgumentError(f"{names!r} is one run", "Write a list of the runs to merge", key="names")
    folders = [find_run(str(name)) for name in names]
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    target = Path(out) if out is not None else RUNS / f"{stamp}-merged"
    merged = merge_folders(folders, target, VERSION, lambda words: on_event(Notice(words)))
    for sentence in merged.differences:
        on_event(Notice(f"mind: {sentence}"))
    on_event(Notice(merged.sentence()))
    return open_run(merged.folder)
