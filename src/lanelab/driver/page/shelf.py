"""The runs in a folder. One that has changed is read again, the others are not.

A name in an address is looked up among the runs that are there. No path is made of it.
"""

from collections import defaultdict
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from lanelab.analysis.results.run_folder import changed_ns, has_writer
from lanelab.analysis.results.run_summary import RunSummary, run_folders, summary
from lanelab.driver.api.opened_run import Run, open_run
from lanelab.driver.page.priority import ordinary

MOST_OPEN = 8  # runs that stay read: a run of 5,000 trials takes 30 MB


@dataclass(slots=True)
class Shelf:
    """The runs directly in `folder`, and those of its studies: STUDY~FIGURE."""

    folder: Path
    _lines: dict[str, tuple[int, RunSummary]] = field(default_factory=dict)
    _runs: dict[str, tuple[int, Run]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _reading: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))
    _readers: Executor = field(default_factory=ordinary)

    def names(self) -> dict[str, Path]:
        """Return the folder of each run by its name. A ~ of its own is doubled."""
        places = ((path.relative_to(self.folder).parts, path) for path in run_folders(self.folder))
        return {"~".join(part.replace("~", "~~") for part in parts): path for parts, path in places}

    def begin(self) -> None:
        """Begin to read a line of each run, so that they are there when the first page is asked for."""
        self._readers.submit(self.lines)

    def lines(self) -> dict[str, RunSummary]:
        """Return a line of each, the newest first."""
        names = self.names()
        with self._lock:
            self._lines = {name: self._line(name, path) for name, path in names.items()}
            lines = {name: line for name, (_, line) in self._lines.items()}
        return dict(sorted(lines.items(), key=lambda item: (item[1].created_utc, item[0]), reverse=True))

    def _line(self, name: str, path: Path) -> tuple[int, RunSummary]:
        changed, known = changed_ns(path), self._lines.get(name)
        is_current = known and known[0] == changed and not is_left(path, known[1].state)
        return known if known and is_current else (changed, summary(path))

    def run(self, name: str) -> Run | None:
        """Return the run of this name, None where there is none."""
        path = self.names().get(name)
        if path is None:
            return None
        with self._lock:
            reading = self._reading[name]
        with reading:  # of this run alone: another one may be long, or locked
            changed, known = changed_ns(path), self._runs.get(name)
            if known and known[0] == changed and not is_left(path, known[1].state):
                return known[1]
            run = self._readers.submit(open_run, path).result()
        with self._lock:
            self._runs.pop(name, None)
            self._runs[name] = changed, run
            while len(self._runs) > MOST_OPEN:
                self._runs.pop(next(iter(self._runs)))
        return run


def is_of_study(name: str) -> bool:
    """Return whether that is the name of a figure of a study, as `Shelf.names` has it."""
    return "~" in name.replace("~~", "")


def is_left(folder: Path, state: str) -> bool:
    """Return whether a run that was running has no writer any more: one that is killed changes nothing else."""
    return state == "running" and not has_writer(folder)
