"""What a worker does for its controller, on a real bed: the jobs as they come, without an engine between."""

import base64
import hashlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.version import VERSION
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.schedule.portions import PlannedPortion, portions_of_round
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import Event
from lanelab.driver.run.folder import store as stores
from lanelab.driver.run.start import BegunRun, begin
from lanelab.driver.run.sweep.enrolment import assignment_of
from lanelab.driver.run.sweep.messages import Delivery, PieceRequest, Portion, Qualification, QualifyRequest, SitePiece
from lanelab.driver.run.sweep.packs import PackFile
from lanelab.driver.run.sweep.site_packs import SitePack
from lanelab.driver.run.sweep.worker import jobs, site_cache
from lanelab.driver.run.sweep.worker.context import WorkerContext
from lanelab.driver.run.this_machine import this_machine
from lanelab.driver.site.load import site_names

TEXT = """
sites: dummy
links: {rtt: 10ms}
arms: {kept: {}, closed: {keepalive: off}}
trials: 2
"""
# On a busy machine a link may be out of tolerance and a trial may fail: neither is what is tested here.
MADE = {"router": "auto", "pinned": {}, "accept_links": True}


@dataclass
class Worker:
    """A worker in this process, and the run that it works for."""

    begun: BegunRun
    context: WorkerContext
    events: list[Event] = field(default_factory=list)
    beds: dict[int, int] = field(default_factory=dict)

    def ask(self, name: str, payload: dict[str, Any]) -> Any:
        self.context.begin_job()
        return jobs.run(name, payload, self.context)

    def qualify(self) -> Qualification:
        made = Qualification.from_json(self.ask("qualify", QualifyRequest(utc_now(), True).to_json()))
        self.note(made)
        return made

    def play(self, portion: PlannedPortion, number: int) -> Delivery:
        cells = tuple(cell.id for cell in portion.cells)
        none = dict.fromkeys(cells, 0)
        order = Portion(number, portion.round, portion.block, cells, none, none)
        made = Delivery.from_json(self.ask("play", order.to_json()))
        self.note(made)
        return made

    def note(self, made: Qualification | Delivery) -> None:
        for number, facts in made.beds.items():
            self.begun.store.add_machine(replace(this_machine(), name=facts.machine))
            self.beds[int(number)] = self.begun.store.add_bed(facts)

    def fetch(self, made: Delivery, path: Path) -> PackFile:
        assert made.pack
        file = PackFile(path, replace(made.pack, data=""))
        while file.have < made.pack.bytes:
            file.add(self.ask("piece", PieceRequest(made.pack.name, file.have, 100_000).to_json()))
        return file

    def keep(self, made: Delivery, folder: Path) -> None:
        """As the controller does."""
        file = self.fetch(made, folder / "pack")
        file.unpack(made.trials, folder / "content")
        file.close()
        for digest, versions in made.versions.items():
            self.begun.store.add_versions(digest, versions)
        self.begun.store.adopt(made.trials, folder / "content", self.beds, made.self_tests)


def worker_for(text: str, folder: Path, allowed: frozenset[str] = frozenset()) -> Worker:
    experiment = parse_experiment(text, "swept.yaml", site_names())
    begun = begin(experiment, VERSION, folder / "run", 1, dict(MADE))
    begun.store.begin_session({}, this_machine())
    (folder / "scratch").mkdir()
    events: list[Event] = []
    context = WorkerContext("lent", 1, (0,), allowed, "auto", folder / "scratch", events.append)
    return Worker(begun, context, events)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    made = worker_for(TEXT, tmp_path)
    yield made
    made.context.close()
    made.begun.store.close()


def portions(worker: Worker) -> list[PlannedPortion]:
    return [one for number in (1, 2) for one in portions_of_round(worker.begun.experiment, 1, number, 1)]


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def are_whole(run: Run, rounds: tuple[int, ...] = (1, 2)) -> bool:
    """Whether each cell has its trial in each round: the attempts in order, none after one that counts."""
    made: dict[tuple[int, int], list[int]] = {}
    for trial in run.trials:
        made.setdefault((trial.cell.number, trial.round), []).append(trial.attempt)
    whole = {(cell.number, number) for cell in run.cells for number in rounds}
    return made.keys() == whole and all(each == list(range(1, len(each) + 1)) for each in made.values())


def test_trials_of_a_worker_become_those_of_the_run(worker: Worker, tmp_path: Path) -> None:
    assert worker.ask("assign", assignment_of(worker.begun).to_json()) == {"lacks": []}
    made = worker.qualify()
    assert made.unfit == ""
    assert made.refused == ()
    assert made.machine.name == "lent"
    assert made.machine.fixed_work_ms
    assert [(test.link, test.moment) for test in made.self_tests] == [
        (worker.begun.experiment.links[0].label, "before")
    ]
    assert any("apache" in name for name in made.versions)
    for number, portion in enumerate(portions(worker), 1):
        delivery = worker.play(portion, number)
        assert delivery.undone == ""
        assert list(dict.fromkeys(trial.cell for trial in delivery.trials)) == [cell.id for cell in portion.cells]
        assert set(delivery.versions) == {trial.versions for trial in delivery.trials}
        assert delivery.self_tests == ()  # the link was measured once, and the bed lives on
        worker.keep(delivery, tmp_path / f"delivery-{number}")
    last = Delivery.from_json(worker.ask("end_run", {"run": worker.begun.store.run_id, "measure_links": True}))
    assert last.trials == ()
    assert files_in(worker.context.scratch) == []
    run = read_run(worker.begun.store.folder)
    assert are_whole(run)
    names = {machine.number: machine.name for machine in run.machines}
    assert {names[trial.machine] for trial in run.trials} == {"lent"}
    assert len({trial.bed for trial in run.trials}) == 1
    for trial in run.trials:
        assert files_in(worker.begun.store.folder / "trials" / f"{trial.number:06d}")
    assert {event.kind for event in worker.events} >= {"bed", "self-test", "trial-started", "trial"}


def test_a_portion_that_cannot_be_stored_leaves_nothing_and_is_made_when_it_can(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.ask("assign", assignment_of(worker.begun).to_json())
    begin_trial = stores.Store.begin_trial
    begun: list[int] = []

    def full_after_one(store: stores.Store) -> tuple[int, Path]:
        if begun:
            monkeypatch.setattr(stores, "ENOUGH_MIB", 1 << 40)
        begun.append(1)
        return begin_trial(store)

    monkeypatch.setattr(stores.Store, "begin_trial", full_after_one)
    portion = portions(worker)[0]
    delivery = worker.play(portion, 1)
    assert len(begun) == 2
    assert "is full" in delivery.undone
    assert delivery.is_workers_fault
    assert delivery.trials == ()
    assert delivery.pack is None
    assert files_in(worker.context.scratch / "run") == []
    monkeypatch.undo()
    again = worker.play(portion, 2)
    assert again.undone == ""
    worker.keep(again, tmp_path / "delivery")
    assert are_whole(read_run(worker.begun.store.folder), rounds=(1,))


def test_a_portion_whose_bed_is_lost_is_made_on_one_bed(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a site that the machine does not have: it comes from the controller."""
    (tmp_path / "no-sites").mkdir()
    monkeypatch.setenv("LANELAB_SITES", str(tmp_path / "no-sites"))
    monkeypatch.setattr(site_cache, "CACHE", str(tmp_path / "cache"))
    assert worker.ask("assign", assignment_of(worker.begun).to_json()) == {"lacks": ["dummy"]}
    pack = SitePack.of("dummy", worker.begun.sites.archived["dummy"], tmp_path / "site")
    data = pack.path.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    worker.ask("site_piece", SitePiece(pack.done.digest, 0, base64.b64encode(data).decode(), sha256).to_json())
    worker.ask("site_done", pack.done.to_json())
    killed: list[int] = []

    def kill_its_bed(event: Event) -> None:
        worker.events.append(event)
        if event.kind == "trial" and not killed:
            killed.append(bed_of(worker).pid)
            os.kill(killed[0], signal.SIGKILL)

    worker.context.tell = kill_its_bed
    delivery = worker.play(portions(worker)[0], 1)
    assert killed
    assert delivery.undone == ""
    assert {event.kind for event in worker.events} >= {"bed-lost"}
    worker.keep(delivery, tmp_path / "delivery")
    run = read_run(worker.begun.store.folder)
    assert are_whole(run, rounds=(1,))
    assert len({trial.bed for trial in run.trials if trial.ok}) == 1


def bed_of(worker: Worker) -> Bed:
    kept = worker.context.kept
    assert isinstance(kept, jobs.Kept)
    return kept.work._run.runner().current.bed


def test_what_runs_code_of_its_author_needs_the_owners_word(tmp_path: Path) -> None:
    worker = worker_for(TEXT.replace("kept: {}", "kept: {server_directives: [Timeout 10]}"), tmp_path)
    with pytest.raises(InputError, match=r"server_directives of the arm kept: Timeout 10.*--allow directives"):
        worker.ask("assign", assignment_of(worker.begun).to_json())
    worker.begun.store.close()


def test_a_machine_whose_disk_is_full_is_unfit(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    worker.ask("assign", assignment_of(worker.begun).to_json())
    monkeypatch.setattr("lanelab.driver.run.sweep.worker.work.LITTLE_SPACE_MIB", 1 << 40)
    made = Qualification.from_json(worker.ask("qualify", QualifyRequest(utc_now(), True).to_json()))
    assert "is full" in made.unfit
    assert "start the worker again" in made.remedy


def test_a_halt_ends_a_portion(worker: Worker) -> None:
    worker.ask("assign", assignment_of(worker.begun).to_json())
    cells = tuple(cell.id for cell in portions(worker)[0].cells)
    order = Portion(1, 1, 1, cells, dict.fromkeys(cells, 0), dict.fromkeys(cells, 0))
    worker.context.halt()
    delivery = Delivery.from_json(jobs.run("play", order.to_json(), worker.context))
    assert "stopped" in delivery.undone
    assert not delivery.is_workers_fault
    assert delivery.trials == ()


def test_pieces_are_what_the_pack_is(worker: Worker, tmp_path: Path) -> None:
    worker.ask("assign", assignment_of(worker.begun).to_json())
    delivery = worker.play(portions(worker)[0], 1)
    file = worker.fetch(delivery, tmp_path / "pack")
    assert delivery.pack
    content = file.path.read_bytes()
    assert hashlib.sha256(content).hexdigest() == delivery.pack.sha256
    file.close()
    assert delivery.pack.data == "" or base64.b64decode(delivery.pack.data) == content
    worker.context.halt()
    worker.play(portions(worker)[0], 2)  # it stays until the worker is to play again
    with pytest.raises(InputError, match="there is no pack"):
        worker.ask("piece", PieceRequest(delivery.pack.name, 0, 10).to_json())
