"""Arms that lanelab's own experiments use, by name: for who wants to choose one and not to write it."""

from collections.abc import Mapping
from functools import cache

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.experiment.shipped import EXPERIMENTS, SUFFIX, shipped_names
from lanelab.driver.record.metrics import PAGE_LOAD

FIRST = "quickstart"
TIMEOUT = Duration.parse("60s")


@cache
def arm_presets() -> Mapping[str, Mapping[str, Arm]]:
    """Return experiment -> name -> arm, of the experiments that load pages. The simplest is first. What two of them
    have alike is there once, by its first name."""
    names = [name for name in shipped_names() if "/" not in name]  # those of labs and studies are their own
    names.sort(key=lambda name: (name != FIRST, name))
    presets: dict[str, dict[str, Arm]] = {}
    known = set[str]()
    for name in names:
        experiment = read_experiment(EXPERIMENTS / f"{name}{SUFFIX}")
        if (
            experiment.workload != PAGE_LOAD or experiment.timeout != TIMEOUT
        ):  # which they need: they do not stand alone
            continue
        new = {arm.name: arm for arm in experiment.arms if str(arm.settings()) not in known}
        known |= {str(arm.settings()) for arm in new.values()}
        if new:
            presets[name] = new
    return presets
