"""Stores a run that was made up, by the writer of run folders, with times of its own."""

import datetime
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from lanelab.driver.arm.arm import Arm
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder import store as writer
from lanelab.driver.run.folder.copies import Artifact, SelfTestCopy, TrialCopy
from lanelab.driver.run.machines import BedFacts, MachineFacts

BEGAN = datetime.datetime(2026, 11, 20, 9, 30, tzinfo=datetime.UTC)
LASTS_S = 600
PROVENANCE: dict[str, Any] = {
    "lanelab": {"version": "0.1.0", "git_commit": "f03f996c0ffee", "git_dirty": False},
    "host": {"kernel": "6.1.0-30-amd64", "cpu": {"model": "AMD EPYC 7B13", "count": 2}, "load": [0.4, 0.3, 0.2]},
    "router": {"kind": "uml", "kernel": "6.1.176", "compensation_us": 310},
    "programs": {"chromium": "140.0.7339.80", "chromedriver": "140.0.7339.80", "apache": "Apache/2.4.62 (Debian)"},
    "sysctls": {"net.ipv4.tcp_congestion_control": "cubic", "net.ipv4.tcp_rmem": "4096 131072 6291456"},
    "browser_flags": ["--headless=new", "--no-first-run", "--disable-background-networking"],
    "seed": 7,
}
HOST = MachineFacts(
    name="here", identity="id of here", system="Debian GNU/Linux 12", kernel="6.1.0-30-amd64",
    processor="AMD EPYC 7B13", processors=4, memory_mib=16_000, clock_ahead_s=0.0, clock_uncertainty_s=0.002,
    fixed_work_ms=10.0, noise=0.01,
)  # fmt: skip


@dataclass(frozen=True)
class RunContent:
    """All that goes into the folder. Trials and self-tests name beds by their numbers here; beds that are not among
    `beds` are known by their numbers alone."""

    text: str
    meta: Mapping[str, str]
    cells: Sequence[Cell]
    provenance: Mapping[str, Any]
    trials: Sequence[TrialCopy]
    files: Mapping[str, bytes] = field(default_factory=dict)  # each trial has all of them
    self_tests: Sequence[SelfTestCopy] = ()
    machines: Sequence[MachineFacts] = ()
    beds: Sequence[BedFacts] = ()
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by digest


def stamp(seconds: float) -> str:
    when = BEGAN + datetime.timedelta(seconds=seconds)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def kept_figure(figure: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a figure with every key that a run keeps of it."""
    keys = dict.fromkeys(("title", "y", "kind", "scale"), "") | dict.fromkeys(("x", "series", "facet", "published"))
    return {**keys, "only": {}, **figure}


def cell_of(number: int, site: str, link: LinkCase, arm: Arm) -> Cell:
    """A cell whose identifier is its number, which tests can name."""
    cell = Cell(site, link, arm)
    object.__setattr__(cell, "_id", f"{number:016x}")
    return cell


def store_run(folder: Path, content: RunContent) -> None:
    """Make the folder of a run of one session."""
    meta = {"format": run_format.VERSION, "created_utc": stamp(0), "lanelab": "0.1.0", **content.meta}
    # It need not outlive a crash of the machine.
    with mock.patch("os.fsync"), mock.patch.object(writer, "utc_now") as now:
        store = writer.Store.create(folder, content.text, meta, content.cells)
        try:
            now.return_value = stamp(0)
            store.begin_session(content.provenance, HOST)
            _store_content(store, content)
            now.return_value = stamp(LASTS_S)
            store.end_session("finished")
        finally:
            store.close()


def _store_content(store: writer.Store, content: RunContent) -> None:
    for machine in content.machines:
        store.add_machine(machine)
    for digest, versions in content.versions.items():
        store.add_versions(digest, versions)
    for bed in content.beds:
        store.add_bed(bed)
    scratch = store.folder / writer.SCRATCH
    for trial in content.trials:
        place = scratch / f"{trial.trial:06d}"
        place.mkdir(parents=True)
        for name, data in content.files.items():
            (place / name).write_bytes(data)
    numbers = {trial.bed for trial in content.trials} | {test.bed for test in content.self_tests}
    store.adopt(content.trials, scratch, {number: number for number in numbers}, content.self_tests)


def artifacts_of(files: Mapping[str, bytes]) -> tuple[Artifact, ...]:
    """Return how a trial lists its files."""
    return tuple(Artifact(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items())
