"""From what a worker says that it has made to trials in the run folder: artifacts are fetched piece by piece, a few
workers at a time, checked, and stored with the trials.

Portions that are here at the same time are stored in one transaction, which the disk has before anybody is told of any
of them: a busy disk takes as long for one as for many."""

import shutil
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import ChangedError, PackError, RecordError
from lanelab.driver.base.writing import writing
from lanelab.driver.experiment.schedule.portions import PlannedPortion, Spread
from lanelab.driver.record.metrics import primary_of
from lanelab.driver.record.reasons import Reason, timed_out
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.events import Listener
from lanelab.driver.run.folder.content import attempt_of
from lanelab.driver.run.folder.copies import TrialCopy
from lanelab.driver.run.folder.store import SCRATCH, Adoption, Stored
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.sweep.cluster import Finished
from lanelab.driver.run.sweep.events import Fetching, PortionStored
from lanelab.driver.run.sweep.member import Member, Start
from lanelab.driver.run.sweep.messages import PIECE_BYTES, SAME, Delivery, Pack, PieceRequest
from lanelab.driver.run.sweep.packs import PackFile

AT_ONCE = 4  # packs that are fetched at the same time: more would only fill the network's queues
GROUP = 64  # trials after which those that are here are stored, whatever else is about to come
Done = Callable[[Member, str], None]


@dataclass
class OnItsWay:
    """A delivery, and as much of its pack as is here."""

    member: Member
    portion: PlannedPortion
    delivery: Delivery
    file: PackFile | None = None  # from when it is fetched


class Deliveries:
    """The portions that are on their way from the workers to the run folder."""

    def __init__(self, begun: BegunRun, spread: Spread, tell: Listener, start: Start, done: Done) -> None:
        """`done` is told of each: stored, or why not."""
        self._begun, self.spread, self._tell, self._start, self._done = begun, spread, tell, start, done
        self._store = begun.store
        self._folder = begun.store.folder / SCRATCH / "deliveries"
        self._waiting: deque[OnItsWay] = deque()
        self._fetching: dict[str, OnItsWay] = {}  # by worker
        self._here: list[OnItsWay] = []  # unpacked, and nobody was told of them

    def begin(self, member: Member, portion: PlannedPortion, delivery: Delivery) -> None:
        one = OnItsWay(member, portion, delivery)
        if delivery.pack is None or self._came_along(one, delivery.pack):
            self._keep(one)
            return
        self._waiting.append(one)
        self._fetch_more()

    def _came_along(self, one: OnItsWay, pack: Pack) -> bool:
        """Return whether a small pack came whole with its delivery. One that did not is fetched."""
        if not pack.data:
            return False
        one.file = PackFile(self._path_of(one), pack)
        one.file.add_text(pack.data)
        if one.file.have == pack.bytes:
            return True
        one.file.close()
        return False

    def _path_of(self, one: OnItsWay) -> Path:
        return self._folder / f"{one.delivery.portion}.pack"

    def drop(self, worker: str) -> None:
        """Forget what this worker was delivering, but not what is here."""
        self._waiting = deque(one for one in self._waiting if one.member.worker != worker)
        one = self._fetching.pop(worker, None)
        if one and one.file:
            one.file.close()
        self._fetch_more()

    def close(self) -> None:
        for one in self._fetching.values():
            if one.file:
                one.file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- fetching

    def _fetch_more(self) -> None:
        while self._waiting and len(self._fetching) < AT_ONCE:
            one = self._waiting.popleft()
            pack = one.delivery.pack
            if pack is None:
                continue
            one.file = PackFile(self._path_of(one), pack)
            self._fetching[one.member.worker] = one
            self._tell(Fetching(one.member.name, pack.bytes))
            self._ask(one.member, one.file)

    def _ask(self, member: Member, file: PackFile) -> None:
        request = PieceRequest(file.pack.name, file.have, min(PIECE_BYTES, file.pack.bytes - file.have))
        self._start(member, "piece", request, self._came)

    def _came(self, member: Member, finished: Finished) -> None:
        one = self._fetching.get(member.worker)
        if one is None or one.file is None:
            return
        if finished.error is not None:
            self.drop(member.worker)
            self._done(member, str(finished.error))
            return
        try:
            one.file.add(_piece(finished.value))
        except PackError as error:
            self.drop(member.worker)
            self._done(member, str(error))
            return
        if one.file.have < one.file.pack.bytes:
            self._ask(member, one.file)
        else:
            self._keep(one)

    # --- storing

    def _keep(self, one: OnItsWay) -> None:
        """Unpack what is whole: it waits to be stored."""
        why_not = _what_lacks(one.portion, one.delivery, one.member.beds)
        try:
            if not why_not:
                self._unpack(one)
        except PackError as error:  # of what this worker sent; another one's may be whole
            why_not = str(error)
        if one.file:
            one.file.close()
        self.drop(one.member.worker)
        if why_not:
            self._over({one.delivery.portion: why_not}, [one])
            return
        self._here.append(one)
        if sum(len(each.delivery.trials) for each in self._here) >= GROUP:
            self.store()

    def _unpack(self, one: OnItsWay) -> None:
        content = self._content_of(one)
        if one.file:
            one.file.unpack(one.delivery.trials, content)
            return
        with writing("make room for a delivery"):
            for trial in one.delivery.trials:
                (content / f"{trial.trial:06d}").mkdir(parents=True, exist_ok=True)

    def _content_of(self, one: OnItsWay) -> Path:
        return self._folder / f"{one.delivery.portion}"

    def store(self) -> None:
        """Make all that is here part of the run, and tell of it when it is on the disk. Where something is wrong with
        what a worker sent, that worker's portion is begun anew."""
        here, self._here = self._here, []
        if not here:
            return
        failures = self._adopted(here)
        for one in here:
            if one.delivery.portion not in failures:
                self._note(one)
        self._over(failures, here)

    def _adopted(self, here: Sequence[OnItsWay]) -> dict[int, str]:
        """Store these portions: why not, by the number of each that is not stored."""
        try:
            for one in here:
                for digest, versions in one.delivery.versions.items():
                    self._store.add_versions(digest, versions)
            self._store.adopt_all(
                [Adoption(self._trials_of(one), self._content_of(one), one.member.beds) for one in here]
            )
        except (ChangedError, RecordError) as error:
            if len(here) == 1:
                return {here[0].delivery.portion: str(error)}
            return {number: why for one in here for number, why in self._adopted([one]).items()}
        return {}

    def _trials_of(self, one: OnItsWay) -> list[TrialCopy]:
        return list(map(one.member.trial_at_our_clock, one.delivery.trials))

    def _note(self, one: OnItsWay) -> None:
        """Let the schedule, and whoever listens, know of a portion that is stored."""
        member = one.member
        primary = primary_of(self._store.workload).name
        planned = {each.cell.id: each for each in one.portion.trials}
        failed, machine = 0, self._store.machine_number(member.machine)
        for trial in one.delivery.trials:
            reasons = [failure.reason for failure in trial.record.failures]
            failed += bool(reasons)
            value = trial.record.measures.get(primary)
            self.spread.add(planned[trial.cell], attempt_of(not reasons, value, reasons, machine))
        seconds = round(time.monotonic() - member.began, 3)
        self._tell(PortionStored(member.worker, member.name, len(one.delivery.trials), failed, seconds))

    def _over(self, failures: Mapping[int, str], over: Sequence[OnItsWay]) -> None:
        for one in over:
            shutil.rmtree(self._content_of(one), ignore_errors=True)
            self._done(one.member, failures.get(one.delivery.portion, ""))

    def store_refused(self, portion: PlannedPortion, reason: Reason, why: str) -> None:
        """Note that these trials were not begun."""
        for planned in portion.trials:
            number, _ = self._store.begin_trial()
            record = TrialRecord.not_started(self._store.workload, utc_now(), reason, why)
            attempt = len(self.spread.results.of(planned.key)) + 1
            bed = self._store.bed_that_refused(planned.cell.link.label)
            self._store.add_trial(Stored(number, planned.cell, bed, planned.round, attempt, 0.0, record))
            self.spread.add(planned, attempt_of(False, None, {reason}))


def _piece(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise PackError("what came is no piece of a pack", SAME)
    return value


def _what_lacks(portion: PlannedPortion, delivery: Delivery, known: Collection[int]) -> str:
    """Why a delivery is not the whole portion, made on one bed; "": it is."""
    ids = {cell.id for cell in portion.cells}
    strange = {trial.cell for trial in delivery.trials} - ids
    if strange or any(trial.round != portion.round for trial in delivery.trials):
        return "it delivered trials of another portion"
    if ids - {trial.cell for trial in delivery.trials}:
        return "it did not deliver all trials of the portion"
    if {trial.bed for trial in delivery.trials} - set(known):
        return "it does not say of which bed its trials are"
    beds = {trial.bed for trial in delivery.trials if _is_result(trial)}
    if len(beds) > 1:
        return "its bed was lost in the middle of the portion, which is begun anew on one bed"
    return ""


def _is_result(trial: TrialCopy) -> bool:
    reasons = [failure.reason for failure in trial.record.failures]
    return not reasons or timed_out(reasons)
