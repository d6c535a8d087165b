"""Whether runs are of equal experiments, so that their trials may be in one run."""

import json
from collections.abc import Sequence

from lanelab.driver.base.errors import InputError
from lanelab.driver.run.folder.sources import SourceRun

# What of a plan results are judged by, and what to call it.
OF_PLAN = {"order": "order", "timeout_s": "timeout", "not_compared": "what is not compared"}
OF_META = {"workload": "workload", "variant": "variant", "scale": "scale"}
SHOWN = 3


def require_equal(sources: Sequence[SourceRun]) -> None:
    """Raises InputError for runs that cannot be one."""
    if len(sources) < 2:
        raise InputError("one run is no merge", "Name two runs or more")
    _require_different(sources)
    for source in sources:
        if not source.is_of_fixed_number:
            what = f"{source.folder} has until: it chose when to stop, and looks of several runs cannot be joined"
            raise InputError(what, "Leave it out; to have more of its trials, run it again with trials: N")
    for other in sources[1:]:
        _require_equal(sources[0], other)


def _require_different(sources: Sequence[SourceRun]) -> None:
    known: dict[str, SourceRun] = {}
    for source in sources:
        if source.id in known:
            what = f"{known[source.id].folder} and {source.folder} are the same run"
            raise InputError(what, "Name each run once")
        known[source.id] = source


def _require_equal(first: SourceRun, other: SourceRun) -> None:
    both = f"{first.folder} and {other.folder} are not of equal experiments"
    mine, theirs = first.cells(), other.cells()
    for here, cells, rest in ((first, mine, theirs), (other, theirs, mine)):
        only = [" · ".join(cells[cell]) for cell in cells if cell not in rest]
        if only:
            raise InputError(f"{both}: only {here.folder} has {_some(only)}", "Merge runs of the same cells")
    settings = [what for key, what in OF_META.items() if first.meta.get(key, "") != other.meta.get(key, "")]
    settings += [what for key, what in OF_PLAN.items() if first.plan.get(key) != other.plan.get(key)]
    if _pairs(first) != _pairs(other):
        settings.append("compare")
    if settings:
        raise InputError(f"{both}: they differ in {', '.join(settings)}", "Merge runs of the same settings")
    sites = _sites(first), _sites(other)
    differ = sorted(name for name in sites[0].keys() | sites[1].keys() if sites[0].get(name) != sites[1].get(name))
    if differ:
        raise InputError(f"{both}: what is served of {_some(differ)} differs", "Merge runs of the same sites")
    targets = first.trial_keys_by_cell(), other.trial_keys_by_cell()
    differ = [
        " · ".join(mine[cell]) for cell in mine if len(targets[0].get(cell, set()) | targets[1].get(cell, set())) > 1
    ]
    if differ:
        what = "recorders, tolerances, missing or accepted links"
        raise InputError(f"{both}: {_some(differ)} were asked for with other {what}", "Merge runs of the same settings")


def _pairs(source: SourceRun) -> set[tuple[str, ...]]:
    return {tuple(pair) for pair in source.plan.get("compared", ())}


def _sites(source: SourceRun) -> dict[str, str]:
    sites: dict[str, str] = json.loads(source.meta.get("sites") or "{}")
    return sites


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
