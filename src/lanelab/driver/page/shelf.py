"""The runs in a folder. One that has changed is read again, the others are not.

A name in an address is looked up among the runs that are there. No path is made of it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from lanelab.analysis.results.run_folder import changed_ns
from lanelab.analysis.results.run_summary import RunSummary, run_folders, summary
from lanelab.driver.api.opened_run import Run, open_run

MOST_OPEN = 8  # runs that stay read: a run of 5,000 trials takes 30 MB


@dataclass(slots=True)
class Shelf:
    """The runs directly in `folder`, and those of its studies: STUDY~FIGURE."""

    folder: Path
    _lines: dict[str, tuple[int, RunSummary]] = field(default_factory=dict)
    _runs: dict[str, tuple[int, Run]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def names(self) -> dict[str, Path]:
        """Return the folder of each run by its name."""
        return {"~".join(path.relative_to(self.folder).parts): path for path in run_folders(self.folder)}

    def lines(self) -> dict[str, RunSummary]:
        """Return a line of each, the newest first."""
        with self._lock:
            names = self.names()
            self._lines = {name: self._line(name, path) for name, path in names.items()}
            lines = {name: line for name, (_, line) in self._lines.items()}
        return dict(sorted(lines.items(), key=lambda item: (item[1].created_utc, item[0]), reverse=True))

    def _line(self, name: str, path: Path) -> tuple[int, RunSummary]:
        changed = changed_ns(path)
        known = self._lines.get(name)
        return known if known and known[0] == changed else (changed, summary(path))

    def run(self, name: str) -> Run | None:
        """Return the run of this name, None where there is none."""
        path = self.names().get(name)
        if path is None:
            return None
        changed = changed_ns(path)
        with self._lock:
            known = self._runs.pop(name, None)
            run = known[1] if known and known[0] == changed else open_run(path)
            self._runs[name] = changed, run
            while len(self._runs) > MOST_OPEN:
                self._runs.pop(next(iter(self._runs)))
        return run
