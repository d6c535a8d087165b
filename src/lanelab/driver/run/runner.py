"""A run: plays the trials that an agenda names on a bed, and stores each when it is finished.

Everything may be killed at any moment. What is stored decides what remains to be done, so a resumed run goes on like
any other.
"""

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeGuard

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import BedError, Interrupted, LanelabError
from lanelab.driver.base.settings.kinds import LARGEST_SEED
from lanelab.driver.experiment.model import Cell
from lanelab.driver.experiment.schedule.agenda import NOTHING, Agenda
from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.current_bed import CurrentBed
from lanelab.driver.run.events import BedReplaced, Listener, RoundEnded, TrialBegun, class_of_trial
from lanelab.driver.run.folder.content import attempt_of
from lanelab.driver.run.folder.store import Stored
from lanelab.driver.run.open_beds import Beds, OpenBed
from lanelab.driver.run.start import AUTHORITY, BegunRun
from lanelab.driver.run.trial_keys import AskedKeys
from lanelab.driver.trial.journey import journey_options, time_limit_s
from lanelab.driver.trial.registry import WORKLOADS
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import TrialContext


@dataclass
class StopRequest:
    """How a run is asked to stop: a trial that is under way is finished, and nothing more is begun."""

    asked: bool = False
    under_way: bool = False  # something that is worth waiting for
    halt: Callable[[], None] = lambda: None  # ends a trial that takes long
    heard: Callable[[], None] = lambda: None  # says that it was asked

    def ask(self) -> None:
        """May be called by a handler of signals: what waits for the bed does so in a thread of its own."""
        self.asked = True
        self.heard()
        threading.Thread(target=self.halt, name="halt", daemon=True).start()


@dataclass
class PreparedTrial:
    """A trial that has its number and folder, and whose server and browser are up unless it was refused."""

    number: int
    folder: Path
    started_utc: str
    bed: int  # its number within the run
    versions: str  # digest of what it is made with
    refusal: tuple[Reason, str] | None = None


class Preparation:
    """A trial that is prepared in a thread of its own. Ctrl-C may leave it behind at any moment: nothing that the two
    threads share can stay locked then, and no end of a program waits for it."""

    def __init__(self, prepare: Callable[[PlannedTrial], PreparedTrial], planned: PlannedTrial) -> None:
        self.planned = planned
        self._answer: queue.SimpleQueue[PreparedTrial | BaseException] = queue.SimpleQueue()
        threading.Thread(target=self._do, args=(prepare,), name="prepare", daemon=True).start()

    def _do(self, prepare: Callable[[PlannedTrial], PreparedTrial]) -> None:
        try:
            self._answer.put(prepare(self.planned))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._answer.put(error)

    def result(self) -> PreparedTrial:
        """Wait for the trial that is being prepared. Called once."""
        answer = self._answer.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer


class Runner:
    """Plays trials of an experiment, one after the other, on a bed that lives until `close`."""

    def __init__(
        self,
        begun: BegunRun,
        open_bed: OpenBed,
        tell: Listener,
        stop: StopRequest,
        programs: Programs | None = None,
    ) -> None:
        self._programs = programs or Programs()
        experiment, store = begun.experiment, begun.store
        self._experiment, self._sites, self._store = experiment, begun.sites, store
        self._tell, self._stop = tell, stop
        stop.halt = self._halt
        self._workload = WORKLOADS[store.workload]
        self._agenda: Agenda = NOTHING
        beds = Beds(open_bed, tell, lambda: stop.asked)
        self.current = CurrentBed(beds, experiment, store, tell, self._check_arms, self._programs, self._sites.link)
        self._asked = AskedKeys(experiment, begun.sites, accept_links=store.accepts_links)
        self._ahead: Preparation | None = None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.current.close()

    def run(self, agenda: Agenda) -> None:
        """Until the agenda has what it asks for, and the links are measured again. Raises Interrupted after the trial
        during which a stop was asked for, and the BedError where there is not even a first bed; whatever it raises,
        every finished trial is stored."""
        try:
            self.play(agenda)
            self.current.measure_links_again()
        except Interrupted:  # a second Ctrl-C ends this too
            self._forget_prepared()
            self.current.measure_links_again()
            raise

    def play(self, agenda: Agenda) -> None:
        """The same without measuring the links again: more is to come on this bed."""
        self._agenda = agenda
        while batch := self._next_batch(agenda):
            self.current.use_for(agenda.block)
            self.current.reconsider_links()
            for planned, following in zip(batch, [*batch[1:], agenda.next_round()], strict=True):
                if self._stop.asked:
                    raise Interrupted("stopped after a finished trial")
                self._play(planned, following)
            self._tell(RoundEnded(batch[0].round))

    def _next_batch(self, agenda: Agenda) -> list[PlannedTrial]:
        """Return what comes next. What was prepared and does not come is given up before its bed is used otherwise."""
        batch = agenda.batch()
        if self._ahead and (not batch or batch[0] != self._ahead.planned):
            self._forget_prepared()
        return batch

    # --- one trial

    def _play(self, planned: PlannedTrial, following: PlannedTrial | None) -> None:
        started = time.monotonic()
        try:
            started += self.current.make_ready()
            measured_s = self.current.links.measuring_s
            prepared = self._take_prepared(planned)
            if prepared.refusal:
                self._agenda.give_up(planned)
                self._add(planned, prepared, self._not_started(prepared, *prepared.refusal), started)
                return
            bed = self.current.bed
            started += self.current.links.measuring_s - measured_s  # a self-test is no part of a trial
            if self._stop.asked:
                raise Interrupted("stopped before a trial began")
            self._stop.under_way = True
            self._tell(TrialBegun(planned.cell.site, planned.cell.link.label, planned.cell.arm.name, planned.round))
            if self._may_prepare_ahead(following):
                bed.expect_trial(self._spec(following.cell, self._store.folder, self._seed_of(following)))
            data = bed.run_trial(time_limit_s(self._experiment.timeout.seconds, planned.cell.journey))
        except BedError as error:
            if not self.current.was_there:  # nothing was lost, and no trial is to blame
                raise
            self._lose_bed(planned, error, started)
            return
        self.current.has_worked()
        self._prepare_ahead(following)
        case = planned.cell
        site, link = self._sites.site(case), self._sites.link(case)
        context = TrialContext(
            arm=case.arm,
            site=site,
            link=link,
            experiment=self._experiment,
            folder=prepared.folder,
            load=case.link.load,
            journey=case.journey,
            fetch=case.fetch,
        )
        record = self._workload.finish(data, context)
        self._add(planned, prepared, record, started)
        if any(failure.reason is Reason.STOPPED for failure in record.failures):
            raise Interrupted("stopped in the middle of a trial")

    def _halt(self) -> None:
        if self._stop.under_way:
            with suppress(LanelabError):  # a bed that is gone has no trial any more
                self.current.bed.halt_trial()

    def _not_started(self, prepared: PreparedTrial, reason: Reason, detail: str) -> TrialRecord:
        return TrialRecord.not_started(self._workload.name, prepared.started_utc, reason, detail)

    def _add(self, planned: PlannedTrial, prepared: PreparedTrial, record: TrialRecord, started: float) -> None:
        stored = Stored(
            trial=prepared.number,
            bed=prepared.bed,
            cell=planned.cell,
            round=planned.round,
            attempt=self._agenda.attempts(planned) + 1,
            wall_s=time.monotonic() - started,
            record=record,
            trial_key=self._asked.of(planned.cell),
            versions=prepared.versions,
        )
        self._store.add_trial(stored)
        self._stop.under_way = False
        reasons = {failure.reason for failure in record.failures}
        value = record.measures.get(self._workload.primary)
        machine_here = self._store.machine
        machine = (
            self._store.machine_number(machine_here.name) if machine_here else 1
        )  # others may have made what it is compared with
        self._agenda.add(planned, attempt_of(record.ok, value, reasons, machine))
        self._tell(
            class_of_trial(reasons)(
                site=planned.cell.site,
                link=planned.cell.link.label,
                arm=planned.cell.arm.name,
                round=planned.round,
                trial=stored.trial,
                attempt=stored.attempt,
                metric=self._workload.primary,
                value=value,
                wall_s=round(stored.wall_s, 3),
                failures=tuple(record.failures),
            )
        )

    def _lose_bed(self, planned: PlannedTrial, error: BedError, started: float) -> None:
        """Give up this bed, which failed the trial: another bed may do better."""
        self._ahead = None
        another = self.current.lose()
        number, folder = self._store.begin_trial()
        prepared = PreparedTrial(number, folder, utc_now(), self.current.number, self.current.versions)
        self._add(planned, prepared, self._not_started(prepared, Reason.BED_LOST, str(error)), started)
        if not another:
            raise error
        self._tell(BedReplaced(str(error)))

    # --- preparing

    def _prepare_ahead(self, following: PlannedTrial | None) -> None:
        """Start the next trial's server and browser while this trial is stored."""
        if self._may_prepare_ahead(following):
            self._ahead = Preparation(self._prepare, following)

    def _may_prepare_ahead(self, following: PlannedTrial | None) -> TypeGuard[PlannedTrial]:
        """Return whether it may begin before this trial is stored. A self-test of its link would be disturbed."""
        return following is not None and not self._stop.asked and self.current.links.has_passed(following.cell)

    def _take_prepared(self, planned: PlannedTrial) -> PreparedTrial:
        ahead, self._ahead = self._ahead, None
        return ahead.result() if ahead else self._prepare(planned)

    def _forget_prepared(self) -> None:
        """Wait until nothing is being prepared any more. Its number goes to another trial."""
        ahead, self._ahead = self._ahead, None
        if ahead:
            with suppress(LanelabError):  # that trial will not be
                self._store.give_back(ahead.result().number)

    def _prepare(self, planned: PlannedTrial) -> PreparedTrial:
        number, folder = self._store.begin_trial()
        prepared = PreparedTrial(number, folder, utc_now(), self.current.number, self.current.versions)
        bed, links = self.current.bed, self.current.links
        bed.end_trial()  # before the link is measured or changed
        why = links.bring(planned.cell)
        if why:
            prepared.refusal = (Reason.LINK_OUT_OF_TOLERANCE, why)
            return prepared
        bed.prepare_trial(self._spec(planned.cell, folder, self._seed_of(planned)))
        return prepared

    def _check_arms(self, bed: Bed) -> None:
        """Check every arm before the first trial: a mistake in one must not end the run hours later."""
        cells = self._experiment.cells
        for cell in {(cell.site, cell.arm.name): cell for cell in cells}.values():
            bed.check_arm(self._spec(cell, self._store.folder))
        loads = {load: cell for cell in cells if (load := cell.link.load) and load.script_text}
        for cell in loads.values():  # a script may refuse some numbers of users
            bed.check_workload(self._spec(cell, self._store.folder))

    def _seed_of(self, planned: PlannedTrial) -> int:
        """Return the seed of what a trial draws: the same for all cells of a round, so that they differ in nothing
        else."""
        return (int(self._store.meta("seed")) + planned.round) % (LARGEST_SEED + 1)

    def _spec(self, cell: Cell, folder: Path, seed: int = 0) -> TrialSpec:
        site = self._sites.site(cell)
        return TrialSpec(
            site=site,
            arm=cell.arm.on(site),
            timeout_s=self._experiment.timeout.seconds,
            recorders=self._experiment.recorders,
            folder=folder,
            authority=self._store.folder / AUTHORITY,
            workload=self._workload.name,
            options=_options(cell),
            seed=seed,
            built=self._programs.paths,
        )


def _options(cell: Cell) -> dict[str, object]:
    """Return what a cell's workload does, as JSON."""
    settings = cell.link.load or cell.fetch
    return settings.to_json() if settings else journey_options(cell.journey, cell.script)
