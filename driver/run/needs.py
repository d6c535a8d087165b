"""The programs that an experiment needs on the machines that it runs on."""

from __future__ import annotations

from driver.experiment.model import Experiment
from driver.host.needs import PAGE_LOAD, SERVER_LOAD, Program, programs


def needs_of(experiment: Experiment) -> frozenset[Program]:
    """Everything that its beds, browsers and servers call. The gateway is not among it: lanelab builds that itself."""
    if experiment.load:
        module = any(arm.spdy for arm in experiment.arms)
        return frozenset(programs(*(purpose for purpose in SERVER_LOAD if module or purpose != "module")))
    purposes = set(PAGE_LOAD)
    for cell in experiment.cells:
        if cell.arm.display == "headful":
            purposes.add("screen")
        if cell.arm.dns == "resolver":
            purposes.add("resolver")
        if cell.arm.spdy:
            purposes.add("module")
    return frozenset(programs(*purposes))
