"""What a worker does for one run: it qualifies, and makes portions. A portion is delivered whole or not at all."""

import contextlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import BedError, InputError, Interrupted, LanelabError, StoreError
from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.experiment.schedule.portions import PortionAgenda
from lanelab.driver.record.reasons import timed_out
from lanelab.driver.run.current_bed import BEDS_LOST_IN_A_ROW
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy
from lanelab.driver.run.folder.store import ENOUGH_MIB, Store
from lanelab.driver.run.machines import BedFacts, MachineFacts
from lanelab.driver.run.runner import Runner
from lanelab.driver.run.sweep.messages import SAME, Delivery, Pack, Portion, Qualification, QualifyRequest, RefusedLink
from lanelab.driver.run.sweep.work_sample import measure_fixed_work
from lanelab.driver.run.sweep.worker.assignment import Assigned
from lanelab.driver.run.sweep.worker.context import WorkerContext
from lanelab.driver.run.sweep.worker.outbox import Outbox
from lanelab.driver.run.sweep.worker.scratch_run import ScratchRun
from lanelab.driver.run.this_machine import this_machine

LITTLE_SPACE_MIB = 4 * ENOUGH_MIB  # artifacts are there twice while they are packed
News = tuple[Sequence[SelfTestCopy], dict[int, BedFacts]]


class Work:
    """Its bed is made by the first job that needs it; `end` leaves nothing behind."""

    def __init__(self, assigned: Assigned, context: WorkerContext) -> None:
        self.assigned, self._context = assigned, context
        self.outbox = Outbox(context.scratch / "outbox")
        self._run = ScratchRun(assigned, context)

    # --- jobs

    def qualify(self, request: QualifyRequest) -> Qualification:
        """Raises Interrupted where nobody waits for the answer any more."""
        utc = utc_now()
        refused: list[RefusedLink] = []
        unfit = remedy = ""
        versions: dict[str, str] = {}
        try:
            self._run.machine = self._examined()
            self._require_space()
            refused = self._run.all_measured() if request.measure_links else []
            versions = self._run.versions()
        except Interrupted:
            self._run.forget()
            raise
        except LanelabError as error:
            unfit, remedy = error.what, error.remedy
        tests, beds = self._run.news()
        if unfit:
            self._run.forget()
        return Qualification(
            unfit=unfit,
            remedy=remedy,
            machine=self._run.machine,
            processors=",".join(map(str, sorted(os.sched_getaffinity(0)))),
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
            news = self._run.news()
            self._run.forget()
            self.outbox.clear()
            fault = not isinstance(error, Interrupted)
            return self._undone(portion.number, error.what, error.remedy, news, is_workers_fault=fault)
        except BaseException:
            self._run.forget()
            raise

    def last_words(self, *, measure_links: bool) -> Delivery:
        """Return what the links of the bed are at the end of the run."""
        if measure_links:
            with contextlib.suppress(LanelabError):  # links that are not measured again are shown as that
                self._run.measure_links_again()
        return self._delivery(0, self._run.news())

    def end(self) -> None:
        """Leaves nothing of the run on this machine but sites."""
        self._run.forget()
        self.outbox.clear()
        for name in ("given", "arriving"):
            shutil.rmtree(self._context.scratch / name, ignore_errors=True)

    # --- a machine

    def _examined(self) -> MachineFacts:
        work = measure_fixed_work()
        facts = this_machine(self._context.machine)
        return replace(facts, fixed_work_ms=work.median_ms, noise=work.noise)

    def _require_space(self) -> None:
        free_mib = shutil.disk_usage(self._context.scratch).free >> 20
        if free_mib < LITTLE_SPACE_MIB:
            what = f"the disk of {self._context.scratch} on {self._context.machine} is full ({free_mib} MiB free)"
            raise StoreError(what, f"Free at least {LITTLE_SPACE_MIB} MiB, and start the worker again")

    # --- a portion

    def _played(self, portion: Portion) -> Delivery:
        trials = self._planned(portion)
        self._run.stop.asked = self._run.stop.under_way = False
        runner, store = self._run.use_for(portion.block), self._run.store()
        if refused := self._run.measured([planned.cell for planned in trials]):
            return self._refused(portion, refused)
        for _ in range(BEDS_LOST_IN_A_ROW):
            attempts, given_up = self._attempts(runner, store, portion, trials)
            copies = store.copies(attempts)
            try:
                if given_up:
                    return self._refused(portion, self._refused_by(given_up, copies))
                if _are_of_one_bed(copies):
                    return self._packed(portion, copies, store)
            finally:
                store.forget(attempts)
        raise BedError("beds are lost in the middle of a portion time and again", "See the worker's log")

    def _planned(self, portion: Portion) -> list[PlannedTrial]:
        cells = {cell.id: cell for cell in self.assigned.experiment.cells}
        unknown = [cell for cell in portion.cells if cell not in cells]
        if unknown:
            raise InputError(f"the portion has a cell that the experiment does not have: {unknown[0]}", SAME)
        return [PlannedTrial(cells[cell], portion.round) for cell in portion.cells]

    def _attempts(
        self, runner: Runner, store: Store, portion: Portion, trials: Sequence[PlannedTrial]
    ) -> tuple[list[int], Sequence[PlannedTrial]]:
        """Make the trials: their numbers, and what could not be begun."""
        before = {cell: (portion.tried[cell], portion.used[cell]) for cell in portion.cells}
        agenda = PortionAgenda(trials, portion.block, self.assigned.experiment.retries, before)
        last = store.last_trial()
        with self._context.when_halted(self._run.stop.ask):
            runner.play(agenda)
        return store.trials_after(last), agenda.given_up

    def _packed(self, portion: Portion, copies: Sequence[TrialCopy], store: Store) -> Delivery:
        pack = self.outbox.put(f"portion-{portion.number}.tar.zst", copies, store.folder)
        return self._delivery(portion.number, self._run.news(copies), copies, pack)

    def _refused_by(self, given_up: Sequence[PlannedTrial], copies: Sequence[TrialCopy]) -> list[RefusedLink]:
        """The links of trials that were not begun: the bed that took a lost one's place cannot have them."""
        details = {copy.cell: copy.record.failures[-1].detail for copy in copies if copy.record.failures}
        why = {self._run.label_of(each.cell.link.link): details[each.cell.id] for each in given_up}
        return [RefusedLink(label, words) for label, words in why.items()]

    # --- what the controller is told

    def _refused(self, portion: Portion, refused: Sequence[RefusedLink]) -> Delivery:
        """A link failed its self-test on this bed; another machine's may pass."""
        what = f"{self._context.name} cannot have the link {refused[0].label}: {refused[0].why}"
        undone = self._undone(portion.number, what, "See the self-tests", self._run.news(), is_workers_fault=False)
        return replace(undone, refused=tuple(refused))

    def _undone(self, number: int, what: str, remedy: str, news: News, *, is_workers_fault: bool) -> Delivery:
        empty = self._delivery(number, news)
        return replace(empty, undone=what, remedy=remedy, is_workers_fault=is_workers_fault)

    def _delivery(
        self, number: int, news: News, trials: Sequence[TrialCopy] = (), pack: Pack | None = None
    ) -> Delivery:
        tests, beds = news
        return Delivery(
            portion=number,
            undone="",
            remedy="",
            is_workers_fault=False,
            utc=utc_now(),
            trials=tuple(trials),
            refused=(),
            beds={str(bed): facts for bed, facts in beds.items()},
            versions=self._run.versions_of(trials),
            self_tests=tuple(tests),
            pack=pack,
        )


def _are_of_one_bed(copies: Sequence[TrialCopy]) -> bool:
    """Return whether what counts is from one bed. Else it cannot be compared, and is made once more, on the new one."""
    return len({copy.bed for copy in copies if _is_result(copy)}) <= 1


def _is_result(copy: TrialCopy) -> bool:
    """Return whether the round has its trial by this one, as the schedule counts."""
    reasons = [failure.reason for failure in copy.record.failures]
    return not reasons or timed_out(reasons)
