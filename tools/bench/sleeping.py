"""Workers that sleep instead of making page loads, to see what a sweep of any size costs beside its trials.

What they deliver has the workload `sleep`, and says in its evidence that it is simulated. Nothing but `registered`
makes lanelab know that workload, for benchmarks and tests: no experiment file can have it, no command reads its runs.
"""

import contextlib
import functools
import hashlib
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.record import metrics, record
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import Artifact, TrialCopy
from lanelab.driver.run.machines import BedFacts, MachineFacts
from lanelab.driver.run.sweep.messages import Delivery, PieceRequest, Portion, Qualification
from lanelab.driver.run.sweep.worker.outbox import Outbox

TOOLS_ROOT = Path(__file__).resolve().parents[2]  # where `tools` is imported from, also beside the lanelab of a wheel
WORKLOAD, SLEPT = "sleep", "slept_s"
ARTIFACT = "simulated.bin"
GRID = """\
sites: [dummy]
links: {{rtt: [{rtts}]}}
arms: {{http: {{}}, no-keepalive: {{keepalive: false}}, tls: {{tls: "1.3"}}, h2: {{protocol: h2, tls: "1.3"}}}}
trials: {trials}
seed: 1
"""
ARMS = 4


@dataclass(frozen=True, slots=True)
class SleepEvidence(Coded):
    simulated: bool
    asked_s: float


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """Let runs store and read trials that slept, while the block runs."""
    tables = cast(
        "list[tuple[dict[str, Any], Any]]",
        [(record.EVIDENCE, SleepEvidence), (metrics.PRIMARY, SLEPT), (metrics.TRIALS, "simulated trials")],
    )
    for table, value in tables:
        table[WORKLOAD] = value
    try:
        yield
    finally:
        for table, _ in tables:
            del table[WORKLOAD]


def sleeping_experiment(trials: int, links: int) -> Experiment:
    """Return a grid of these links and four arms with at least this many trials, whose workload sleeps."""
    rtts = ", ".join(f"{10 + number}ms" for number in range(links))
    text = GRID.format(rtts=rtts, trials=-(-trials // (links * ARMS)))
    return replace(parse_experiment(text, "simulation.yaml", ["dummy"]), name="simulation", workload=WORKLOAD)


@dataclass(frozen=True, slots=True)
class Sleep(Coded):
    """Sleeps as each simulated trial does."""

    seconds: float
    artifact_bytes: int


class SleepingWorker:
    """A worker that sleeps. It does its jobs one after the other, as a real one does."""

    def __init__(self, name: str, machine: str, sleep: Sleep, folder: Path) -> None:
        self._name, self._machine, self._sleep, self._folder = name, machine, sleep, folder
        self._outbox = Outbox(folder / "outbox")
        self._made = 0  # folders of artifacts, which all portions share

    def run(self, name: str, payload: object) -> object:
        match name:
            case "assign":
                return {"lacks": []}
            case "qualify":
                return self._qualification().to_json()
            case "play":
                return self._play(Portion.from_json(payload)).to_json()
            case "piece":
                return self._outbox.piece(PieceRequest.from_json(payload))
            case "end_run":
                return self._delivery(0, ()).to_json()
        raise InputError(f"a simulated worker knows no job {name!r}", "Look at driver/run/sweep/messages.py")

    def _qualification(self) -> Qualification:
        machine = MachineFacts(
            self._machine, self._machine, "simulated", "", "", 1, 0, 0.0, 0.0, fixed_work_ms=None, noise=None
        )
        return Qualification("", "", machine, "0", utc_now(), {"simulated": "yes"}, (), self._beds(), ())

    def _beds(self) -> dict[str, BedFacts]:
        return {"1": BedFacts(f"simulated {self._name}", self._machine, "0", utc_now(), "none", "", 0.0)}

    def _play(self, portion: Portion) -> Delivery:
        self._make_artifacts(len(portion.cells))
        trials = tuple(self._trial(number, cell, portion) for number, cell in enumerate(portion.cells, 1))
        return self._delivery(portion.number, trials)

    def _trial(self, number: int, cell: str, portion: Portion) -> TrialCopy:
        began_utc, began = utc_now(), time.monotonic()
        time.sleep(self._sleep.seconds)
        slept_s = time.monotonic() - began
        evidence = SleepEvidence(simulated=True, asked_s=self._sleep.seconds)
        made = TrialRecord(WORKLOAD, began_utc, {SLEPT: slept_s}, {}, (), (), (ARTIFACT,), {}, evidence)
        artifacts = (Artifact(ARTIFACT, self._sleep.artifact_bytes, self._digest),)
        attempt = portion.tried[cell] + 1
        return TrialCopy(number, 1, cell, portion.round, attempt, slept_s, made, artifacts, "", "v", "")

    def _delivery(self, portion: int, trials: tuple[TrialCopy, ...]) -> Delivery:
        pack = self._outbox.put(f"portion-{portion}", trials, self._folder) if trials else None
        versions = {"v": {"simulated": "yes"}}
        return Delivery(portion, "", "", False, utc_now(), trials, (), self._beds(), versions, (), pack)

    def _make_artifacts(self, count: int) -> None:
        content = _noise(self._sleep.artifact_bytes)
        for number in range(self._made + 1, count + 1):
            folder = self._folder / run_format.ARTIFACTS / f"{number:06d}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ARTIFACT).write_bytes(content)
            self._made = number

    @property
    def _digest(self) -> str:
        return _digest_of(self._sleep.artifact_bytes)


@functools.cache
def _noise(size: int) -> bytes:
    """Return bytes that nothing can compress."""
    return random.Random(size).randbytes(size)  # noqa: S311 - not for secrets


@functools.cache
def _digest_of(size: int) -> str:
    return hashlib.sha256(_noise(size)).hexdigest()
