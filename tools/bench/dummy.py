"""The dummy page as benchmarks that need no run folder load it."""

from collections.abc import Mapping
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.run.built_programs import of_servers
from lanelab.driver.site.load import load_site
from lanelab.driver.trial.spec import TrialSpec


def dummy_trial(scratch: Path, arm: Arm, built: Mapping[str, Path] | None = None) -> TrialSpec:
    """Return a trial whose files and keys go below `scratch`."""
    return TrialSpec(
        site=load_site("dummy"),
        arm=arm,
        timeout_s=60,
        recorders={},
        folder=scratch / "trial",
        authority=scratch / "authority",
        built={**of_servers([arm]), **(built or {})},
    )
