"""One session of a run: its provenance, its trials, and its end in the run folder, whatever becomes of it."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.analysis.statistics import KNOWN
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.events_file import event_lines
from lanelab.driver.api.run_now import live_events
from lanelab.driver.api.sweeps import ONE_BED, SweepOptions, play_sweep
from lanelab.driver.arm.quic_stacks import quic_facts
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import Interrupted, LanelabError, StoreError, interruption
from lanelab.driver.base.version import VERSION
from lanelab.driver.base.writing import writing
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.rounds import Schedule
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.events import Ending, Listener, Notice, ReuseBegun, RunBegun, SessionEnded, Stopping
from lanelab.driver.run.missing import TrialsMissing, trials_missing
from lanelab.driver.run.provenance import host_facts, load
from lanelab.driver.run.reuse import reuse
from lanelab.driver.run.runner import Runner, StopRequest
from lanelab.driver.run.second_visits import second_visits_told
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.this_machine import this_machine
from lanelab.driver.run.trial_keys import digest_of
from lanelab.driver.run.versions import versions_of
from lanelab.driver.site.own_sites import own_sites_told

NEVER_BEGUN = "failed: there was no bed to begin with"
STOPPED = "stopped; everything that was finished is stored"


@dataclass(frozen=True, slots=True)
class Means:
    """The means by which a session makes its trials, and who hears of it."""

    tell: Listener
    stop: StopRequest
    sweep: SweepOptions = ONE_BED
    reused: Path | None = None  # other runs, whose trials are taken first
    command: Sequence[str] | None = None  # for the provenance; None: that of this process


def play(begun: BegunRun, programs: Programs, bed: BedOptions, means: Means) -> TrialsMissing | None:
    """Make the trials that the run still lacks. What it lacks afterwards: None where every cell has what was asked for.

    Raises Interrupted where it was asked to stop, RunInterrupted after Ctrl-C, and any other LanelabError where it
    cannot go on. Every trial that was finished is stored."""
    if warning := bed.kind.warning(bed.given):
        means.tell(Notice(warning))
    visits = second_visits_told(begun.experiment, begun.sites.archived)
    for words in (*own_sites_told(begun.experiment.sites), *visits):
        means.tell(Notice(f"mind: {words}"))
    with heard(begun, means) as public, session(begun, programs, bed, public):
        tell = public.tell
        tell(_begun(begun))
        if means.sweep.is_asked_for:
            play_sweep(means.sweep, begun, bed, means.reused, tell, means.stop)
        else:
            _play_one_bed(begun, programs, bed, public)
        missing = trials_missing(begun.experiment, begun.store.history(), begun.store.reasons(), begun.store.folder)
        if missing:
            tell(missing)
    return missing


@contextmanager
def heard(begun: BegunRun, means: Means) -> Iterator[Means]:
    """Yield the means with events in the run folder besides, for whoever watches the run while it goes on."""
    path = live_events(begun.store.folder)
    with writing(f"write events to {path}"):
        path.parent.mkdir(exist_ok=True)
    with event_lines(path, means.tell) as tell:
        yield replace(means, tell=tell)


def _begun(begun: BegunRun) -> RunBegun:
    store, experiment = begun.store, begun.experiment
    return RunBegun(
        folder=str(store.folder),
        seed=int(store.meta("seed")),
        trials=experiment.repeat.max * len(experiment.cells),
        done=sum(attempt.ok for attempts in store.history().values() for attempt in attempts),
        rounds=experiment.repeat.max,
        workload=store.workload,
    )


def _play_one_bed(begun: BegunRun, programs: Programs, bed: BedOptions, means: Means) -> None:
    if means.reused:
        with bed.opened() as opened:  # it says which versions the run's own trials would have
            versions = versions_of(begun.experiment, programs, opened, opened.facts())
        means.tell(ReuseBegun(str(means.reused)))
        reuse(begun, means.reused, {digest_of(versions): versions}, means.tell)
    schedule = Schedule(begun.experiment, int(begun.store.meta("seed")), KNOWN, begun.store.history())
    with Runner(begun, bed.opened, means.tell, means.stop, programs) as runner:
        runner.run(schedule)


def _stops_when(experiment: Experiment, means: Means) -> str:
    if means.sweep.is_asked_for:
        return "when the portions that are under way are stored"
    return "after this trial" if experiment.workload == PAGE_LOAD else f"now: a {experiment.workload} ends at once"


@contextmanager
def session(begun: BegunRun, programs: Programs, bed: BedOptions, means: Means) -> Iterator[None]:
    """Begins a session, and ends it: the folder knows how, and a run that never began leaves none."""
    store = begun.store
    command = sys.argv if means.command is None else means.command
    made_with = {**host_facts(VERSION), **programs.facts(), **bed.facts(), **quic_facts(begun.experiment.arms)}
    facts: JsonObject = {**made_with, "command": list(command)}
    store.begin_session(facts, this_machine(), accepts_links=bed.accept_links)
    store.set_meta("state", "running")
    means.stop.heard = lambda: means.tell(Stopping(_stops_when(begun.experiment, means)))
    ending: Ending = "failed"
    why, never_begun = "", False
    try:
        yield
        ending = "finished"
    except (Interrupted, KeyboardInterrupt) as error:
        ending = "stopped"
        remedy = f"Go on with: lanelab run --resume {store.folder}{means.sweep.words}"
        raise interruption(error, STOPPED, remedy) from error
    except LanelabError as error:
        why, never_begun = str(error), not store.last_bed() and store.session == 1
        raise
    finally:
        means.stop.heard = lambda: None
        with suppress(StoreError):  # a full disk was reported already, and must not hide what went wrong first
            store.add_provenance("load_at_the_end", load())
            store.end_session(NEVER_BEGUN if never_begun else f"failed: {why}" if why else ending)
            store.set_meta("state", ending)
        if never_begun:  # there is nothing in it to look at or to go on with
            shutil.rmtree(store.folder, ignore_errors=True)
        means.tell(SessionEnded(ending, why))
