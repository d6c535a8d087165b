"""A run on several beds: on this machine, on machines that lend theirs, or on a cluster that there is."""

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lanelab.analysis.statistics import KNOWN
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.run.events import Listener, Notice
from lanelab.driver.run.folder.store import Store
from lanelab.driver.run.reuse import reuse
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.sweep import dask_cluster, own_scheduler, processors
from lanelab.driver.run.sweep.address import address_of, require_own
from lanelab.driver.run.sweep.cluster import Cluster
from lanelab.driver.run.sweep.controller import Controller, Patience
from lanelab.driver.run.sweep.disturbance import measure_disturbance, require_little
from lanelab.driver.run.sweep.permissions import KINDS
from lanelab.driver.run.sweep.supervisor import Lent, Supervisor

OWN_START_S = 120.0  # workers of this machine that have not come by then will not come
BUSY = 0.5  # processes at a time for each processor, from which on measuring beds against one another tells little
AWAY_S = 600.0  # for as long may all workers of others be away, once there were some


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """The place of a run's beds, when they are not just the one."""

    workers: int = 0  # on this machine
    listen: str = ""  # where workers of other machines reach the run
    cluster: str = ""  # a scheduler that there is, or an invitation to one
    insecure: bool = False  # plain tcp to another machine
    accept_disturbance: bool = False
    dashboard: bool = False

    @property
    def is_asked_for(self) -> bool:
        return bool(self.workers or self.listen or self.cluster)

    @property
    def words(self) -> str:
        """Return the options as one writes them behind a command."""
        options = {"--workers": self.workers, "--listen": self.listen, "--cluster": self.cluster}
        given = [f" {option} {shlex.quote(str(value))}" for option, value in options.items() if value]
        flags = {"--insecure": self.insecure, "--accept-disturbance": self.accept_disturbance}
        return "".join(given + [f" {option}" for option, value in flags.items() if value])

    @property
    def is_elsewhere(self) -> bool:
        """Return whether no bed is on this machine."""
        return self.is_asked_for and not self.workers

    def check(self, options: BedOptions) -> None:
        """Raises InputError where options do not go together."""
        if self.cluster and (self.workers or self.listen):
            what = "--cluster is a scheduler that there is, and --workers and --listen make one"
            raise ArgumentError(what, "Leave one of them out", key="cluster")
        if self.is_asked_for and not options.traits.same_machine:
            what = f"each worker makes its own beds on its machine, and here is --substrate {options.substrate}"
            raise InputError(what, "Leave --substrate and --inventory out, or --workers, --listen and --cluster")
        if self.is_asked_for and options.cpus:
            raise ArgumentError("each bed has processors of its own", "Leave --pin out", key="pin")
        if not self.is_asked_for and (self.insecure or self.accept_disturbance or self.dashboard):
            what = "--insecure, --accept-disturbance and --dashboard are for runs on several beds"
            raise InputError(what, "Add --workers, --listen or --cluster, or leave them out")
        if self.workers:
            self._check_workers()
        if self.cluster:
            address_of(self.cluster, insecure=self.insecure)
        if self.listen:
            require_own(self.listen)

    def _check_workers(self) -> None:
        try:
            processors.divided_here(self.workers)
            processors.require_memory(self.workers, processors.memory_available_here_mib())
        except InputError as error:
            raise ArgumentError(error.what, error.remedy, key="workers") from None


ONE_BED = SweepOptions()


def play_sweep(
    sweep: SweepOptions, begun: BegunRun, options: BedOptions, store: Path | None, tell: Listener, stop: StopRequest
) -> None:
    """Make the trials that the run still lacks, on all the workers that there are. `store`: other runs, whose trials
    are reused."""
    own_alone = bool(sweep.workers) and not sweep.listen
    patience = Patience(OWN_START_S, OWN_START_S) if own_alone else Patience(None, AWAY_S)
    with _connected(sweep, begun, options, tell) as cluster:
        if cluster.dashboard:
            tell(Notice(f"Dask's pages: {cluster.dashboard}"))
        controller = Controller(begun, cluster, tell, stop, KNOWN, patience)
        if store:
            controller.reuse = partial(reuse, begun, store, tell=tell)
        controller.run()


@contextmanager
def _connected(sweep: SweepOptions, begun: BegunRun, options: BedOptions, tell: Listener) -> Iterator[Cluster]:
    """The cluster that the options name; what was started for it ends with it."""

    with ExitStack() as stack:
        if sweep.cluster:
            where = address_of(sweep.cluster, insecure=sweep.insecure)
            yield stack.enter_context(dask_cluster.connect(where))
            return
        folder = begun.store.folder
        scheduler = own_scheduler.start(
            folder / "cluster", folder.name, listen=sweep.listen, dashboard=sweep.dashboard, tell=tell
        )
        here = stack.enter_context(scheduler)
        if sweep.listen:
            tell(Notice(f"other machines join with: lanelab worker {here.invitation}"))
        if sweep.workers:
            divided = _own_processors(sweep, begun.store, tell)
            allowed = frozenset(KINDS)  # the experiment is the user's own
            lent = Lent(sweep.workers, allowed=allowed, router=options.router)
            # What becomes of its workers the controller tells, which sees those of other machines too.
            stack.enter_context(Supervisor(here.where, lent, processors=divided))
        yield stack.enter_context(dask_cluster.connect(here.where, dashboard=here.dashboard))


def _own_processors(sweep: SweepOptions, store: Store, tell: Listener) -> list[list[int]]:
    """Return the processors of each bed of this machine, once it is known how much they disturb one another."""
    division = processors.divided_here(sweep.workers)
    ours = sorted(os.sched_getaffinity(0))
    for warning in processors.warnings(division, ours, processors.places_here(ours)):
        tell(Notice(f"mind: {warning}"))
    if others := processors.other_beds_here():
        beds = counted(others, "other bed is", "other beds are")
        tell(Notice(f"mind: {beds} on this machine now, and will disturb"))
    load = os.getloadavg()[0]
    if load > BUSY * len(ours):
        busy = f"this machine is busy ({load:.1f} processes at a time)"
        tell(Notice(f"mind: {busy}: beds may disturb one another more than is told"))
    if disturbance := measure_disturbance(division):
        tell(Notice(f"{'mind: ' if disturbance.is_noticed else ''}{disturbance.words}"))
        store.add_provenance("disturbance", disturbance.to_json())
        require_little(disturbance, accept=sweep.accept_disturbance)
    return division
