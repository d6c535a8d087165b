"""The controller of a sweep: gives portions to workers, and stores what they deliver. It alone writes the run folder.

A portion is stored whole, in one transaction, or not at all. Whatever becomes of a worker, of the network between or of
this process: what is stored decides what remains to be done.
"""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError, Interrupted, LanelabError, RecordError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.portions import PlannedPortion, Spread
from lanelab.driver.experiment.schedule.stopping import Statistics
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.record.reasons import Reason
from lanelab.driver.run.events import Listener
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.sweep.cluster import Away, Cluster, Finished, Happening, JobName, Joined, Left, WorkerEvent
from lanelab.driver.run.sweep.deliveries import Deliveries
from lanelab.driver.run.sweep.enrolment import Enrolment
from lanelab.driver.run.sweep.events import (
    ClusterAway,
    LinkRefused,
    OnWorker,
    PortionBegun,
    PortionUndone,
    WorkerJoined,
    WorkerLeft,
)
from lanelab.driver.run.sweep.member import LONGEST_S, REST_S, Doing, Member, Then
from lanelab.driver.run.sweep.messages import Delivery, EndRequest, Portion, of_another_lanelab
from lanelab.driver.run.trial_keys import digest_of

Versions = Mapping[str, Mapping[str, str]]  # by digest
TICK_S = 0.5
GOODBYE_S = 10.0  # for workers to end their beds, when a run fails
LONGEST_AROUND_S = 600.0  # a trial, beyond its time-out
LOST_IN_A_ROW = 3  # portions of each worker, after which a run ends: they would be lost for ever


@dataclass(frozen=True, slots=True)
class Patience:
    """Says how long a run waits for workers that are not there. None: for ever, or until Ctrl-C."""

    first_s: float | None
    again_s: float | None


class Controller:
    """One session of a run on the workers of a cluster."""

    def __init__(
        self,
        begun: BegunRun,
        cluster: Cluster,
        tell: Listener,
        stop: StopRequest,
        statistics: Statistics,
        patience: Patience,
    ) -> None:
        self._experiment, self._store = begun.experiment, begun.store
        self._cluster, self._tell, self._stop, self._patience = cluster, tell, stop, patience
        self._seed = int(begun.store.meta("seed"))
        self._begun, self._statistics = begun, statistics
        self.reuse: Callable[[Versions], object] | None = None  # takes trials of other runs, once versions are known
        self._spread = self._made_spread()
        self._members: dict[str, Member] = {}
        self._jobs: dict[int, tuple[str, Then]] = {}  # the worker, and what its answer is for
        self._enrolment = Enrolment(begun, tell, self._start)
        self._deliveries = Deliveries(begun, self._spread, tell, self._start, self._stored)
        self._portions = 0  # begun in this session
        self._lost = 0  # since one was stored
        self._most = 1  # workers that there were at a time
        self._why_lost = ""
        self._alone_since = time.monotonic()
        self._had_fit = False

    def _made_spread(self) -> Spread:
        return Spread(self._experiment, self._seed, self._statistics, self._store.history())

    def run(self) -> None:
        """Go on until the experiment has what it asks for. Raises Interrupted after Ctrl-C, when the portions that were
        under way are stored, and BedError where no worker is left to wait for."""
        if self._experiment.workload != PAGE_LOAD:
            self._stop.halt = self._cluster.halt
        try:
            while not self._is_done():
                self._follow()
                self._wake()
                self._give_to_all()
                self._stop.under_way = bool(self._spread.under_way)
                self._require_workers()
            self._end_work()
        except Interrupted:  # a second Ctrl-C ends this too
            self._end_work()
            raise
        except LanelabError:
            with suppress(LanelabError):  # what went wrong first is told
                self._end_work(measure_links=False, within_s=GOODBYE_S)
            raise
        finally:
            self._deliveries.close()

    def _is_done(self) -> bool:
        """A portion is under way until it is stored."""
        if self._spread.under_way:
            return False
        if self._stop.asked:
            raise Interrupted("stopped after the portions that were under way")
        return not self._spread.has_more()

    # --- what happens

    def _follow(self) -> None:
        """Take note of what happened, and store what came: all of it in one go."""
        for happening in self._cluster.wait(TICK_S):
            self._take_note(happening)
        self._deliveries.store()

    def _take_note(self, happening: Happening) -> None:
        match happening:
            case Joined(worker, name):
                member = self._members[worker] = Member(worker, name)
                self._most = max(self._most, len(self._members))
                self._tell(WorkerJoined(worker, name))
                self._enrolment.begin(member)
            case Left(worker, why):
                self._leave(worker, why)
            case Finished(job, worker):
                (_, then), one = self._jobs.pop(job, (worker, None)), self._members.get(worker)
                if then and one:
                    then(one, happening)
            case WorkerEvent(worker, event):
                name = self._members[worker].name if worker in self._members else worker
                self._tell(OnWorker(worker, name, event))
            case Away(why):
                self._tell(ClusterAway(why))
                for worker in list(self._members):
                    self._leave(worker, why, counts=False)  # no portion's own doing

    def _start(self, member: Member, name: JobName, payload: Coded, then: Then) -> None:
        self._jobs[self._cluster.start(member.worker, name, payload)] = member.worker, then

    def _leave(self, worker: str, why: str, *, counts: bool = True) -> None:
        self._deliveries.store()  # also what came of this one
        member = self._members.pop(worker, None)
        self._jobs = {job: one for job, one in self._jobs.items() if one[0] != worker}
        if member is None:
            return
        lost = self._lose(member, why, counts=counts)
        self._tell(WorkerLeft(worker, member.name, why, lost))

    def _lose(self, member: Member, why: str, *, counts: bool = True) -> bool:
        """Nothing of its portion is stored. Whether it had one. `counts`: as one of those that are lost in a row."""
        self._deliveries.drop(member.worker)
        portion, member.portion = member.portion, None
        if portion is None:
            return False
        self._spread.lose(portion)
        self._lost, self._why_lost = self._lost + counts, why
        return True

    # --- giving work

    def _wake(self) -> None:
        """Let those go on that have rested, and go on without those that do not answer any more."""
        now = time.monotonic()
        for member in list(self._members.values()):
            if member.doing is Doing.RESTING and now >= member.rests_until:
                self._enrolment.again(member)
            elif member.is_at_work and now >= member.due:
                self._leave(member.worker, "it has not answered for longer than anything takes")

    def _give_to_all(self) -> None:
        if self._stop.asked or not self._has_reused():
            return
        for member in self._members.values():
            if member.doing is Doing.IDLE:
                self._give(member)
        if not self._spread.under_way and self._spread.is_waiting:
            self._give_up()

    def _has_reused(self) -> bool:
        """Trials of other runs are taken before the first portion, when it is known which versions workers have: all
        that there are have qualified, or were refused."""
        if self.reuse is None:
            return True
        fit = any(member.is_fit for member in self._members.values())
        if not fit or any(member.doing is Doing.JOINING for member in self._members.values()):
            return False
        self.reuse({digest_of(versions): versions for versions in self._enrolment.versions.values()})
        self.reuse = None
        self._spread = self._deliveries.spread = self._made_spread()
        return True

    def _give(self, member: Member) -> None:
        portion = self._spread.next(member.machine, member.can, member.block)
        portion = portion or self._spread.next(member.machine, member.may, member.block)
        if portion is None:
            return
        self._portions += 1
        member.portion, member.number, member.block = portion, self._portions, portion.block
        member.doing, member.began = Doing.PLAYING, time.monotonic()
        member.due = member.began + longest_s(self._experiment, portion)
        order = Portion(
            self._portions,
            portion.round,
            portion.block,
            tuple(cell.id for cell in portion.cells),
            {each.cell.id: len(self._spread.results.of(each.key)) for each in portion.trials},
            {
                each.cell.id: sum(attempt.uses_retry for attempt in self._spread.results.of(each.key))
                for each in portion.trials
            },
        )
        self._tell(PortionBegun(member.worker, member.name, portion.round, len(portion.cells)))
        self._start(member, "play", order, self._played)

    def _give_up(self) -> None:
        """What no worker can make is left out, as a link that is refused on one bed is."""
        fit = [member for member in self._members.values() if member.is_fit]
        unsure = any(member.doing in (Doing.JOINING, Doing.RESTING) for member in self._members.values())
        if not fit or unsure:
            return
        left_out = self._spread.give_up(lambda cell: any(member.may(cell) for member in fit))
        why = "no worker's bed has this link as it was asked for: see the self-tests"
        for portion in left_out:
            self._deliveries.store_refused(portion, Reason.LINK_OUT_OF_TOLERANCE, why)

    # --- what became of it

    def _played(self, member: Member, finished: Finished) -> None:
        if finished.error is not None:
            self._undone(member, str(finished.error), rests=True)
            return
        portion = member.portion
        if portion is None:
            return
        try:
            delivery = Delivery.received(finished.value)
        except RecordError as error:
            self._undone(member, of_another_lanelab(error), rests=True)
            return
        if delivery.portion != member.number:
            self._undone(member, f"it delivered portion {delivery.portion} instead of {member.number}", rests=True)
            return
        # Self-tests are told once, and hold for the bed whatever becomes of these trials.
        self._enrolment.note(member, delivery.beds, delivery.self_tests)
        self._refuse(member, delivery)
        if delivery.undone:
            self._undone(member, delivery.undone, rests=delivery.is_workers_fault)
            return
        member.doing, member.due = Doing.DELIVERING, time.monotonic() + LONGEST_S
        self._deliveries.begin(member, portion, delivery)

    def _refuse(self, member: Member, delivery: Delivery) -> None:
        links = {case.label: case.link for case in self._experiment.links}
        for refused in delivery.refused:
            member.refusals[links[refused.label]] += 1
            self._tell(LinkRefused(member.worker, member.name, refused.label, refused.why))

    def _undone(self, member: Member, why: str, *, rests: bool) -> None:
        refused = member.portion is not None and not all(map(member.can, member.portion.cells))
        self._lose(member, why, counts=not refused)  # a refusal is nobody's failure: other workers may have that link
        self._tell(PortionUndone(member.worker, member.name, why))
        member.doing = Doing.RESTING if rests else Doing.IDLE
        member.rests_until = time.monotonic() + REST_S

    def _stored(self, member: Member, why_not: str) -> None:
        """A delivery is stored; or `why_not`, and the portion is begun anew."""
        if why_not:
            self._undone(member, why_not, rests=True)
            return
        portion, member.portion = member.portion, None
        self._lost = 0
        if portion:
            self._spread.finish(portion, member.machine)
        member.doing = Doing.IDLE
        if not self._stop.asked:
            self._give(member)

    # --- beginning and end

    def _require_workers(self) -> None:
        """Raises BedError where there is nobody to wait for any more, or portions are lost for ever."""
        if self._lost >= LOST_IN_A_ROW * self._most:
            what = f"{self._lost} portions in a row were lost, the last because {self._why_lost}"
            raise BedError(what, f"Mend that, and go on with: lanelab run --resume {self._store.folder}")
        if any(member.doing is not Doing.UNFIT for member in self._members.values()):
            self._alone_since = time.monotonic()
            self._had_fit = self._had_fit or any(member.is_fit for member in self._members.values())
            return
        patience_s = self._patience.again_s if self._had_fit else self._patience.first_s
        if patience_s is None or time.monotonic() < self._alone_since + patience_s:
            return
        refused = "; ".join(f"{name}: {why}" for name, why in self._enrolment.unfit.items())
        why = f" ({refused})" if refused else ""
        what = f"no worker can work for this run{why}"
        again = f"go on with: lanelab run --resume {self._store.folder}" if self._store.last_bed() else "run it again"
        raise BedError(what, f"Start others, and {again}")

    def _end_work(self, *, measure_links: bool = True, within_s: float = math.inf) -> None:
        """Let each worker measure its links again, and forget the run."""
        ending = [member for member in self._members.values() if member.doing in (Doing.IDLE, Doing.RESTING)]
        left = {member.worker for member in ending}
        until = time.monotonic() + within_s

        def ended(member: Member, finished: Finished) -> None:
            left.discard(member.worker)
            if finished.error is None and measure_links:
                last = Delivery.from_json(finished.value)
                self._enrolment.note(member, last.beds, last.self_tests)

        for member in ending:
            member.due = time.monotonic() + LONGEST_S
            self._start(member, "end_run", EndRequest(self._store.run_id, measure_links), ended)
        while left & self._members.keys() and time.monotonic() < until:
            self._follow()
            for worker in left & self._members.keys():
                if time.monotonic() >= self._members[worker].due:
                    self._leave(worker, "it has not answered for longer than anything takes")


def longest_s(experiment: Experiment, portion: PlannedPortion) -> float:
    """Return a time far longer than a portion can take: each trial's own limits end it long before. A worker that hangs
    must not hold up a run for ever."""
    trials = len(portion.cells) * (1 + experiment.retries)
    return LONGEST_S + trials * (3 * experiment.timeout.seconds + scaled(LONGEST_AROUND_S))
