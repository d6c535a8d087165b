"""Trials one by one on a bed of the test's own: what a run does for each, with a moment before the load in which the
test may spoil something."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.link import Link
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.site.load import load_site, site_names
from lanelab.driver.site.prepare import prepare
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.finish import finish
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import TrialContext
from tests.kit.handles import OpenBed

EXPERIMENT = "sites: [dummy]\nlinks: {rtt: 40ms}\narms: {one: {}, two: {protocol: spdy/3.1}}\ntrials: 1\n"
BOTH_ENDS = f"{EXPERIMENT}capture: [client, server]\n"
TIMEOUT_S = 20


@dataclass(frozen=True)
class Wanted:
    """What a trial is asked to be, or is made with."""

    arm: Mapping[str, Any]
    link: Mapping[str, str]
    without: str = ""  # an object that the site does not have
    name: str = "dummy"  # of the site
    both_ends: bool = False  # are captured

    def made(self) -> Arm:
        return Arm.parse("arm", self.arm)

    def site(self) -> Site:
        site = prepare(load_site(self.name), self.made().variant)
        kept = [each for each in site.objects if not self.without or self.without not in each.url]
        return replace(site, objects=tuple(kept))


class Bench:
    """A bed that makes trials."""

    def __init__(self, bed: Bed, folder: Path) -> None:
        self.open, self._bed, self._folder = OpenBed(bed), bed, folder
        self._experiments = [parse_experiment(text, "bench", site_names()) for text in (EXPERIMENT, BOTH_ENDS)]
        self._built = Programs.built(self._experiments[0]).paths
        self._count = 0

    def trial(
        self, asked: Wanted, made: Wanted | None = None, spoil: "Callable[[Bench], None]" = lambda _bench: None
    ) -> TrialRecord:
        """One that is made as `made` says and judged by `asked`; `spoil` is called when all is ready for the load."""
        made = made or asked
        self._count += 1
        folder = self._folder / f"{self._count:06d}"
        folder.mkdir(parents=True)
        site, arm = made.site(), made.made()
        experiment = self._experiments[asked.both_ends]
        self._bed.end_trial()
        self._bed.set_link(Link.parse(made.link))
        spec = TrialSpec(
            site=site,
            arm=arm.on(site),
            timeout_s=TIMEOUT_S,
            recorders=experiment.recorders,
            folder=folder,
            authority=self._folder / "authority",
            built=self._built,
        )
        self._bed.prepare_trial(spec)
        spoil(self)
        data = self._bed.run_trial(TIMEOUT_S)
        wanted_site = asked.site()
        context = TrialContext(asked.made().on(wanted_site), wanted_site, Link.parse(asked.link), experiment, folder)
        return finish(data, context)

    @property
    def bed_name(self) -> str:
        return self._bed.folder.name

    def run(self, node: str, text: str) -> str:
        """A shell command on a node, to its end."""
        done = self.open.run(node, "sh", "-c", text)
        assert done.status == 0, (text, done.stderr)
        return done.stdout

    def start(self, node: str, text: str) -> None:
        """A shell command on a node that goes on beside the load, and ends by itself."""
        self._bed.exec(node, Command(["sh", "-c", text]), Stdio())
