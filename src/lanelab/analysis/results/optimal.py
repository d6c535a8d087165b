"""The computed optimal load time: a round trip, the arm's bytes at the link's rate, and what browser and server take
alone, which is the load time over a link that adds nothing. Pure.

Netravali and others compare load times with it (Mahimahi, 2015). It is no bound: browsers compute while bytes pass.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from lanelab.analysis.results.axes import link_of
from lanelab.analysis.results.model import LinkCase, Run, Trial
from lanelab.analysis.results.refusals import WAYS, refusals
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration, Size
from lanelab.driver.link import Link
from lanelab.driver.record.metrics import OPTIMAL, PAGE_LOAD, TIMES_OPTIMAL

PLT, BYTES = "plt_ms", "bytes_down"
NO_DELAY = str(Duration(0))


def with_optimal(run: Run) -> Run:
    """Return the run with the optimum of each trial, and how many times the optimum it took, as measures. A link
    without another one that adds nothing, between hosts that are set alike, has none. Nor has a trial whose machine did
    not make the round's load over that one: machines differ in what browser and server take alone. Nor one whose load
    over that one is of a cell that is refused."""
    if run.workload != PAGE_LOAD or run.steps or not any(map(_may_add_nothing, run.links)):
        return run
    links = {each.number: link for each in run.links if (link := _read(each))}
    alone_of = _alone_of(links)
    alone = frozenset(alone_of.values())
    refused = _refused(run, alone)
    trials_alone: dict[tuple[int, str, int], dict[tuple[int, int], Trial]] = {}
    for trial in run.ok:
        if trial.cell.link.number in alone and trial.cell.number not in refused:
            trials_alone.setdefault((trial.cell.link.number, *_subject(trial)), {})[trial.round, trial.machine] = trial

    def with_optimum(trial: Trial) -> Trial:
        number = trial.cell.link.number
        if not trial.ok or number not in alone_of or PLT not in trial.measures:
            return trial
        other = trials_alone.get((alone_of[number], *_subject(trial)), {}).get((trial.round, trial.machine))
        optimum = _optimum_ms(links[number], other.measures) if other else None
        if optimum is None:
            return trial
        known = {OPTIMAL: optimum, TIMES_OPTIMAL: trial.measures[PLT] / optimum}
        return replace(trial, measures={**trial.measures, **known})

    return replace(run, trials=tuple(map(with_optimum, run.trials)))


def _refused(run: Run, alone: Collection[int]) -> frozenset[int]:
    """Return cells that are refused, where any of these links lost packets: most have not, and then all need not be
    counted."""
    trials = (trial for trial in run.trials if trial.cell.link.number in alone)
    lost = any(trial.measures.get(f"lost_packets_{way}") for trial in trials for way in WAYS)
    return frozenset(refusals(run)) if lost else frozenset()


def _subject(trial: Trial) -> tuple[str, int]:
    """Return what is loaded, and how: everything of a cell but its link."""
    return trial.cell.site, trial.cell.arm.number


def _alone_of(links: Mapping[int, Link]) -> dict[int, int]:
    """Return for each link that adds something the one that adds nothing, with hosts that are set alike, both by
    number: with other hosts a load would take another time without the link, too."""
    adding_nothing = {_hosts(link): number for number, link in reversed([*links.items()]) if link.adds_nothing}
    return {
        number: adding_nothing[hosts]
        for number, link in links.items()
        if not link.adds_nothing and (hosts := _hosts(link)) in adding_nothing
    }


def _hosts(link: Link) -> frozenset[tuple[str, str]]:
    return frozenset(link.beyond_router.items())


def _may_add_nothing(case: LinkCase) -> bool:
    """Say whether it is worth while to read the links of a run: there may be very many."""
    return case.settings.get("rtt", "") == NO_DELAY


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
