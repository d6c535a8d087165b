"""The runs in a folder. One that has changed is read again, the others are not.

A name in an address is looked up among the runs that are there. No path is made of it.
"""

from collections import defaultdict
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from lanelab.analysis.results.run_folder import changed_ns, has_writer
from lanelab.analysis.results.run_summary import RunSummary, run_folders, summary
from lanelab.driver.api.opened_run import Run, open_run
from lanelab.driver.page.priority import readers

MOST_OPEN = 8  # runs that stay read: a run of 5,000 trials takes 30 MB
Seen: TypeAlias = tuple[int, bool]  # when it was written to, and whether somebody may still write


@dataclass(slots=True)
class Shelf:
    """The runs directly in `folder`, and those of its studies: STUDY~FIGURE."""

    folder: Path
    _lines: dict[str, tuple[Seen, RunSummary]] = field(default_factory=dict)
    _runs: dict[str, tuple[Seen, Run]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _reading: dict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))
    _readers: Executor = field(default_factory=readers)

    def names(self) -> dict[str, Path]:
        """Return the folder of each run by its name. A ~ of its own is doubled."""
        places = ((path.relative_to(self.folder).parts, path) for path in run_folders(self.folder))
        return {"~".join(part.replace("~", "~~") for part in parts): path for parts, path in places}

    def lines(self) -> dict[str, RunSummary]:
        """Return a line of each, the newest first."""
        names = self.names()
        with self._lock:
            self._lines = {name: self._line(name, path) for name, path in names.items()}
            lines = {name: line for name, (_, line) in self._lines.items()}
        return dict(sorted(lines.items(), key=lambda item: (item[1].created_utc, item[0]), reverse=True))

    def _line(self, name: str, path: Path) -> tuple[Seen, RunSummary]:
        seen = look(path)
        known = self._lines.get(name)
        return known if known and known[0] == seen else (seen, summary(path))

    def run(self, name: str) -> Run | None:
        """Return the run of this name, None where there is none."""
        path = self.names().get(name)
        if path is None:
            return None
        with self._lock:
            reading = self._reading[name]
        with reading:  # of this run alone: another one may be long, or locked
            seen, known = look(path), self._runs.get(name)
            if known and known[0] == seen:
                return known[1]
            run = self._readers.submit(open_run, path).result()
        with self._lock:
            self._runs.pop(name, None)
            self._runs[name] = seen, run
            while len(self._runs) > MOST_OPEN:
                self._runs.pop(next(iter(self._runs)))
        return run


def look(folder: Path) -> Seen:
    """Return what tells whether a run is still what it was. A run whose writer was killed changes nothing else."""
    return changed_ns(folder), has_writer(folder)
