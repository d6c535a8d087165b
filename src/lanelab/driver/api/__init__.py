"""lanelab for programs: what the command line does, without its words. docs/python.md describes it.

    import lanelab

    run = lanelab.run("experiments/quickstart.yaml", on_event=print)
    run.trials(), run.claims(), run.report()
    lanelab.open_run("latest")

A name is imported when it is first used, so that opening a run imports nothing that makes one.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for tools that read the code: the names and what they are
    from lanelab.driver.api import events
    from lanelab.driver.api.archived_site import Site, site, sites
    from lanelab.driver.api.beds import BedOptions
    from lanelab.driver.api.checks import Check
    from lanelab.driver.api.events_file import event_lines
    from lanelab.driver.api.experiment import Experiment, grid
    from lanelab.driver.api.list_runs import runs
    from lanelab.driver.api.merge_runs import merge
    from lanelab.driver.api.opened_run import Run, open_run
    from lanelab.driver.api.plans import Plan, plan
    from lanelab.driver.api.result import Result
    from lanelab.driver.api.results import Agreement, Claims, Comparison, Explanation
    from lanelab.driver.api.run_experiment import resume, run
    from lanelab.driver.api.sample import sample_run
    from lanelab.driver.api.sweeps import SweepOptions
    from lanelab.driver.api.trial import Trial
    from lanelab.driver.api.verify_run import verify
    from lanelab.driver.base.errors import InputError, LanelabError
    from lanelab.driver.run.runner import StopRequest
    from lanelab.driver.run.sweep import events as sweep_events

_WHERE = {
    "Agreement": "lanelab.driver.api.results:Agreement",
    "BedOptions": "lanelab.driver.api.beds:BedOptions",
    "Check": "lanelab.driver.api.checks:Check",
    "Claims": "lanelab.driver.api.results:Claims",
    "Comparison": "lanelab.driver.api.results:Comparison",
    "Experiment": "lanelab.driver.api.experiment:Experiment",
    "Explanation": "lanelab.driver.api.results:Explanation",
    "InputError": "lanelab.driver.base.errors:InputError",
    "LanelabError": "lanelab.driver.base.errors:LanelabError",
    "Plan": "lanelab.driver.api.plans:Plan",
    "Result": "lanelab.driver.api.result:Result",
    "Run": "lanelab.driver.api.opened_run:Run",
    "Site": "lanelab.driver.api.archived_site:Site",
    "StopRequest": "lanelab.driver.run.runner:StopRequest",
    "SweepOptions": "lanelab.driver.api.sweeps:SweepOptions",
    "Trial": "lanelab.driver.api.trial:Trial",
    "event_lines": "lanelab.driver.api.events_file:event_lines",
    "events": "lanelab.driver.api.events",
    "grid": "lanelab.driver.api.experiment:grid",
    "merge": "lanelab.driver.api.merge_runs:merge",
    "open_run": "lanelab.driver.api.opened_run:open_run",
    "plan": "lanelab.driver.api.plans:plan",
    "resume": "lanelab.driver.api.run_experiment:resume",
    "run": "lanelab.driver.api.run_experiment:run",
    "runs": "lanelab.driver.api.list_runs:runs",
    "sample_run": "lanelab.driver.api.sample:sample_run",
    "site": "lanelab.driver.api.archived_site:site",
    "sites": "lanelab.driver.api.archived_site:sites",
    "sweep_events": "lanelab.driver.run.sweep.events",
    "verify": "lanelab.driver.api.verify_run:verify",
}

__all__ = [
    "Agreement",
    "BedOptions",
    "Check",
    "Claims",
    "Comparison",
    "Experiment",
    "Explanation",
    "InputError",
    "LanelabError",
    "Plan",
    "Result",
    "Run",
    "Site",
    "StopRequest",
    "SweepOptions",
    "Trial",
    "event_lines",
    "events",
    "grid",
    "merge",
    "open_run",
    "plan",
    "resume",
    "run",
    "runs",
    "sample_run",
    "site",
    "sites",
    "sweep_events",
    "verify",
]


if not TYPE_CHECKING:  # a misspelt name is an error there

    def __getattr__(name: str) -> object:
        if name not in _WHERE:
            raise AttributeError(f"lanelab has no {name!r}. It has: {', '.join(_WHERE)}")
        module, _, attribute = _WHERE[name].partition(":")
        imported = importlib.import_module(module)
        return getattr(imported, attribute) if attribute else imported


def __dir__() -> list[str]:
    return sorted(_WHERE)
