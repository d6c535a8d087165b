"""A run as a worker has it: a run folder of its own that lives as long as all goes well, and a bed.

The controller has all that counts. Where something fails, all of this is forgotten and made anew when it is wanted.
"""

import contextlib
import fcntl
import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.base import paths
from lanelab.driver.base.errors import BedLost, Interrupted, LanelabError, StoreError
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.bed.placement import placement, processors_here
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.experiment.model import Cell
from lanelab.driver.link import Link
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import BedReplaced
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.machines import BedFacts, MachineFacts
from lanelab.driver.run.needs import needs_of
from lanelab.driver.run.runner import Runner, StopRequest
from lanelab.driver.run.start import AUTHORITY, BegunRun
from lanelab.driver.run.sweep.messages import RefusedLink
from lanelab.driver.run.sweep.worker.assignment import Assigned
from lanelab.driver.run.sweep.worker.context import WorkerContext
from lanelab.driver.run.this_machine import this_machine


class ScratchRun:
    """Everything in it is made when it is first wanted; `forget` leaves nothing behind."""

    def __init__(self, assigned: Assigned, context: WorkerContext) -> None:
        self._assigned, self._context = assigned, context
        self._experiment = assigned.experiment
        self._folder = context.scratch / "run"
        self._store: Store | None = None
        self._runner: Runner | None = None
        self._last_delivered = 0  # the last self-test that the controller knows
        self.stop = StopRequest()
        self.machine: MachineFacts = this_machine(context.machine)

    # --- making it, and forgetting it

    def runner(self) -> Runner:
        """Return the runner, whose bed is up when it is first wanted."""
        if self._runner is None:
            sites = self._assigned.served()
            with _one_at_a_time():
                prepare(needs_of(self._experiment))
            programs = Programs.built(self._experiment)
            begun = BegunRun(self._experiment, sites, self.store())
            self._runner = Runner(begun, self._open_bed, self._context.tell, self.stop, programs)
        return self._runner

    def store(self) -> Store:
        if self._store is None:
            shutil.rmtree(self._folder, ignore_errors=True)
            meta = self._assigned.order.meta
            store = Store.create(self._folder, self._experiment.text, meta, self._experiment.cells)
            self._store, self._last_delivered = store, 0
            Authority.make(store.folder / AUTHORITY)
            store.begin_session({}, self.machine)
        return self._store

    def forget(self) -> None:
        """The bed ends, and the run folder with it."""
        runner, self._runner = self._runner, None
        store, self._store = self._store, None
        if runner:
            with contextlib.suppress(LanelabError):
                runner.close()
        if store:
            store.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextlib.contextmanager
    def _open_bed(self) -> Iterator[Bed]:
        direct = all(case.link.direct for case in self._experiment.links)
        cpus = placement(processors_here(), self._experiment.workload, direct=direct)
        options = json.loads(self._assigned.order.meta.get("bed") or "{}")
        router = options.get("router", "auto") if self._context.router == "auto" else self._context.router
        with paths.bed_folder() as folder, Bed(BedSettings(folder, router=router, cpus=cpus)) as bed:
            yield bed

    # --- its bed and links

    def use_for(self, block: int) -> Runner:
        """Return the runner with a bed for that block of rounds."""
        runner = self.runner()
        runner.current.use_for(block)
        runner.current.make_ready()
        runner.current.reconsider_links()
        return runner

    def all_measured(self) -> list[RefusedLink]:
        """Measure each link of the experiment on the bed. One that is lost meanwhile gets one more chance."""
        for chance in (1, 2):
            try:
                self.use_for(0)
                return self.measured(self._experiment.cells)
            except BedLost as error:
                self.forget()
                if chance == 2:
                    raise
                self._context.tell(BedReplaced(str(error)))
        raise AssertionError  # the second chance returned or raised

    def measured(self, cells: Iterable[Cell]) -> list[RefusedLink]:
        """Measure the links of these cells that have not passed on this bed: which are refused."""
        current, refused = self.runner().current, []
        for cell in {cell.link.link: cell for cell in cells}.values():
            if current.links.has_passed(cell):
                continue
            if self._context.is_halted():
                raise Interrupted("stopped while links were measured")
            current.bed.end_trial()  # what the last one has running would disturb
            why = current.links.bring(cell)
            if why:
                refused.append(RefusedLink(self.label_of(cell.link.link), why))
        return refused

    def measure_links_again(self) -> None:
        if self._runner:
            self._runner.current.measure_links_again()

    def label_of(self, link: Link) -> str:
        """As the experiment calls it, whatever loads its cells have besides."""
        return next(case.label for case in self._experiment.links if case.link == link)

    # --- what there is to tell

    def versions(self) -> dict[str, str]:
        """Return what trials on the bed are made with."""
        current = self.runner().current
        current.make_ready()
        return self.store().versions({current.versions})[current.versions]

    def versions_of(self, trials: Sequence[TrialCopy]) -> dict[str, dict[str, str]]:
        return self.store().versions({trial.versions for trial in trials}) if trials else {}

    def news(self, trials: Sequence[TrialCopy] = ()) -> tuple[list[SelfTestCopy], dict[int, BedFacts]]:
        """Return the self-tests since the last answer, and the beds that they or the trials name, with the one in
        use."""
        if self._store is None:
            return [], {}
        try:
            tests, beds = self._store.self_test_copies(self._last_delivered), self._store.beds()
            self._last_delivered = self._store.last_self_test()
        except sqlite3.Error:  # of a disk that is full or broken: what went wrong first is what has to be told
            return [], {}
        named = {test.bed for test in tests} | {trial.bed for trial in trials}
        in_use = {self._runner.current.number} if self._runner else set()
        return tests, {number: facts for number, facts in beds.items() if number in named | in_use}


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Workers of one machine begin together, and packages are installed by one of them."""
    path = paths.build_folder() / "prepare.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}", "Set LANELAB_BUILD to another folder") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
