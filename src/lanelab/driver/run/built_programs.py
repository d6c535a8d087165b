"""lanelab's own programs that an experiment needs: built before any bed is made, and listed in the provenance."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway.fetcher import PROGRAM as FETCHER
from lanelab.driver.arm.proxies.registry import proxy_of
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.programs.building import apache_module, back_ends, gateway, go, load_generator
from lanelab.driver.base.programs.building.apache_module import MODULES, module
from lanelab.driver.base.programs.building.back_ends import BACK_ENDS, back_end
from lanelab.driver.base.programs.building.gateway import gateway_program
from lanelab.driver.base.programs.building.load_generator import PROGRAM
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.run.folder.digests import file_digest
from lanelab.driver.trial.server_load.generators.spdy_load import NAME as SPDY_LOAD
from lanelab.driver.trial.server_load.registry import GENERATORS

KEY = re.compile(r"[0-9a-f]{16}")  # in the name of a folder: driver/base/programs/building/single_build.py

# What builds each of them, by the name that servers, proxies and load generators have for it.
BUILT_BY: Mapping[str, Callable[[], Path]] = {
    "gateway": gateway_program,
    **{name: partial(module, name) for name in MODULES},
    **{name: partial(back_end, name) for name in BACK_ENDS},
    SPDY_LOAD: partial(gateway_program, SPDY_LOAD),
    FETCHER: partial(gateway_program, FETCHER),
    PROGRAM: load_generator.load_generator,
}
OF_GO = ("gateway", SPDY_LOAD, FETCHER, PROGRAM)


@dataclass(frozen=True, slots=True)
class Programs:
    """Where they are on this machine, by name; those that the experiment does not need are not there."""

    paths: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def built(cls, experiment: Experiment) -> "Programs":
        """Build what this experiment needs, where it was not built before. That takes a while, and says so."""
        return cls({name: BUILT_BY[name]() for name in _needed(experiment)})

    def facts(self) -> dict[str, dict[str, str]]:
        """Return digests, which tell one build from another."""
        return {name: {"sha256": file_digest(path)} for name, path in self.paths.items()}

    def digests(self) -> dict[str, str]:
        """Return what each is built from: the same on every machine that builds it of the same. Where its place does
        not say, its content."""
        return {name: _built_from(path) or file_digest(path) for name, path in self.paths.items()}


def _built_from(path: Path) -> str:
    return next((part for part in reversed(path.parts) if KEY.fullmatch(part)), "")


def of_servers(arms: Collection[Arm]) -> dict[str, Path]:
    """Return what the servers of these arms want built, and their proxies."""
    return {name: BUILT_BY[name]() for name in _names_of_servers(arms)}


def _needed(experiment: Experiment) -> list[str]:
    """Return the names of all programs of lanelab's own that this experiment needs."""
    through = ["gateway"] if _goes_through_gateway(experiment) else []
    fetching = [FETCHER] if experiment.fetches else []
    return list(dict.fromkeys([*_generators(experiment), *fetching, *through, *_names_of_servers(experiment.arms)]))


def _names_of_servers(arms: Collection[Arm]) -> list[str]:
    proxies = [proxy for arm in arms if (proxy := proxy_of(arm))]
    names = {name for proxy in proxies for name in proxy.builds}
    served = [each for arm in arms for each in arm.by_server]
    return sorted(names | {name for arm in served for name in SERVERS[arm.server].builds(arm.back_end())})


def _generators(experiment: Experiment) -> list[str]:
    """Load generators of lanelab's own."""
    loads = {cell.link.load.generator for cell in experiment.cells if cell.link.load}
    return [GENERATORS[name].program for name in sorted(loads) if GENERATORS[name].built]


def _goes_through_gateway(experiment: Experiment) -> bool:
    """In a load and in a fetch no gateway takes part: generator and fetcher speak every protocol themselves."""
    alone = any(cell.link.load or cell.fetch for cell in experiment.cells)
    return not alone and any(arm.via == "gateway" for arm in experiment.arms)


@dataclass(frozen=True, slots=True)
class FirstBuild:
    """The programs that are built before the first trial, because they are not there yet: once on each machine."""

    programs: tuple[str, ...] = ()
    seconds: int = 0


def still_to_build(experiments: Iterable[Experiment]) -> FirstBuild:
    """Return the first build for all these together. Builds nothing."""
    names = {name for experiment in experiments for name in _needed(experiment)}
    lacking = {name: seconds for name in sorted(names) if (seconds := _seconds_to_build(name))}
    if go.toolchain_here() is None and any(name in OF_GO for name in lacking):
        lacking = {"Go": go.INSTALLING_S, **lacking}
    return FirstBuild(tuple(lacking), sum(lacking.values()))


def _seconds_to_build(name: str) -> int:
    """0: it is there."""
    if name in MODULES:
        return 0 if apache_module.is_built(name) else apache_module.BUILDING_S
    if name in BACK_ENDS:
        return 0 if back_ends.is_built(name) else back_ends.BUILDING_S
    if name == PROGRAM:
        return 0 if load_generator.is_built() else load_generator.BUILDING_S
    program = gateway.PROGRAM if name == "gateway" else name
    return 0 if gateway.is_built(program) else gateway.BUILDING_S


def is_built(name: str) -> bool:
    return _seconds_to_build(name) == 0
