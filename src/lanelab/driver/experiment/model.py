"""What an experiment is, once read: frozen, every value resolved."""

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lanelab.analysis.statistics.looks import Look, looks, only_look
from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.units import Duration, Ratio
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.dimensions import value_of
from lanelab.driver.experiment.figure import Figure
from lanelab.driver.link import Link
from lanelab.driver.record.metrics import Metric, metrics_of_steps
from lanelab.driver.trial.fetch.settings import FetchSettings
from lanelab.driver.trial.journey import Journey, Script
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.tolerances import Tolerances

Order = Literal["interleaved", "random", "sequential"]
Watched = Literal["median", "change"]
ID_DIGITS = 16


@dataclass(frozen=True, slots=True)
class LinkCase:
    """A link with its name within the experiment; where a server is put under load, with the load; where
    objects are fetched, with the fetch."""

    label: str
    link: Link
    load: LoadSettings | None = None
    fetch: FetchSettings | None = None

    def to_mapping(self) -> dict[str, str]:
        """Return every effective setting of the link, and what loads or fetches differ in, as text with units."""
        return {**self.link.to_mapping(), **self.dimensions()}

    def dimensions(self) -> dict[str, str]:
        """Return what loads or fetches differ in."""
        settings = self.load or self.fetch
        return settings.dimensions() if settings else {}


@dataclass(frozen=True, slots=True)
class Cell:
    """One site, link and arm."""

    site: str
    link: LinkCase
    arm: Arm
    journey: Journey = ()  # empty: one page is loaded
    script: Script | None = None  # that makes it

    _id: str = field(
        default="", init=False, compare=False, repr=False
    )  # kept, since a schedule asks for it all the time

    @property
    def id(self) -> str:
        """Identify the cell: equal effective settings give equal identities, whatever their names and order in the
        file."""
        if not self._id:
            settings = {"site": self.site, **self.settings()}
            text = json.dumps(settings, sort_keys=True, separators=(",", ":"))
            object.__setattr__(self, "_id", hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS])
        return self._id

    def settings(self) -> dict[str, object]:
        """Return what identifies it, beside its site: the settings of link and arm that are not the default ones, the
        load, the journey and its script's hash, the fetch. So a setting that lanelab gets later changes no
        identifier."""
        load = {"load": self.link.load.to_json()} if self.link.load else {}
        journey = {"journey": [step.to_json() for step in self.journey]} if self.journey else {}
        script = {"script": self.script.sha256} if self.script else {}
        fetch = {"fetch": self.fetch.to_json()} if self.fetch else {}
        return {"link": self.link.link.changed(), "arm": self.arm.changed(), **load, **journey, **script, **fetch}

    @property
    def fetch(self) -> FetchSettings | None:
        """Return the fetch that each of its trials is."""
        return self.link.fetch

    @property
    def label(self) -> str:
        return f"{self.site} · {self.link.label} · {self.arm.name}"


@dataclass(frozen=True, slots=True)
class Repeat:
    """Says how many trials a cell gets: a fixed number, or until intervals are narrow."""

    trials: int | None
    ci: Ratio | None
    min: int
    max: int
    of: Watched = "median"

    @property
    def looks(self) -> tuple[Look, ...]:
        """When results are looked at, to end the run if they are known well enough."""
        return only_look(self.max) if self.ci is None else looks(self.min, self.max)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Says which cells are compared with which. They differ in their arm only."""

    cells: tuple[tuple[Cell, Cell], ...]  # (base, arm)
    left_out: tuple[str, ...] = ()  # sentences: what is compared with nothing, and why


def dimension_of(cell: Cell, name: str) -> str | None:
    """Return the value of a cell on an axis of figures: its arm, site, link, or a setting of the link."""
    plain = {"arm": cell.arm.name, "site": cell.site, "link": cell.link.label}
    return plain[name] if name in plain else value_of(_settings(cell.link), name)


def shows(figure: Figure, cell: Cell) -> bool:
    return all(dimension_of(cell, name) in values for name, values in figure.only)


def step_metrics(cells: Iterable[Cell]) -> list[Metric]:
    """Return the metrics that trials of these cells may have of each step of their journeys."""
    steps = {step.name: step for cell in cells for step in cell.journey}
    return metrics_of_steps(steps, by_script=any(step.scripted for step in steps.values()))


@functools.lru_cache(maxsize=1000)
def _settings(link: LinkCase) -> Mapping[str, str]:
    return link.to_mapping()


@dataclass(frozen=True, slots=True)
class Experiment:
    name: str
    description: str
    workload: str
    text: str  # the file, verbatim
    arms: tuple[Arm, ...]
    links: tuple[LinkCase, ...]
    sites: tuple[str, ...]
    cells: tuple[Cell, ...]
    pairs: Pairs
    repeat: Repeat
    beds: int  # fresh ones, over which the rounds are divided
    order: Order
    seed: int | None
    claims: tuple[Claim, ...]
    variant: str  # "" where the file has none
    variants: tuple[str, ...]  # all that the file has
    missing: str  # fail or 404
    tolerances: Tolerances
    figures: tuple[Figure, ...]
    retries: int
    timeout: Duration
    recorders: Mapping[str, Coded]  # options of each recorder that is on, by its name
    journey: Journey = ()  # that each trial makes; empty: it loads one page
    script: Script | None = None  # that makes it
    scale: float = 1.0  # of users and times of loads, against what the file says

    @property
    def fetches(self) -> bool:
        """Return whether its trials fetch objects."""
        return any(cell.fetch for cell in self.cells)
