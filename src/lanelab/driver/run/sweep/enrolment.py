"""How a worker comes to work for a run: it gets the experiment and the sites that it lacks, and qualifies."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.base import version
from lanelab.driver.base.clock import seconds_between, utc_now
from lanelab.driver.base.coded import Coded, encoded
from lanelab.driver.base.errors import InputError, RecordError, StoreError
from lanelab.driver.run.events import Listener
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import SelfTestCopy
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.loads import scripts_of
from lanelab.driver.run.machines import BedFacts
from lanelab.driver.run.measuring_code import measuring_digest
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.sweep.cluster import Finished
from lanelab.driver.run.sweep.events import MachineDiffers, PortionUndone, WorkerQualified, WorkerRefused
from lanelab.driver.run.sweep.member import LONGEST_S, REST_S, Doing, Member, Start
from lanelab.driver.run.sweep.messages import (
    SAME,
    VERSION,
    Assignment,
    Lacking,
    Qualification,
    QualifyRequest,
    RefusedLink,
    cells_digest,
    of_another_lanelab,
)
from lanelab.driver.run.sweep.permissions import asked_of
from lanelab.driver.run.sweep.site_packs import SitePacks
from lanelab.driver.run.take_over import name_of

FAILURES = 3  # in a row, after which a worker is unfit
CLOCK_EXACT_S = 2.0  # clocks that differ by less are left as they are


@dataclass(frozen=True, slots=True)
class WorkerFacts(Coded):
    """A worker in the provenance of the run."""

    machine: str
    processors: str
    versions: Mapping[str, str]
    refused_links: tuple[RefusedLink, ...]


class Enrolment:
    """Enrols all workers of a session."""

    def __init__(self, begun: BegunRun, tell: Listener, start: Start) -> None:
        self._begun, self._tell, self._start = begun, tell, start
        self._store = begun.store
        self._assignment = assignment_of(begun)
        self._sites = SitePacks(begun)
        self.versions: dict[str, Mapping[str, str]] = {}  # by machine
        self._workers: dict[str, WorkerFacts] = {}  # for the provenance, by name
        self.unfit: dict[str, str] = {}  # name -> why

    def begin(self, member: Member) -> None:
        member.doing, member.due = Doing.JOINING, time.monotonic() + LONGEST_S
        member.beds.clear()
        self._start(member, "assign", self._assignment, self._assigned)

    def _assigned(self, member: Member, finished: Finished) -> None:
        if finished.error is not None:
            self._failed(member, finished.error)
            return
        try:
            member.lacks = list(Lacking.from_json(finished.value).lacks)
        except RecordError as error:
            self._refuse(member, of_another_lanelab(error), SAME)
            return
        self._send_next_site(member)

    def _send_next_site(self, member: Member) -> None:
        """In pieces, one job after the other; then it qualifies."""
        if not member.lacks:
            self.qualify(member)
            return
        self._sites.send(member, member.lacks.pop(0), self._start, self._site_sent)

    def _site_sent(self, member: Member, why_not: str) -> None:
        if why_not:
            self._refuse(member, why_not)
        else:
            self._send_next_site(member)

    def again(self, member: Member) -> None:
        """Let a worker go on that has rested: it qualifies, or begins anew where it did not come so far before."""
        if member.failures:
            self.begin(member)
        else:
            self.qualify(member)

    def qualify(self, member: Member) -> None:
        member.doing, member.asked_utc = Doing.JOINING, utc_now()
        member.due = time.monotonic() + LONGEST_S
        self._start(member, "qualify", QualifyRequest(member.asked_utc, True), self._qualified)

    def _qualified(self, member: Member, finished: Finished) -> None:
        if finished.error is not None:
            self._failed(member, finished.error)
            return
        try:
            qualification = Qualification.from_json(finished.value)
        except RecordError as error:
            self._refuse(member, of_another_lanelab(error), SAME)
            return
        if qualification.unfit:
            self._refuse(member, qualification.unfit, qualification.remedy)
            return
        ahead_s = seconds_between(member.asked_utc, qualification.utc)
        member.clock_ahead_s = ahead_s if abs(ahead_s) > CLOCK_EXACT_S else 0.0
        # Two machines that call themselves the same are two: "localhost" is a frequent name.
        member.machine = name_of(qualification.machine, self._store.machines())
        self._store.add_machine(replace(qualification.machine, name=member.machine, clock_ahead_s=ahead_s))
        self.note(member, qualification.beds, qualification.self_tests)
        links = {case.label: case.link for case in self._begun.experiment.links}
        member.refusals.update(links[refused.label] for refused in qualification.refused)
        self._note_versions(member, qualification.versions)
        self._note_worker(member, qualification)
        self.unfit.pop(member.name, None)
        member.doing, member.failures = Doing.IDLE, 0
        refused = tuple(f"{each.label}: {each.why}" for each in qualification.refused)
        self._tell(WorkerQualified(member.worker, member.name, member.machine, refused))

    def note(self, member: Member, beds: Mapping[str, BedFacts], self_tests: Sequence[SelfTestCopy]) -> None:
        """Store beds of a worker and their self-tests."""
        for number, facts in beds.items():
            member.beds[int(number)] = self._store.add_bed(replace(facts, machine=member.machine))
        if self_tests:
            tests = list(map(member.test_at_our_clock, self_tests))
            self._store.adopt([], self._store.folder, member.beds, tests)

    def _failed(self, member: Member, error: BaseException) -> None:
        """What the user has to change is final. Anything else may pass: it begins anew a few times."""
        member.failures += 1
        if isinstance(error, InputError) or member.failures >= FAILURES:
            self._refuse(member, str(error))
            return
        member.doing, member.rests_until = Doing.RESTING, time.monotonic() + REST_S
        self._tell(PortionUndone(member.worker, member.name, str(error)))

    def _refuse(self, member: Member, why: str, remedy: str = "") -> None:
        member.doing = Doing.UNFIT
        self.unfit[member.name] = why
        self._tell(WorkerRefused(member.worker, member.name, why, remedy))

    def _note_versions(self, member: Member, versions: Mapping[str, str]) -> None:
        """Versions of machines may differ, but never silently."""
        first = next(iter(self.versions.values()), versions)
        if self.versions and member.machine not in self.versions:
            self._tell_of_absolute_times(member)
        self.versions[member.machine] = versions
        names = sorted(name for name in first.keys() | versions.keys() if first.get(name) != versions.get(name))
        if names:
            what = "; ".join(f"{name}: {versions.get(name, 'none')} (not {first.get(name, 'none')})" for name in names)
            self._tell(MachineDiffers(member.machine, what))

    def _tell_of_absolute_times(self, member: Member) -> None:
        """A run that ends when medians are known takes trials of all its machines together, whose times differ."""
        repeat = self._begun.experiment.repeat
        if repeat.ci is not None and repeat.of == "median":
            what = "`until` asks for medians over several machines, whose absolute times differ: `of: change` does not"
            self._tell(MachineDiffers(member.machine, what))

    def _note_worker(self, member: Member, qualification: Qualification) -> None:
        self._workers[member.name] = WorkerFacts(
            member.machine, qualification.processors, qualification.versions, qualification.refused
        )
        self._store.add_provenance("workers", encoded(self._workers))


def assignment_of(begun: BegunRun) -> Assignment:
    store, experiment = begun.store, begun.experiment
    files = {name: _text(store.folder / name) for name in (run_format.EXPERIMENT, *sorted(scripts_of(experiment)))}
    return Assignment(
        version=VERSION,
        run=store.run_id,
        lanelab=version.VERSION,
        measuring=measuring_digest(),
        files=files,
        meta=_meta(store),
        cells=cells_digest(experiment.cells),
        sites=begun.sites.digests(),
        asks=asked_of(experiment),
    )


def _meta(store: Store) -> dict[str, str]:
    """Return the run's, with links accepted where this session accepts them."""
    meta = store.all_meta()
    if not store.accepts_links:
        return meta
    return {**meta, "bed": json.dumps({**json.loads(meta.get("bed") or "{}"), "accept_links": True})}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"the run's own copy of {path.name} cannot be read: {error}"
        raise StoreError(what, "Put the file back as it was, or begin a new run") from error
