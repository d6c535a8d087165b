"""A cluster without processes: its workers answer in an order, and with faults, that a seed decides."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lanelab.driver.base.clock import shifted, utc_now
from lanelab.driver.base.coded import Coded, parsed
from lanelab.driver.base.errors import BedLost, LanelabError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.link.results import SelfTest
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.copies import SelfTestCopy, StoredSelfTest, TrialCopy
from lanelab.driver.run.machines import BedFacts, MachineFacts
from lanelab.driver.run.sweep.cluster import Away, Finished, Happening, JobName, Joined, Left
from lanelab.driver.run.sweep.messages import Delivery, Portion, Qualification, RefusedLink


class KilledError(Exception):
    """The controller is killed here."""


@dataclass
class Faults:
    """How often each thing happens, per job."""

    dies: float = 0.0
    raises: float = 0.0
    undone: float = 0.0
    trial_fails: float = 0.0
    away: float = 0.0
    kills_controller: float = 0.0


@dataclass
class ScriptedCluster:
    experiment: Experiment
    seed: int
    workers: int = 3
    faults: Faults = field(default_factory=Faults)
    refuses: Mapping[str, str] = field(default_factory=dict)  # label of a link -> the machine that cannot have it
    clock_ahead_s: float = 0.0
    unfit: str = ""
    silent: str = ""  # a worker that never answers when it is to play
    fails_to_begin: int = 0  # so many times whoever is assigned raises
    dashboard: str = ""

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.jobs = 0
        self.joined = 0
        self.there: list[str] = []
        self.pending: list[tuple[int, str, JobName, Coded]] = []
        self.played: list[tuple[str, Portion]] = []
        self.closed = False

    def machine(self, worker: str) -> str:
        return f"machine-{int(worker.removeprefix('w')) % self.workers}"

    def wait(self, timeout_s: float) -> list[Happening]:
        del timeout_s
        if self.chance.random() < self.faults.kills_controller:
            raise KilledError
        if len(self.there) < self.workers:
            self.joined += 1
            worker = f"w{self.joined}"
            self.there.append(worker)
            return [Joined(worker, f"{self.machine(worker)}/1")]
        if self.chance.random() < self.faults.away:
            self.there, self.pending = [], []
            return [Away("cut")]
        if not self.pending:
            return []
        return self._next_answer()

    def _next_answer(self) -> list[Happening]:
        job, worker, name, payload = self.pending.pop(self.chance.randrange(len(self.pending)))
        if name == "play" and worker == self.silent:
            return []
        if name == "assign" and self.fails_to_begin:
            self.fails_to_begin -= 1
            return [Finished(job, worker, error=BedLost("no luck"))]
        if self.chance.random() < self.faults.dies:
            self.there.remove(worker)
            self.pending = [one for one in self.pending if one[1] != worker]
            return [Left(worker, "killed")]
        if name == "play" and self.chance.random() < self.faults.raises:
            return [Finished(job, worker, error=BedLost("the bed is gone"))]
        return [Finished(job, worker, self.answer(worker, name, payload))]

    def start(self, worker: str, name: JobName, payload: Coded) -> int:
        self.jobs += 1
        self.pending.append((self.jobs, worker, name, payload))
        return self.jobs

    def halt(self) -> None: ...

    def close(self) -> None:
        self.closed = True

    # --- what workers answer

    def answer(self, worker: str, name: JobName, payload: Coded) -> Any:
        if name == "assign":
            return {"lacks": []}
        if name == "qualify":
            return self.qualification(worker).to_json()
        if name == "play":
            portion = Portion.from_json(payload.to_json())
            self.played.append((worker, portion))
            return self.delivery(worker, portion).to_json()
        if name == "end_run":
            return self.empty(worker, 0, "").to_json()
        raise LanelabError(f"no job {name} is expected here")

    def bed(self, worker: str) -> BedFacts:
        return BedFacts(f"bed of {worker}", self.machine(worker), "0", utc_now(), "uml", "6.1", 1.0)

    def now(self) -> str:
        return shifted(utc_now(), self.clock_ahead_s)

    def qualification(self, worker: str) -> Qualification:
        name = self.machine(worker)
        machine = MachineFacts(name, name, "debian-12", "6.1", "made", 2, 4096, 0.0, 0.0, 10.0, 0.01)
        refused = tuple(RefusedLink(label, "too slow") for label, who in self.refuses.items() if who in (name, "all"))
        beds = {"1": self.bed(worker)}
        return Qualification(self.unfit, "", machine, "0", self.now(), {"browser": "1"}, refused, beds, ())

    def empty(self, worker: str, portion: int, undone: str) -> Delivery:
        beds = {"1": self.bed(worker)}
        return Delivery(portion, undone, "", False, self.now(), (), (), beds, {}, (), None)

    def delivery(self, worker: str, portion: Portion) -> Delivery:
        if self.chance.random() < self.faults.undone:
            return self.empty(worker, portion.number, "its disk is full")
        trials = []
        for number, cell in enumerate(portion.cells, 1):
            attempt = portion.tried[cell] + 1
            fails = self.chance.random() < self.faults.trial_fails
            value = {} if fails else {"plt_ms": 1000.0 + number}
            record = TrialRecord("page_load", self.now(), value, {}, (), (), (), {}, None)
            if fails:
                record = TrialRecord.not_started("page_load", self.now(), Reason.BROWSER_CRASHED, "made")
            trials.append(TrialCopy(number, 1, cell, portion.round, attempt, 1.0, record, (), "a", "v", ""))
        label = next(cell.link.label for cell in self.experiment.cells if cell.id == portion.cells[0])
        if self.refuses.get(label) in (self.machine(worker), "all"):
            undone = self.empty(worker, portion.number, "the link is not what was asked for")
            return replace(undone, refused=(RefusedLink(label, "too slow"),))
        found = parsed(StoredSelfTest, SelfTest((), 0.1).to_json(), "a self-test")
        test = SelfTestCopy(1, label, "before", self.now(), True, found)
        beds, versions = {"1": self.bed(worker)}, {"v": {"browser": "1"}}
        return Delivery(portion.number, "", "", False, self.now(), tuple(trials), (), beds, versions, (test,), None)
