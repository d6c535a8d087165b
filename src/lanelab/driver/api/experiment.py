"""An experiment for programs: of a file, or of settings; planned, and run."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, TypedDict, Unpack, runtime_checkable

import yaml

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.opened_run import Run
from lanelab.driver.api.plans import Plan, plan_of
from lanelab.driver.api.run_experiment import run
from lanelab.driver.api.sweeps import SweepOptions
from lanelab.driver.base.errors import ArgumentError, InputError, Interrupted
from lanelab.driver.experiment import model
from lanelab.driver.experiment.keys import EXPERIMENT
from lanelab.driver.experiment.read import parse_experiment, read_experiment
from lanelab.driver.run.events import Event, Listener
from lanelab.driver.run.runner import StopRequest
from lanelab.driver.site.load import site_names

# As an experiment file has it: texts with their units, numbers, and lists and mappings of them.
Setting: TypeAlias = "str | int | float | bool | Iterable[Setting] | Mapping[str, Setting] | Numbers"
SOURCE = "grid"  # errors call the experiment so


class RunOptions(TypedDict, total=False):
    """The wishes with which an experiment is run: those of `lanelab run`."""

    out: str | Path
    stop: StopRequest
    seed: int
    beds: int
    scale: float
    reuse: str | Path
    bed: BedOptions
    sweep: SweepOptions


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment. `data` has every value resolved."""

    data: model.Experiment

    @classmethod
    def from_yaml(cls, file: str | Path, variant: str | None = None) -> "Experiment":
        """Return the experiment in a file; of its variants that one, else the first. Raises InputError, which names the
        file, the line and the key."""
        return cls(read_experiment(Path(file), variant))

    @property
    def name(self) -> str:
        return self.data.name

    @property
    def text(self) -> str:
        """The text of its file."""
        return self.data.text

    def plan(self, *, workers: int | None = None) -> Plan:
        """Return what it would do, without doing it; `workers`: on so many beds at once."""
        return plan_of(self.data, workers=workers)

    def run(self, on_event: Listener | None = None, **options: Unpack[RunOptions]) -> Run:
        """Run it to its end, and open the run. Raises as `lanelab.run` does."""
        return run(self.data, **options) if on_event is None else run(self.data, on_event=on_event, **options)

    async def run_async(self, on_event: Listener | None = None, **options: Unpack[RunOptions]) -> Run:
        """Run it while the event loop goes on, in which `on_event` is called. A task that is cancelled lets the run end
        after the trial that is under way, and is cancelled then."""
        loop = asyncio.get_running_loop()
        stop = options.setdefault("stop", StopRequest())

        def tell(event: Event) -> None:
            if on_event is not None and not loop.is_closed():
                loop.call_soon_threadsafe(on_event, event)

        running = asyncio.ensure_future(asyncio.to_thread(self.run, tell, **options))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError as cancelled:
            stop.ask()
            error = await _ended(running)
            if error is not None and not isinstance(error, Interrupted):
                raise error from cancelled
            raise

    def __repr__(self) -> str:
        return f"<experiment {self.name}: {len(self.data.cells)} cells>"


async def _ended(running: "asyncio.Future[Run]") -> BaseException | None:
    """Wait for a run that was asked to stop, however often its task is cancelled meanwhile: it has a bed. Returns its
    error."""
    while not running.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([running])
    return running.exception()


@runtime_checkable
class Numbers(Protocol):
    """A number or an array of a library such as numpy."""

    def item(self) -> object: ...
    def tolist(self) -> object: ...


def grid(**settings: Setting) -> Experiment:
    """Return an experiment of every combination of these settings of the link, each a value or a list of values with
    its unit. Other names are keys of an experiment file: sites, arms, trials, …. Raises InputError, as for a file."""
    keys = {setting.name for setting in EXPERIMENT.settings}
    links = {name: value for name, value in settings.items() if name not in keys}
    whole = {name: value for name, value in settings.items() if name in keys}
    written = {"name": SOURCE, **whole, **({"links": links} if links else {})}
    text = yaml.safe_dump(_plain(written), sort_keys=False, allow_unicode=True, width=100)
    try:
        return Experiment(parse_experiment(text, SOURCE, site_names()))
    except InputError as error:  # nobody wrote that file: it has no lines
        key = re.sub(rf"^{SOURCE}(:\d+)?: ", "", error.key)
        name = key.removeprefix("links.")
        raise ArgumentError(error.what, error.remedy, key=name) from error


def _plain(value: object) -> object:
    """Return it with lists and mappings as YAML writes them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(below) for name, below in value.items()}
    if isinstance(value, str | int | float):
        return value.item() if isinstance(value, Numbers) else value
    if isinstance(value, Numbers):
        return _plain(value.tolist())
    if isinstance(value, Iterable):
        return [_plain(one) for one in value]
    return value
