"""lanelab's own programs that an experiment needs: built before any bed is made, and listed in the provenance."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from driver.experiment.arm import Arm
from driver.experiment.model import Experiment
from driver.host.build.apache_module import MODULES, module
from driver.host.build.back_ends import BACK_ENDS, back_end
from driver.host.build.gateway import gateway_program
from driver.host.build.load_generator import PROGRAM, load_generator
from driver.proxies.registry import proxy_of
from driver.servers.registry import SERVERS
from driver.workloads.load.registry import GENERATORS
from model.load import SPDY_LOAD

KEY = re.compile(r"[0-9a-f]{16}")  # in the name of a folder: driver/host/build/once.py

# What builds the programs that servers and proxies name.
OF_SERVERS: Mapping[str, Callable[[], Path]] = {
    "gateway": gateway_program,
    **{name: partial(module, name) for name in MODULES},
    **{name: partial(back_end, name) for name in BACK_ENDS},
}


# What builds the load generators that are lanelab's own.
LOAD_GENERATORS: Mapping[str, Callable[[], Path]] = {
    SPDY_LOAD: partial(gateway_program, SPDY_LOAD),
    PROGRAM: load_generator,
}


@dataclass(frozen=True, slots=True)
class Programs:
    """Where they are on this machine, by name; those that the experiment does not need are not there."""

    paths: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def built(cls, experiment: Experiment) -> Programs:
        """Build what this experiment needs, where it was not built before. That takes a while, and says so."""
        arms = experiment.arms
        paths: dict[str, Path] = {}
        loads = {cell.link.load.generator for cell in experiment.cells if cell.link.load}
        if loads:
            ours = (GENERATORS[name].program for name in sorted(loads) if GENERATORS[name].built)
            paths |= {program: built(program) for program in ours}
        elif any(arm.via == "gateway" for arm in arms):
            paths["gateway"] = gateway_program()
        return cls({**paths, **of_servers(arms)})

    def facts(self) -> dict[str, Any]:
        """Digests, which tell one build from another."""
        return {name: {"sha256": _digest(path)} for name, path in self.paths.items()}

    def digests(self) -> dict[str, str]:
        """What each is built from: the same on every machine that builds it of the same. Where its place does not say,
        its content."""
        return {name: _built_from(path) or _digest(path) for name, path in self.paths.items()}


def _built_from(path: Path) -> str:
    return next((part for part in reversed(path.parts) if KEY.fullmatch(part)), "")


def built(name: str) -> Path:
    """A load generator of lanelab's."""
    return LOAD_GENERATORS[name]()


def of_servers(arms: Collection[Arm]) -> dict[str, Path]:
    """What the servers of these arms want built, and their proxies."""
    proxies = [proxy for arm in arms if (proxy := proxy_of(arm))]
    names = {name for proxy in proxies for name in proxy.builds} | {
        name for arm in arms for name in SERVERS[arm.server].builds(arm.back_end())
    }
    return {name: OF_SERVERS[name]() for name in sorted(names)}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
