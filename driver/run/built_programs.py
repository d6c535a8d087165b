"""lanelab's own programs that an experiment needs: built before any bed is made, and listed in the provenance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver.experiment.arm import Arm
from driver.host.build.gateway import gateway_program
from driver.host.build.mod_spdy import module


@dataclass(frozen=True, slots=True)
class Programs:
    """Where they are on this machine; None where no arm needs one."""

    gateway: Path | None = None
    spdy_module: Path | None = None

    @classmethod
    def built(cls, arms: Iterable[Arm]) -> Programs:
        """Those that these arms need. The first time takes a while, and says so."""
        listed = list(arms)
        return cls(
            gateway=gateway_program() if any(arm.via == "gateway" for arm in listed) else None,
            spdy_module=module() if any(arm.spdy for arm in listed) else None,
        )

    def facts(self) -> dict[str, Any]:
        """What tells one build from another."""
        programs = {"gateway": self.gateway, "mod_spdy": self.spdy_module}
        return {name: {"sha256": _digest(path)} for name, path in programs.items() if path}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
