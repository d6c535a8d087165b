"""lanelab for programs: what the command line does, without its words. docs/reference/api.md describes it.

    from lanelab.driver import api

    run = api.run("experiments/quickstart.yaml", on_event=print)
    run.trials, run.claims(), run.report()
    api.open_run("latest")

A name is imported when it is first used, so that opening a run imports nothing that makes one.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for tools that read the code: the names and what they are
    from lanelab.driver.api.beds import BedOptions
    from lanelab.driver.api.plans import Plan, plan
    from lanelab.driver.api.results import OpenRun, open_run
    from lanelab.driver.api.run_experiment import resume, run
    from lanelab.driver.api.sweeps import SweepOptions
    from lanelab.driver.run import events
    from lanelab.driver.run.runner import StopRequest
    from lanelab.driver.run.sweep import events as sweep_events

_WHERE = {
    "run": "lanelab.driver.api.run_experiment:run",
    "plan": "lanelab.driver.api.plans:plan",
    "Plan": "lanelab.driver.api.plans:Plan",
    "resume": "lanelab.driver.api.run_experiment:resume",
    "open_run": "lanelab.driver.api.results:open_run",
    "OpenRun": "lanelab.driver.api.results:OpenRun",
    "BedOptions": "lanelab.driver.api.beds:BedOptions",
    "SweepOptions": "lanelab.driver.api.sweeps:SweepOptions",
    "StopRequest": "lanelab.driver.run.runner:StopRequest",
    "events": "lanelab.driver.run.events",
    "sweep_events": "lanelab.driver.run.sweep.events",
}

__all__ = [
    "BedOptions",
    "OpenRun",
    "Plan",
    "StopRequest",
    "SweepOptions",
    "events",
    "open_run",
    "plan",
    "resume",
    "run",
    "sweep_events",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - functions and classes
    if name not in _WHERE:
        raise AttributeError(f"lanelab has no {name!r}. It has: {', '.join(_WHERE)}")
    module, _, attribute = _WHERE[name].partition(":")
    imported = importlib.import_module(module)
    return getattr(imported, attribute) if attribute else imported


def __dir__() -> list[str]:
    return sorted(_WHERE)
