"""Page loads at one setting after the other, on a bed that is kept: what a bench with sliders measures.

Each setting is a run of its own, open for as long as the bench is: going back to a setting goes on with its run, on a
link that has been tested on this bed already. A run ends as any other that was stopped, with all that was finished.
"""

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from lanelab.analysis.statistics import KNOWN
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.run_experiment import links_of, ready
from lanelab.driver.api.session import Means, heard, session
from lanelab.driver.base.errors import BedError, BedLost, InputError, Interrupted
from lanelab.driver.base.version import VERSION
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.agenda import Agenda
from lanelab.driver.experiment.schedule.order import PlannedTrial
from lanelab.driver.experiment.schedule.results import Attempt
from lanelab.driver.experiment.schedule.rounds import Schedule
from lanelab.driver.link import Link
from lanelab.driver.run import start
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import Listener, unheard
from lanelab.driver.run.runner import Runner, StopRequest
from lanelab.driver.run.start import BegunRun

USUAL = BedOptions()


class SomeRounds:
    """An agenda that ends after so many of the rounds that remain."""

    def __init__(self, agenda: Agenda, rounds: int) -> None:
        first = agenda.batch()
        self._agenda = agenda
        self._last = first[0].round + rounds - 1 if first else 0

    @property
    def is_empty(self) -> bool:
        return not self._last

    def batch(self) -> list[PlannedTrial]:
        batch = self._agenda.batch()
        return batch if batch and batch[0].round <= self._last else []

    def next_round(self) -> PlannedTrial | None:
        planned = self._agenda.next_round()
        return planned if planned and planned.round <= self._last else None

    @property
    def block(self) -> int:
        return 0  # the bed is kept

    def attempts(self, planned: PlannedTrial) -> int:
        return self._agenda.attempts(planned)

    def add(self, planned: PlannedTrial, attempt: Attempt) -> None:
        self._agenda.add(planned, attempt)

    def give_up(self, planned: PlannedTrial) -> None:
        self._agenda.give_up(planned)


@dataclass(slots=True)
class Setting:
    """A setting of the bench, with its run."""

    folder: Path
    link: Link
    schedule: Schedule
    runner: Runner
    session: ExitStack
    was_used: bool = False
    is_measured_again: bool = True  # whether its link was, after its latest trials


class LinkBench:
    """Measures settings on one bed. A context manager: leaving it ends the bed and all its runs."""

    def __init__(
        self, tell: Listener = unheard, options: BedOptions = USUAL, command: Sequence[str] | None = None
    ) -> None:
        """Begin without a bed: the first setting makes it. command: what the provenance of its runs calls it."""
        self._tell, self._options, self._command = tell, options, command
        self._stack = ExitStack()
        self._bed: Bed | None = None
        self._settings: dict[tuple[str, bool], Setting] = {}  # by the text of the experiment, and what it accepts
        self._now: Setting | None = None

    def __enter__(self) -> "LinkBench":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        with self._stack, suppress(BedError):
            self.measure_again()

    def measure(self, experiment: Experiment, folder: Path, rounds: int, *, accept_links: bool = False) -> Path:
        """Measure an experiment of one link for so many rounds more, and return its run's folder: this one, where it
        has none yet. Raises InputError where it has all its trials, or cannot be. accept_links: go on where the link
        fails its self-test, which the run then tells of."""
        key = experiment.text, accept_links
        setting = self._settings.get(key) or self._begin(experiment, folder, accept_links=accept_links)
        agenda = SomeRounds(setting.schedule, rounds)
        if agenda.is_empty:
            what = f"this setting has its {experiment.repeat.max} rounds"
            raise InputError(what, f"Go on with another setting, or look at the run in {setting.folder}")
        self._bring(setting)
        setting.is_measured_again = False
        setting.runner.play(agenda)
        return setting.folder

    def measure_again(self) -> None:
        """Measure the links that were used since: whether they are what they were before their trials."""
        for setting in self._settings.values():
            if not setting.is_measured_again:
                self._bring(setting)
                setting.runner.current.measure_links_again()
                setting.is_measured_again = True

    def _begin(self, experiment: Experiment, folder: Path, *, accept_links: bool) -> Setting:
        links = links_of(experiment)
        if len(links) != 1:
            raise InputError(f"a bench has one link at a time, and here are {len(links)}", "Write one", key="links")
        placed = self._options.placed(experiment.workload, links)
        options = replace(placed, accept_links=accept_links)
        programs = ready(experiment, options)
        if self._bed is None:
            self._bed = self._stack.enter_context(options.opened())
        begun = start.begin(experiment, VERSION, folder, None, options.to_json())
        with ExitStack() as stack:
            setting = self._opened(begun, links[0], programs, options, stack)
            setting.session = stack.pop_all()
        self._stack.push(setting.session)
        self._settings[experiment.text, accept_links] = setting
        return setting

    def _opened(
        self, begun: BegunRun, link: Link, programs: Programs, options: BedOptions, stack: ExitStack
    ) -> Setting:
        """Begin the session of a run, which ends with the stack."""
        bed, means = self._bed, Means(self._tell, StopRequest(), command=self._command)
        if bed is None:
            raise BedLost("the bed is gone")
        stack.callback(begun.store.close)
        stack.enter_context(suppress(Interrupted))
        means = stack.enter_context(heard(begun, means))
        stack.enter_context(session(begun, programs, options, means))
        schedule = Schedule(begun.experiment, int(begun.store.meta("seed")), KNOWN, {})
        runner = stack.enter_context(Runner(begun, lambda: nullcontext(bed), means.tell, means.stop, programs))
        setting = Setting(begun.store.folder, link, schedule, runner, stack)
        stack.callback(self._leave, setting)
        return setting

    def _bring(self, setting: Setting) -> None:
        """Give the bed the link of a setting that it had before; of a new one its runner does."""
        if self._bed and self._now is not setting and setting.was_used:
            self._bed.end_trial()
            self._bed.set_link(setting.link)
        self._now, setting.was_used = setting, True

    def _leave(self, setting: Setting) -> None:
        """End the run of a setting: what it notes of its bed at the end is of its own link."""
        with suppress(BedError):
            self._bring(setting)
        if setting.schedule.batch():
            raise Interrupted("the bench was left")
