"""One run as a worker works for it: a scratch run folder, a bed, and what is made on it.

A portion is delivered whole or not at all. Where something fails, the worker forgets what it has of the run and begins
anew: the controller has all that counts.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from driver.bed.placement import placement, processors_here
from driver.bed.substrate import BedSettings
from driver.channel.client import Bed
from driver.experiment.model import Cell
from driver.host.install import prepare
from driver.run.built_programs import Programs
from driver.run.copies import SelfTestCopy, TrialCopy
from driver.run.current_bed import BEDS_LOST_IN_A_ROW
from driver.run.events import Event
from driver.run.needs import needs_of
from driver.run.runner import Runner, StopRequest
from driver.run.start import AUTHORITY, BegunRun
from driver.run.store import ENOUGH_MIB, Store
from driver.run.this_machine import this_machine
from driver.schedule.order import PlannedTrial
from driver.schedule.portions import PortionAgenda
from driver.servers.certificates import Authority
from driver.sweep.fixed_work import measure_fixed_work
from driver.sweep.messages import Delivery, Pack, Portion, Qualification, QualifyRequest, RefusedLink
from driver.sweep.worker.assigned import SAME, Assigned
from driver.sweep.worker.context import WorkerContext
from driver.sweep.worker.outbox import Outbox
from model import paths
from model.clock import utc_now
from model.errors import BedError, BedLost, InputError, Interrupted, LanelabError, StoreError
from model.machines import BedFacts, MachineFacts
from model.reasons import timed_out

LITTLE_SPACE_MIB = 4 * ENOUGH_MIB  # artifacts are there twice while they are packed


class Work:
    """Begins with the first job that needs a bed; `end` leaves nothing behind."""

    def __init__(self, assigned: Assigned, context: WorkerContext) -> None:
        self.assigned, self._context = assigned, context
        self.outbox = Outbox(context.scratch / "outbox")
        self._folder = context.scratch / "run"
        self._stop = StopRequest()
        self._store: Store | None = None
        self._runner: Runner | None = None
        self._told = 0  # the last self-test that the controller knows
        self._machine: MachineFacts | None = None

    # --- jobs

    def qualify(self, request: QualifyRequest) -> Qualification:
        """Raises Interrupted where nobody waits for the answer any more."""
        utc = utc_now()
        self._machine = this_machine(self._context.machine)
        refused: list[RefusedLink] = []
        unfit = remedy = ""
        versions: dict[str, str] = {}
        try:
            self._machine = self._examined()
            self._require_space()
            refused = self._all_measured() if request.measure_links else []
            versions = self._versions()
        except Interrupted:
            self._forget()
            raise
        except LanelabError as error:
            unfit, remedy = error.what, error.remedy
        tests, beds = self._news()
        if unfit:
            self._forget()
        processors = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        return Qualification(
            unfit=unfit,
            remedy=remedy,
            machine=self._machine,
            processors=processors,
            utc=utc,
            versions=versions,
            refused=tuple(refused),
            beds={str(number): facts for number, facts in beds.items()},
            self_tests=tuple(tests),
        )

    def play(self, portion: Portion) -> Delivery:
        self.outbox.clear()
        try:
            return self._played(portion)
        except LanelabError as error:
            tests, beds = self._news()
            self._forget()
            fault = not isinstance(error, Interrupted)
            return self._undone(portion.number, error.what, error.remedy, tests, beds, is_workers_fault=fault)
        except BaseException:
            self._forget()
            raise

    def last_words(self, *, measure_links: bool) -> Delivery:
        """What the links of the bed are at the end of the run."""
        if measure_links and self._runner:
            with contextlib.suppress(LanelabError):  # links that are not measured again are shown as that
                self._runner.current.measure_links_again()
        return self._delivery(0, *self._news())

    def end(self) -> None:
        """Leaves nothing of the run on this machine but sites."""
        self._forget()
        self.outbox.clear()
        for name in ("given", "arriving"):
            shutil.rmtree(self._context.scratch / name, ignore_errors=True)

    # --- a machine and its bed

    def _examined(self) -> MachineFacts:
        work = measure_fixed_work()
        facts = this_machine(self._context.machine)
        return replace(facts, fixed_work_ms=work.median_ms, noise=work.noise)

    def _require_space(self) -> None:
        free_mib = shutil.disk_usage(self._context.scratch).free >> 20
        if free_mib < LITTLE_SPACE_MIB:
            what = f"the disk of {self._context.scratch} on {self._context.machine} is full ({free_mib} MiB free)"
            raise StoreError(what, f"Free at least {LITTLE_SPACE_MIB} MiB, and start the worker again")

    def _all_measured(self) -> list[RefusedLink]:
        """Measure each link of the experiment on a bed. A bed that is lost meanwhile gets one more chance."""
        links = {cell.link.link: cell for cell in self.assigned.experiment.cells}
        for chance in (1, 2):
            runner = self._ready()
            try:
                runner.current.make_ready()
                runner.current.reconsider_links()
                return self._measured(runner, links.values())
            except BedLost as error:
                self._forget()
                if chance == 2:
                    raise
                self._tell(Event("bed-lost", {"what": str(error)}))
        raise AssertionError  # the second chance returned or raised

    def _measured(self, runner: Runner, cells: Iterable[Cell]) -> list[RefusedLink]:
        """Measure the links of these cells that were not measured on this bed: which are refused."""
        refused = []
        for cell in cells:
            if runner.current.links.has_passed(cell):
                continue
            if self._context.is_halted():
                raise Interrupted("stopped while links were measured")
            runner.current.bed.end_trial()  # what the last one has running would disturb
            why = runner.current.links.bring(cell)
            if why:
                refused.append(RefusedLink(self._label_of(cell.link.link), why))
        return refused

    def _versions(self) -> dict[str, str]:
        runner = self._ready()
        runner.current.make_ready()
        digest = runner.current.versions
        return self._begun_store().versions({digest})[digest]

    def _label_of(self, link: object) -> str:
        """As the experiment calls it, whatever loads its cells have besides."""
        return next(case.label for case in self.assigned.experiment.links if case.link == link)

    def _ready(self) -> Runner:
        """A runner, whose bed is up when it is first wanted."""
        if self._runner is None:
            sites, experiment = self.assigned.served(), self.assigned.experiment
            with _one_at_a_time():
                prepare(needs_of(experiment))
            programs = Programs.built(experiment)
            store = self._begun_store()
            begun = BegunRun(experiment, sites, store)
            self._runner = Runner(begun, self._open_bed, self._tell, self._stop, programs)
        return self._runner

    def _begun_store(self) -> Store:
        if self._store is None:
            experiment = self.assigned.experiment
            shutil.rmtree(self._folder, ignore_errors=True)
            store = Store.create(self._folder, experiment.text, self.assigned.order.meta, experiment.cells)
            self._store, self._told = store, 0
            Authority.make(store.folder / AUTHORITY)
            store.begin_session({}, self._machine or this_machine(self._context.machine))
        return self._store

    @contextlib.contextmanager
    def _open_bed(self) -> Iterator[Bed]:
        experiment = self.assigned.experiment
        direct = all(case.link.direct for case in experiment.links)
        cpus = placement(processors_here(), experiment.workload, direct=direct)
        asked = json.loads(self.assigned.order.meta.get("bed") or "{}")
        router = asked.get("router", "auto") if self._context.router == "auto" else self._context.router
        with paths.bed_folder() as folder, Bed(BedSettings(folder, router=router, cpus=cpus)) as bed:
            yield bed

    def _forget(self) -> None:
        """The bed ends, and the scratch run folder with it."""
        runner, self._runner = self._runner, None
        store, self._store = self._store, None
        if runner:
            with contextlib.suppress(LanelabError):
                runner.close()
        if store:
            store.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _tell(self, event: Event) -> None:
        self._context.tell({**event.to_json(), "machine": self._context.machine})

    # --- a portion

    def _played(self, portion: Portion) -> Delivery:
        trials = self._planned(portion)
        retries = self.assigned.experiment.retries
        before = {cell: (portion.tried[cell], portion.used[cell]) for cell in portion.cells}
        self._stop.asked = self._stop.under_way = False
        runner, store = self._ready(), self._begun_store()
        self._use_for(runner, portion)
        links = {planned.cell.link.link: planned.cell for planned in trials}
        if refused := self._measured(runner, links.values()):
            return self._refused(portion, refused)
        for _ in range(BEDS_LOST_IN_A_ROW):
            agenda = PortionAgenda(trials, portion.block, retries, before)
            last = store.last_trial()
            with self._context.when_halted(self._stop.ask):
                runner.play(agenda)
            made = store.trials_after(last)
            copies = store.copies(made)
            if agenda.given_up:
                store.forget(made)
                return self._refused(portion, self._refused_by(agenda.given_up, copies))
            if len({copy.bed for copy in copies if _is_result(copy)}) <= 1:
                pack = self.outbox.put(f"portion-{portion.number}.tar.zst", copies, store.folder)
                store.forget(made)
                return self._delivery(portion.number, *self._news(copies), copies, pack)
            store.forget(made)  # what is compared has to be from one bed: once more, on the new one
        raise BedError("beds are lost in the middle of a portion time and again", "See the worker's log")

    def _planned(self, portion: Portion) -> list[PlannedTrial]:
        cells = {cell.id: cell for cell in self.assigned.experiment.cells}
        unknown = [cell for cell in portion.cells if cell not in cells]
        if unknown:
            raise InputError(f"the portion has a cell that the experiment does not have: {unknown[0]}", SAME)
        return [PlannedTrial(cells[cell], portion.round) for cell in portion.cells]

    def _use_for(self, runner: Runner, portion: Portion) -> None:
        """A bed for the portion's block of rounds."""
        runner.current.use_for(portion.block)
        runner.current.make_ready()
        runner.current.reconsider_links()

    def _refused_by(self, given_up: Sequence[PlannedTrial], copies: Sequence[TrialCopy]) -> list[RefusedLink]:
        """The links of trials that were not begun: the bed that took a lost one's place cannot have them."""
        details = {copy.cell: copy.record["failures"][0]["detail"] for copy in copies if copy.record["failures"]}
        why = {self._label_of(each.cell.link.link): details[each.cell.id] for each in given_up}
        return [RefusedLink(label, words) for label, words in why.items()]

    def _refused(self, portion: Portion, refused: Sequence[RefusedLink]) -> Delivery:
        """A link failed its self-test on this bed; another machine's may pass."""
        what = f"{self._context.name} cannot have the link {refused[0].label}: {refused[0].why}"
        undone = self._undone(portion.number, what, "See the self-tests", *self._news(), is_workers_fault=False)
        return replace(undone, refused=tuple(refused))

    # --- what the controller is told

    def _news(self, trials: Sequence[TrialCopy] = ()) -> tuple[list[SelfTestCopy], dict[int, BedFacts]]:
        """Self-tests since the last answer, and the beds that they or the trials name, with the one in use."""
        if self._store is None:
            return [], {}
        try:
            tests = self._store.self_test_copies(self._told)
            self._told = self._store.last_self_test()
            named = {test.bed for test in tests} | {trial.bed for trial in trials}
            in_use = {self._runner.current.number} if self._runner else set()
            beds = self._store.beds()
        except StoreError:  # what went wrong before is what the controller has to know
            return [], {}
        return tests, {number: facts for number, facts in beds.items() if number in named | in_use}

    def _undone(
        self,
        number: int,
        what: str,
        remedy: str,
        tests: Sequence[SelfTestCopy],
        beds: dict[int, BedFacts],
        *,
        is_workers_fault: bool,
    ) -> Delivery:
        empty = self._delivery(number, tests, beds)
        return replace(empty, undone=what, remedy=remedy, is_workers_fault=is_workers_fault)

    def _delivery(
        self,
        number: int,
        tests: Sequence[SelfTestCopy],
        beds: dict[int, BedFacts],
        trials: Sequence[TrialCopy] = (),
        pack: Pack | None = None,
    ) -> Delivery:
        digests = {trial.versions for trial in trials}
        return Delivery(
            portion=number,
            undone="",
            remedy="",
            is_workers_fault=False,
            utc=utc_now(),
            trials=tuple(trials),
            refused=(),
            beds={str(bed): facts for bed, facts in beds.items()},
            versions=self._store.versions(digests) if self._store and trials else {},
            self_tests=tuple(tests),
            pack=pack,
        )


def _is_result(copy: TrialCopy) -> bool:
    """Whether the round has its trial by this one, as the schedule counts."""
    reasons = [failure["reason"] for failure in copy.record["failures"]]
    return not reasons or timed_out(reasons)


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Workers of one machine begin together, and packages are installed by one of them."""
    path: Path = paths.build_folder() / "prepare.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}", "Set LANELAB_BUILD to another folder") from error
