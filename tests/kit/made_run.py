"""Makes run folders that look like real ones, by the writer of real ones: for tests of what reads them."""

import functools
import hashlib
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from lanelab.driver.arm.arm import Arm
from lanelab.driver.experiment.claim import Claim, digest_of
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import SelfTestCopy, StoredSelfTest, TrialCopy
from lanelab.driver.run.machines import BedFacts, MachineFacts
from lanelab.driver.site.site_notes import AboutSite
from tests.kit.made_trials import FILES, PAGE_BYTES, MadeLoad, record_of, self_test
from tests.kit.stored_run import HOST, PROVENANCE, RunContent, artifacts_of, cell_of, kept_figure, stamp, store_run

ARMS: Mapping[str, Mapping[str, Any]] = {
    "http": {"protocol": "http/1.1", "tls": "off", "keepalive": False},
    "http keepalive": {"protocol": "http/1.1", "tls": "off", "keepalive": True},
    "https": {"protocol": "http/1.1", "tls": "1.3", "keepalive": True},
    "h2": {"protocol": "h2", "tls": "1.3", "keepalive": True},
}
TEXT = """\
# Made for tests
name: quickstart
description: The dummy page over 10 Mbit/s, four ways to ask for it
sites: [dummy]
links: {rate: 10mbit, rtt: [20ms, 100ms]}
trials: 5
"""


@dataclass(frozen=True)
class MadeMachine:
    """A machine of a made run: `pace` and `change` are factors, of all its times and of all times but the base's."""

    name: str
    pace: float = 1.0
    change: float = 1.0
    noise: float | None = None  # None: the run's
    versions: Mapping[str, str] = field(default_factory=lambda: {"chromium": "140.0.7339.80", "kernel": "6.1.176"})
    refused: Sequence[str] = ()  # labels of links
    clock_ahead_s: float = 0.0
    identity: str = ""  # "": made of its name

    def facts(self) -> MachineFacts:
        return replace(
            HOST, name=self.name, identity=self.identity or f"id of {self.name}",
            clock_ahead_s=self.clock_ahead_s, fixed_work_ms=10 * self.pace,
        )  # fmt: skip

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(dict(self.versions), sort_keys=True).encode()).hexdigest()


@dataclass
class Made:
    """What the run has; change what a test is about."""

    name: str = "quickstart"
    description: str = "The dummy page over 10 Mbit/s, four ways to ask for it"
    state: str = "finished"
    sites: Sequence[str] = ("dummy",)
    links: Sequence[Mapping[str, str]] = (
        {"rate": "10mbit", "rtt": "20ms"},
        {"rate": "10mbit", "rtt": "100ms"},
    )
    arms: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: ARMS)
    rounds: int = 5
    figures: Sequence[Mapping[str, Any]] = (
        {"title": "Page load time over the round trip", "x": "rtt", "y": "plt", "series": "arm", "kind": "line",
         "facet": None, "only": {}},
    )  # fmt: skip
    text: str = TEXT
    order: str = "interleaved"
    looks: Sequence[tuple[int, float]] = ()
    compared: Sequence[tuple[str, str]] | None = None  # (base, arm) by cell id; None: every arm with the first
    not_compared: Sequence[str] = ()
    seed: int = 7
    noise: float = 0.012
    drift: float = 0.0
    beds: int = 1  # the rounds are divided over them
    bed_noise: float = 0.0
    pace: float = 1.0  # of the machine: above 1 everything takes longer
    provenance: Mapping[str, Any] = field(default_factory=dict)  # beside what all made runs note
    fails: Callable[[int, int], bool] = lambda trial, attempt: trial % 19 == 7 and attempt == 1
    retries: int = 2
    reason: str = "router-stopped"
    detail: str = "the router stood still for 212 ms of a load of 1,431 ms"
    with_requests: bool = True
    machine: Mapping[str, float] = field(default_factory=dict)  # measures of the machine, of every trial
    about: Mapping[str, AboutSite] = field(default_factory=dict)  # by site
    flags: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)  # by trial: name and detail
    claims: Sequence[Claim] = ()
    variant: str = ""
    id: str = ""  # of the run, for its beds too; "": one that comes from name and text
    asked: Callable[[int], str] = lambda _cell: ""  # digest of what was asked for in a cell
    repeat: Mapping[str, Any] | None = None  # of the plan
    machines: Sequence[MadeMachine] = ()  # beds are dealt to them in turn; none: a run that knows no machines
    origins: Mapping[int, str] = field(default_factory=dict)  # by round: the run that its trials were taken from
    trials_on: Mapping[tuple[int, int], int] = field(
        default_factory=dict
    )  # (cell, round) -> bed, where another made it


def make_run(folder: Path, made: Made | None = None) -> Path:
    """The folder, with everything in it. The same run is stored once, and copied from then on."""
    made = made or Made()
    shutil.copytree(_stored(_Key(made)), folder)
    return folder


class _Key:
    """Tells runs apart. It keeps what it was made of, so that no other function gets the address of one of its own."""

    def __init__(self, made: Made) -> None:
        self.made, self.text = replace(made), repr(made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


@functools.cache
def _stored(key: _Key) -> Path:
    folder = Path(_scratch().name) / str(_stored.cache_info().currsize)
    store_run(folder, _Maker(key.made).content())
    return folder


@functools.cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    # Without the word that tests look for which ask whether a bed has left files.
    return tempfile.TemporaryDirectory(prefix="made-runs-of-tests-")


def label(settings: Mapping[str, str]) -> str:
    return " ".join(str(value) for value in settings.values())


class _Maker:
    """Makes up what a run stores."""

    def __init__(self, made: Made) -> None:
        self.made, self.rng = made, random.Random(made.seed)
        chance = random.Random(f"beds {made.seed}")
        self.bed_factors = [chance.lognormvariate(0, made.bed_noise) for _ in range(made.beds)]
        self.links = [LinkCase(label(settings), Link.parse(settings)) for settings in made.links]
        arms = [Arm.parse(name, settings) for name, settings in made.arms.items()]
        places = [(site, link, arm) for site in made.sites for link in self.links for arm in arms]
        self.cells = [cell_of(number, *place) for number, place in enumerate(places, 1)]
        self.trial = 0

    def content(self) -> RunContent:
        made = self.made
        return RunContent(
            text=made.text, meta=self.meta(), cells=self.cells, files=FILES,
            provenance={**PROVENANCE, **self.workers(), **made.provenance},
            trials=list(self.trials()), self_tests=list(self.self_tests()),
            machines=[machine.facts() for machine in made.machines], beds=list(self.beds()),
            versions={machine.digest: machine.versions for machine in made.machines},
        )  # fmt: skip

    def self_tests(self) -> Iterator[SelfTestCopy]:
        for number, settings in enumerate(self.made.links, 1):
            data = cast(StoredSelfTest, self_test(settings))
            yield SelfTestCopy(1, label(settings), "before", stamp(number), passed=True, data=data)

    def beds(self) -> Iterator[BedFacts]:
        for bed in range(1, self.made.beds + 1):
            if own := self.machine(bed):
                uid = f"{self.made.id} bed {bed}".strip()
                yield BedFacts(uid, own.name, "0-1", stamp(0), "namespace", HOST.kernel, 2.0)

    def workers(self) -> dict[str, Any]:
        """What the session notes of them."""
        workers = {
            f"{machine.name} 1": {
                "machine": machine.name, "processors": "0-1", "versions": dict(machine.versions),
                "refused_links": [{"label": label, "why": "too noisy"} for label in machine.refused],
            }
            for machine in self.made.machines
        }  # fmt: skip
        return {"workers": workers} if workers else {}

    def machine(self, bed: int) -> MadeMachine | None:
        """That of a bed."""
        return self.made.machines[(bed - 1) % len(self.made.machines)] if self.made.machines else None

    def bed(self, cell: int, number: int) -> int:
        """The bed of a round, in this cell. One machine has its beds one after the other, several have them at once."""
        if known := self.made.trials_on.get((cell, number)):
            return known
        if self.made.machines:
            return (number - 1) % self.made.beds + 1
        return (number - 1) * self.made.beds // self.made.rounds + 1

    def meta(self) -> dict[str, str]:
        made = self.made
        about = {name: each.to_json() for name, each in made.about.items()}
        return {
            "workload": "page_load", "name": made.name, "description": made.description,
            "seed": "7", "state": made.state,
            "figures": json.dumps([kept_figure(figure) for figure in made.figures]),
            "plan": json.dumps(self.plan()), "experiment_sha256": hashlib.sha256(made.text.encode()).hexdigest(),
            run_format.ID: made.id or hashlib.sha256(f"{made.name} {made.text}".encode()).hexdigest()[:16],
            **({run_format.ABOUT_SITES: json.dumps(about)} if about else {}),
            run_format.VARIANT: made.variant,
            run_format.CLAIMS: json.dumps([claim.to_json() for claim in made.claims]),
            run_format.CLAIMS_DIGEST: digest_of(made.claims),
        }  # fmt: skip

    def plan(self) -> dict[str, Any]:
        made, arms = self.made, len(self.made.arms)
        groups = range(0, len(made.sites) * len(made.links) * arms, arms)
        pairs = [[f"{group + 1:016x}", f"{group + 1 + arm:016x}"] for group in groups for arm in range(1, arms)]
        return {
            "order": made.order, "looks": made.looks or [[max(1, made.rounds), 0.05]], "timeout_s": 60,
            **({"repeat": made.repeat} if made.repeat else {}),
            "compared": pairs if made.compared is None else made.compared, "not_compared": list(made.not_compared),
        }  # fmt: skip

    def trials(self) -> Iterator[TrialCopy]:
        for number in range(1, self.made.rounds + 1):
            for position, cell in enumerate(self.cells, 1):
                for attempt in range(1, self.made.retries + 2):
                    self.trial += 1
                    failed = self.made.fails(self.trial, attempt)
                    yield self.one_trial(position, cell, number, attempt, failed=failed)
                    if not failed:
                        break

    def one_trial(self, position: int, cell: Cell, number: int, attempt: int, *, failed: bool) -> TrialCopy:
        made = self.made
        bed = self.bed(position, number)
        machine = self.machine(bed)
        page_bytes = PAGE_BYTES * (1 + 0.4 * made.sites.index(cell.site))
        load = MadeLoad(cell.link.link, cell.arm.name, page_bytes, self.factor(bed, cell.arm.name))
        sound = record_of(load, stamp(2 + self.trial * 2), self.rng, with_requests=made.with_requests)
        failure = Failure(Reason(made.reason), made.detail)
        record = replace(
            sound,
            measures={**sound.measures, **made.machine},
            failures=(failure,) if failed else (),
            flags=tuple(Flag(FlagName(name), detail) for name, detail in made.flags.get(self.trial, ())),
        )
        return TrialCopy(
            trial=self.trial, bed=bed, cell=cell.id, round=number, attempt=attempt,
            wall_s=record.measures["plt_ms"] / 1000 + 0.6, record=record, artifacts=artifacts_of(FILES),
            asked=made.asked(position), versions=machine.digest if machine else "",
            origin=made.origins.get(number, ""),
        )  # fmt: skip

    def factor(self, bed: int, arm: str) -> float:
        """How much longer than expected everything takes."""
        made, machine = self.made, self.machine(bed)
        drifted = 1 + made.drift * self.trial / max(1, made.rounds * len(self.cells))
        factor = drifted * made.pace * self.bed_factors[bed - 1]
        factor *= self.rng.lognormvariate(0, made.noise if machine is None or machine.noise is None else machine.noise)
        if machine:
            factor *= machine.pace * (machine.change if arm != next(iter(made.arms)) else 1.0)
        return factor
