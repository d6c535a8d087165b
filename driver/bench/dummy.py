"""The dummy page as benchmarks that need no run folder load it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from driver.experiment.arm import Arm
from driver.run.built_programs import of_servers
from driver.workloads.spec import TrialSpec
from sites.load import load_site


def dummy_trial(scratch: Path, arm: Arm, built: Mapping[str, Path] | None = None) -> TrialSpec:
    """A trial whose files and keys go below `scratch`."""
    return TrialSpec(
        site=load_site("dummy"),
        arm=arm,
        timeout_s=60,
        recorders={},
        folder=scratch / "trial",
        authority=scratch / "authority",
        built={**of_servers([arm]), **(built or {})},
    )
