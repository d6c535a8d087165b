"""The bed that a run uses now, and the links on it. When a bed is lost, or another block of rounds begins, the next one
takes its place."""

import os
import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import BedError, BedLost, StoreError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.channel.fact_operations import BedReport
from lanelab.driver.run.events import BedUp, LinksNotTestedAgain, Listener
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.link_keeper import LinkKeeper, LinkOf
from lanelab.driver.run.machines import BedFacts
from lanelab.driver.run.open_beds import Beds
from lanelab.driver.run.trial_keys import digest_of
from lanelab.driver.run.versions import versions_of

BEDS_LOST_IN_A_ROW = 3


class CurrentBed:
    """Made when it is first wanted, noted in the provenance of the session, closed with its `close`."""

    def __init__(
        self,
        beds: Beds,
        experiment: Experiment,
        store: Store,
        tell: Listener,
        check: Callable[[Bed], None],
        programs: Programs,
        link_of: LinkOf,
    ) -> None:
        """Begin without a bed. `check` is what the first bed is asked before its first trial;
        `link_of`: the link of a cell."""
        self._beds, self._experiment, self._store = beds, experiment, store
        self._tell, self._check, self._programs, self._link_of = tell, check, programs, link_of
        self._stack = ExitStack()
        self._bed: Bed | None = None
        self._links: LinkKeeper | None = None
        self._count = 0  # of this session
        self.number = 0  # of the bed that is in use, within the run
        self.versions = ""  # digest of what trials on this bed are made with
        self._lost_in_a_row = 0
        self._block = 0  # of rounds, that the bed in use is for

    @property
    def was_there(self) -> bool:
        """Return whether there ever was a bed."""
        return self._beds.had_one

    @property
    def bed(self) -> Bed:
        if self._bed is None:
            raise BedLost("the bed is gone")
        return self._bed

    @property
    def links(self) -> LinkKeeper:
        if self._links is None:
            raise BedLost("the bed is gone")
        return self._links

    def make_ready(self) -> float:
        """Make sure that a bed is up, and return how long that took, in seconds."""
        if self._bed:
            return 0.0
        began = time.monotonic()
        bed = self._bed = self._beds.open(self._stack)
        self.number = self._note(bed)
        accepts = self._store.accepts_links
        self._links = LinkKeeper(bed, self.number, self._store, self._tell, link_of=self._link_of, accept=accepts)
        self._count += 1
        report = bed.facts()
        self._note_versions(bed, report)
        facts = {**report, "bed": self.number, "bring_up_s": bed.info.bring_up_s, "began_utc": utc_now()}
        self._store.add_provenance(self._numbered("bed"), facts)
        self._tell(BedUp(self.number, bed.info.router, bed.info.kernel, bed.info.bring_up_s))
        if self._count == 1:
            self._check(bed)
        return time.monotonic() - began

    def _note(self, bed: Bed) -> int:
        """Return the number of the bed, which the run folder now knows with its machine."""
        machine, info = self._store.machine, bed.info
        if machine is None:
            raise StoreError("no session of the run has begun", "Please report it")
        self._store.add_machine(machine)
        processors_here = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        uid, now = secrets.token_hex(8), utc_now()
        facts = BedFacts(uid, machine.name, processors_here, now, info.router, info.kernel, info.bring_up_s)
        return self._store.add_bed(facts)

    def _note_versions(self, bed: Bed, facts: BedReport) -> None:
        versions = versions_of(self._experiment, self._programs, bed, facts)
        self.versions = digest_of(versions)
        self._store.add_versions(self.versions, versions)

    def use_for(self, block: int) -> None:
        """Let rounds of this block begin. A bed that rounds of another block used ends here, and the next trial gets a
        fresh one. 0: whatever bed there is will do."""
        if block and self._block and block != self._block:
            self.measure_links_again()
            self.close()
        self._block = block or self._block

    def measure_links_again(self) -> None:
        """Measure what the links of this bed are when the work on it is done. A bed that fails meanwhile leaves them
        unmeasured, and results say so."""
        if self._bed and self._links and not self._lost_in_a_row:
            try:
                self._links.measure_again()
            except BedError as error:
                self._tell(LinksNotTestedAgain(str(error)))

    def reconsider_links(self) -> None:
        """Let a round begin: what was refused in the one before is measured again."""
        if self._links:
            self._links.reconsider()

    def has_worked(self) -> None:
        """Note that a trial ran to its end."""
        self._lost_in_a_row = 0

    def lose(self) -> bool:
        """The bed is gone, or cannot do what every trial needs. Whether another one may do better."""
        self._lost_in_a_row += 1
        self.close()
        return self._lost_in_a_row < BEDS_LOST_IN_A_ROW

    def close(self) -> None:
        if self._bed and not self._lost_in_a_row:
            with suppress(BedError, StoreError):
                self._store.add_provenance(self._numbered("tc_at_the_end"), self._bed.tc_state())
        self._bed = self._links = None
        self._stack.close()

    def _numbered(self, key: str) -> str:
        """What to call a fact of this bed: a number follows where the session had a bed before it."""
        return key if self._count == 1 else f"{key} {self._count}"
