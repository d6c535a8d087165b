"""Real runs for tests: `lanelab run` as a user starts it, and what it leaves."""

import json
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.building.apache_module import MODULES, module
from lanelab.driver.base.programs.building.gateway import gateway_program
from tests.kit.handles import LanelabCommand

ACCEPT_LINKS = "--accept-links"


@dataclass(frozen=True)
class Played:
    """A run that has ended, however it did."""

    folder: Path
    done: subprocess.CompletedProcess[str]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        database = sqlite3.connect(f"file:{self.folder / 'run.sqlite'}?mode=ro", uri=True)
        try:
            database.execute(
                "CREATE TEMP VIEW arms_of_trials AS SELECT * FROM trials JOIN cells USING (cell) JOIN arms USING (arm)"
            )
            database.execute("CREATE TEMP VIEW measured AS SELECT trial, name AS metric, value FROM measures")
            return database.execute(query).fetchall()
        finally:
            database.close()

    def reasons(self, arm: str) -> set[str]:
        """Of all its failed trials."""
        query = "SELECT name, reason FROM failures JOIN arms_of_trials USING (trial)"
        return {reason for name, reason in self.rows(query) if name == arm}

    def statuses(self, arm: str) -> list[str]:
        query = "SELECT name, status FROM arms_of_trials ORDER BY trial"
        return [status for name, status in self.rows(query) if name == arm]

    def records(self, arm: str) -> list[dict[str, Any]]:
        query = "SELECT name, record FROM arms_of_trials ORDER BY trial"
        return [json.loads(record) for name, record in self.rows(query) if name == arm]

    def evidence(self, arm: str) -> list[dict[str, Any]]:
        return [record["evidence"] for record in self.records(arm)]

    def measures(self, arm: str, *, of_all: bool = False) -> list[dict[str, float]]:
        """By name, of its trials that count; `of_all`: of the others, too."""
        by_trial: dict[int, dict[str, float]] = {}
        query = "SELECT name, trial, metric, value FROM arms_of_trials JOIN measured USING (trial)"
        for name, trial, metric, value in self.rows(query if of_all else f"{query} WHERE status = 'ok'"):
            if name == arm:
                by_trial.setdefault(trial, {})[metric] = value
        return list(by_trial.values())

    def series(self, arm: str) -> dict[str, list[float]]:
        """The values of each series, in order of time, of all its trials."""
        found: dict[str, list[float]] = {}
        query = "SELECT arms_of_trials.name, s.name, s.value FROM series AS s JOIN arms_of_trials USING (trial)"
        for name, series, value in self.rows(f"{query} ORDER BY trial, t_ms"):
            if name == arm:
                found.setdefault(series, []).append(value)
        return found

    def requests(self, arm: str, *, of_all: bool = True) -> list[dict[str, Any]]:
        """In the order of each trial; without `of_all` of those that count, of which there has to be one."""
        assert of_all or "ok" in self.statuses(arm), (self.reasons(arm), self.done.stderr)
        query = "SELECT a.name, a.status, data FROM requests JOIN arms_of_trials a USING (trial) ORDER BY trial, number"
        told = [(status, data) for name, status, data in self.rows(query) if name == arm]
        return [json.loads(data) for status, data in told if of_all or status == "ok"]


def play(lanelab: LanelabCommand, folder: Path, text: str, *options: str, env: dict[str, str] | None = None) -> Played:
    """Run an experiment to its end in a new folder beside its file.

    Links are accepted as a busy machine measures them: that a wrong link is refused has tests of its own.
    """
    file = folder / "experiment.yaml"
    file.write_text(text)
    out = folder / "run"
    return Played(out, lanelab.run("run", str(file), "--out", str(out), ACCEPT_LINKS, *options, env=env))


def share_programs(lanelab: LanelabCommand) -> None:
    """The gateway and the modules take a minute to build: once for all tests, and where ./lanelab has them anyway."""
    gateway_program()
    for name in MODULES:
        module(name)
    lanelab.build.mkdir(parents=True, exist_ok=True)
    for name in ("go", "gateway", *MODULES):
        if (build_folder() / name).is_dir():  # a Go of the system's is none of ours
            (lanelab.build / name).symlink_to((build_folder() / name).absolute())


def resume(lanelab: LanelabCommand, folder: Path) -> Played:
    return Played(folder, lanelab.run("run", "--resume", str(folder)))
