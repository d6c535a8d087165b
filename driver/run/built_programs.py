"""lanelab's own programs that an experiment needs: built before any bed is made, and listed in the provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driver.experiment.arm import Arm
from driver.host.build.gateway import gateway_program
from driver.host.build.mod_spdy import module


@dataclass(frozen=True, slots=True)
class Programs:
    """Where they are on this machine, by name; those that no arm needs are not there."""

    paths: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def built(cls, arms: Iterable[Arm]) -> Programs:
        """Build what these arms need, where it was not built before. That takes a while, and says so."""
        listed = list(arms)
        paths = {}
        if any(arm.via == "gateway" for arm in listed):
            paths["gateway"] = gateway_program()
        if any(arm.spdy for arm in listed):
            paths["mod_spdy"] = module()
        return cls(paths)

    def facts(self) -> dict[str, Any]:
        """Digests, which tell one build from another."""
        return {name: {"sha256": _digest(path)} for name, path in self.paths.items()}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
