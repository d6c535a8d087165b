"""A run: trials in their order, each stored when it is finished, until the experiment has what it asks for.

Everything may be killed at any moment. What is stored decides what remains to be done, so a resumed run does not know
that it is one.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.stats import ENOUGH, estimate
from driver.channel.client import Bed
from driver.experiment.model import Cell, Experiment
from driver.run.built_programs import Programs
from driver.run.events import Event, Listener
from driver.run.finish import Finished, finish, not_started
from driver.run.link_keeper import LinkKeeper
from driver.run.open_beds import Beds, OpenBed
from driver.run.start import AUTHORITY
from driver.run.store import Attempt, Store, Stored
from driver.schedule.plan import PlannedTrial, needs_more, phases, round_order
from driver.workloads.page_load.spec import TrialSpec
from model.clock import utc_now
from model.errors import BedError, BedLost, Interrupted, StoreError
from model.reasons import Reason
from model.site.site import Site

BEDS_LOST_IN_A_ROW = 3

NOT_THE_TRIALS = {Reason.BED_LOST.value, Reason.LINK_OUT_OF_TOLERANCE.value}


@dataclass
class StopRequest:
    """What Ctrl-C and the runner know of each other: the first one lets a trial that is under way finish."""

    asked: bool = False
    under_way: bool = False


class Runner:
    """Plays an experiment on one bed and stores what comes of it."""

    def __init__(
        self,
        experiment: Experiment,
        sites: Mapping[str, Site],
        store: Store,
        open_bed: OpenBed,
        tell: Listener,
        stop: StopRequest,
        programs: Programs | None = None,
    ) -> None:
        self._programs = programs or Programs()
        self._experiment, self._sites, self._store = experiment, sites, store
        self._opener = Beds(open_bed, tell, lambda: stop.asked)
        self._tell, self._stop = tell, stop
        self._seed = int(store.meta("seed"))
        self._attempts = store.attempts()
        self._plts = store.plts()
        self._bed: Bed | None = None
        self._bed_stack = ExitStack()
        self._links: LinkKeeper | None = None
        self._ahead: tuple[PlannedTrial, Future[_Prepared]] | None = None
        self._thread = ThreadPoolExecutor(1, "prepare")
        self._lost_in_a_row = 0
        self._beds = 0
        self._refused: set[PlannedTrial] = set()

    def run(self) -> None:
        """Until the experiment has what it asks for. Raises Interrupted after the trial during which a stop was asked
        for, and the BedError where there is not even a first bed; whatever it raises, every finished trial is
        stored."""
        try:
            for batch in self._batches():
                self._play(batch)
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._close_bed()

    # --- what remains

    def _batches(self) -> Iterator[list[PlannedTrial]]:
        """What is to be done of each round, one round after the other. Looks at what is stored each time, since that
        decides whether there is another."""
        for phase in phases(self._experiment):
            for number in range(1, self._experiment.repeat.max + 1):
                begun = any((cell.id, number) in self._attempts for cell in phase)  # arms are paired by round
                if number > self._experiment.repeat.min and not begun and self._is_enough(phase):
                    break
                order = round_order(self._experiment, self._seed, number, phase)
                todo = [planned for planned in order if self._remains(planned)]
                if todo:
                    yield todo

    def _is_enough(self, phase: Sequence[Cell]) -> bool:
        """A cell in which no trial ever counted decides nothing: more of them would not either."""
        plts = {cell.id: self._plts[cell.id] for cell in phase if self._plts[cell.id]}
        return not needs_more(plts, self._experiment.repeat, _interval)

    def _remains(self, planned: PlannedTrial) -> bool:
        """Whether it has neither counted nor used up its retries. What no trial can help does not use them up; but a
        link that this bed has refused is not asked for again."""
        attempts = self._attempts.get((planned.cell.id, planned.round), [])
        if any(attempt.ok for attempt in attempts) or planned in self._refused:
            return False
        return sum(not attempt.reasons & NOT_THE_TRIALS for attempt in attempts) <= self._experiment.retries

    def _play(self, waiting: list[PlannedTrial]) -> None:
        """All of a batch; what failed is tried again at its end, while there are retries left."""
        while waiting:
            if self._links:
                self._links.reconsider()
            for planned, following in itertools.zip_longest(waiting, waiting[1:]):
                if self._stop.asked:
                    raise Interrupted("stopped after a finished trial")
                self._one(planned, following)
            waiting = [planned for planned in waiting if self._remains(planned)]

    # --- one trial

    def _one(self, planned: PlannedTrial, following: PlannedTrial | None) -> None:
        started = time.monotonic()
        try:
            started += self._ready_bed()
            measured_s = self._bed_and_links()[1].measuring_s
            prepared = self._take_prepared(planned)
            if prepared.refusal:
                if self._links and self._links.has_given_up(planned.cell):
                    self._refused.add(planned)
                self._keep(planned, prepared, not_started(prepared.started_utc, *prepared.refusal), started)
                return
            bed, links = self._bed_and_links()
            started += links.measuring_s - measured_s  # a self-test is no part of a trial
            if self._stop.asked:
                raise Interrupted("stopped before a trial began")
            self._stop.under_way = True
            self._tell(Event("trial-started", _names(planned)))
            record = bed.go_trial(self._experiment.timeout.seconds)
        except BedError as error:
            if not self._opener.had_one:  # nothing was lost, and no trial is to blame
                raise
            self._lost(planned, error, started)
            return
        self._lost_in_a_row = 0
        self._prepare_ahead(following)
        case = planned.cell
        finished = finish(record, case.arm, self._sites[case.site], case.link.link, self._experiment, prepared.folder)
        self._keep(planned, prepared, finished, started)

    def _keep(self, planned: PlannedTrial, prepared: _Prepared, finished: Finished, started: float) -> None:
        key = (planned.cell.id, planned.round)
        attempts = self._attempts.setdefault(key, [])
        stored = Stored(
            trial=prepared.number,
            cell=planned.cell,
            round=planned.round,
            attempt=len(attempts) + 1,
            wall_s=time.monotonic() - started,
            status=finished.status,
            record=finished.record,
        )
        self._store.add_trial(stored)
        self._stop.under_way = False
        reasons = frozenset(failure["reason"] for failure in finished.record["failures"])
        attempts.append(Attempt(finished.status == "ok", reasons))
        if finished.status == "ok":
            self._plts[planned.cell.id].append(finished.record["plt_ms"])
        self._tell(
            Event(
                "trial",
                {
                    **_names(planned),
                    "trial": stored.trial,
                    "attempt": stored.attempt,
                    "status": stored.status,
                    "plt_ms": finished.record["plt_ms"],
                    "wall_s": round(stored.wall_s, 3),
                    "failures": list(finished.record["failures"]),
                },
            )
        )

    def _lost(self, planned: PlannedTrial, error: BedError, started: float) -> None:
        """The bed is gone, or cannot do what every trial needs. The trial failed; another bed may do better."""
        self._close_bed()
        self._lost_in_a_row += 1
        number, folder = self._store.begin_trial()
        prepared = _Prepared(number, folder, utc_now())
        self._keep(planned, prepared, not_started(prepared.started_utc, Reason.BED_LOST, str(error)), started)
        if self._lost_in_a_row >= BEDS_LOST_IN_A_ROW:
            raise error
        self._tell(Event("bed-lost", {"what": str(error)}))

    # --- preparing

    def _prepare_ahead(self, following: PlannedTrial | None) -> None:
        """While this trial is stored, the next one's server and browser start. Not where its link needs a self-test,
        which company would disturb."""
        if following is None or self._stop.asked or not (self._links and self._links.has_passed(following.cell)):
            return
        self._ahead = (following, self._thread.submit(self._prepare, following))

    def _take_prepared(self, planned: PlannedTrial) -> _Prepared:
        ahead, self._ahead = self._ahead, None
        if ahead:
            prepared = ahead[1].result()
            if ahead[0] == planned:
                return prepared
        return self._prepare(planned)

    def _prepare(self, planned: PlannedTrial) -> _Prepared:
        number, folder = self._store.begin_trial()
        prepared = _Prepared(number, folder, utc_now())
        bed, links = self._bed_and_links()
        bed.end_trial()  # before the link is measured or changed
        why = links.bring(planned.cell)
        if why:
            prepared.refusal = (Reason.LINK_OUT_OF_TOLERANCE, why)
            return prepared
        bed.prepare_trial(self._spec(planned.cell, folder).to_json())
        return prepared

    def _spec(self, cell: Cell, folder: Path) -> TrialSpec:
        link = cell.link.link
        return TrialSpec(
            site=self._sites[cell.site],
            arm=cell.arm,
            dns=link.dns,
            addresses=link.addresses,
            capture=self._experiment.capture,
            timeout_s=self._experiment.timeout.seconds,
            screenshot=self._experiment.screenshot,
            netlog=self._experiment.netlog,
            folder=folder,
            authority=self._store.folder / AUTHORITY,
            gateway=self._programs.gateway,
            spdy_module=self._programs.spdy_module,
        )

    # --- the bed

    def _ready_bed(self) -> float:
        """A bed that is up; how long that took, in seconds."""
        if self._bed:
            return 0.0
        began = time.monotonic()
        self._bed = self._opener.open(self._bed_stack)
        accept = bool(json.loads(self._store.meta("bed") or "{}").get("accept_links"))
        self._links = LinkKeeper(self._bed, self._experiment.cells, self._store, self._tell, accept=accept)
        self._ahead = None
        info = self._bed.info
        self._beds += 1
        facts = {**self._bed.facts(), "bring_up_s": info["bring_up_s"], "began_utc": utc_now()}
        self._store.add_provenance(self._of_bed("bed"), facts)
        self._tell(Event("bed", {key: info[key] for key in ("router", "kernel", "bring_up_s")}))
        if self._beds == 1:
            self._check_arms(self._bed)
        return time.monotonic() - began

    def _check_arms(self, bed: Bed) -> None:
        """All of them before the first trial: a mistake must not end a run when its turn comes."""
        for cell in {(cell.site, cell.arm.name): cell for cell in self._experiment.cells}.values():
            bed.check_arm(self._spec(cell, self._store.folder).to_json())

    def _of_bed(self, key: str) -> str:
        """A session has one bed, unless that was lost."""
        return key if self._beds == 1 else f"{key} {self._beds}"

    def _bed_and_links(self) -> tuple[Bed, LinkKeeper]:
        if self._bed is None or self._links is None:
            raise BedLost("the bed is gone")
        return self._bed, self._links

    def _close_bed(self) -> None:
        if self._bed and not self._lost_in_a_row:
            with suppress(BedError, StoreError):
                self._store.add_provenance(self._of_bed("tc_at_the_end"), self._bed.tc_state())
        self._bed = self._links = self._ahead = None
        self._bed_stack.close()


@dataclass
class _Prepared:
    """A trial that has its number and folder, and whose server and browser are up unless it was refused."""

    number: int
    folder: Path
    started_utc: str
    refusal: tuple[Reason, str] | None = None


def _interval(plts: Sequence[float]) -> tuple[float, float]:
    """As `until` wants it: no end where there are too few values to say."""
    found = estimate(plts)
    if len(plts) < ENOUGH or found.low is None or found.high is None:
        return -math.inf, math.inf
    return found.low, found.high


def _names(planned: PlannedTrial) -> dict[str, Any]:
    cell = planned.cell
    return {"site": cell.site, "link": cell.link.label, "arm": cell.arm.name, "round": planned.round}
