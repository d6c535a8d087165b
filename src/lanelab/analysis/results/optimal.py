"""The computed optimal load time: a round trip, the arm's bytes at the link's rate, and what browser and server take
alone, which is the load time over a link that adds nothing. Pure.

Netravali and others compare load times with it (Mahimahi, 2015). It is no bound: browsers compute while bytes pass.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from lanelab.analysis.results.axes import link_of
from lanelab.analysis.results.model import LinkCase, Run, Trial
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration, Size
from lanelab.driver.link import Link
from lanelab.driver.record.metrics import OPTIMAL, PAGE_LOAD, TIMES_OPTIMAL

PLT, BYTES = "plt_ms", "bytes_down"
NO_DELAY = str(Duration(0))


def with_optimal(run: Run) -> Run:
    """Return the run with the optimum of each trial, and how many times the optimum it took, as measures. A run without
    a link that adds nothing has none."""
    alone = _adding_nothing(run.links)
    if alone is None or run.workload != PAGE_LOAD or run.steps:
        return run
    links = {each.number: _read(each) for each in run.links if each is not alone}
    trials_alone: dict[tuple[str, int], dict[int, Trial]] = {}
    for trial in run.ok:
        if trial.cell.link.number == alone.number:
            trials_alone.setdefault(_subject(trial), {})[trial.round] = trial

    def with_optimum(trial: Trial) -> Trial:
        link = links.get(trial.cell.link.number)
        other = trials_alone.get(_subject(trial), {}).get(trial.round)
        optimum = _optimum_ms(link, other.measures) if link and other else None
        if not trial.ok or optimum is None or PLT not in trial.measures:
            return trial
        known = {OPTIMAL: optimum, TIMES_OPTIMAL: trial.measures[PLT] / optimum}
        return replace(trial, measures={**trial.measures, **known})

    return replace(run, trials=tuple(map(with_optimum, run.trials)))


def _subject(trial: Trial) -> tuple[str, int]:
    """Return what is loaded, and how: everything of a cell but its link."""
    return trial.cell.site, trial.cell.arm.number


def _adding_nothing(links: Iterable[LinkCase]) -> LinkCase | None:
    near = (each for each in links if each.settings.get("rtt", "") == NO_DELAY)  # few links are read
    return next((each for each in near if (link := _read(each)) and link.adds_nothing), None)


def _read(case: LinkCase) -> Link | None:
    try:
        return link_of(case.settings)
    except InputError:  # from a later lanelab
        return None


def _optimum_ms(link: Link, alone: Mapping[str, float]) -> float | None:
    """Return the optimum over this link. None where round trip or rate are not one number, or nobody counted bytes."""
    varies = link.moves or link.distances or link.cross or link.direct or link.down.jitter or link.up.jitter
    if varies or PLT not in alone or (link.down.rate and BYTES not in alone):
        return None
    size = Size(round(alone.get(BYTES, 0)))
    passing_ms = link.down.rate.time_for(size).milliseconds if link.down.rate else 0.0
    return link.rtt.milliseconds + passing_ms + alone[PLT]
