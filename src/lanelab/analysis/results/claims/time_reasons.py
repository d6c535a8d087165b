"""Where the time went that makes the effect of a claim: of the very trials that it was judged by. Pure.

The parts of a load time add up to it, and a claim is about a weighted sum of load times, so the same sum of each part
says what share of the effect is due to it. Of a trend that is by how much the difference grows from the first point to
the last, of a slope by how many round trips it grows with each, of a spike by how much it stands out, of a contrast by
how much more the one difference is than the other. An effect is a ratio, and these are milliseconds, in which slow
loads count more: over several places the two may go opposite ways.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from lanelab.analysis.results.claims.samples import weights_of
from lanelab.analysis.results.claims.verdict import JudgedPlace
from lanelab.analysis.results.explain.load_time_parts import LEAST_MS, LEAST_SHARE, PLT, took_ms, with_parts
from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.analysis.results.numbers import difference, seconds, shown
from lanelab.analysis.statistics.signed_rank import signed_rank
from lanelab.driver.experiment.claim import Claim, Place
from lanelab.driver.record.evidence.parts import Part
from lanelab.driver.record.metrics import metric_named

SHORT = {
    Part.DNS: "names", Part.CONNECT: "connecting", Part.TLS: "TLS", Part.WAIT: "waiting", Part.SLOW_START: "slow start",
    Part.REDUCED_WINDOW: "reduced window", Part.TRANSMISSION: "transmission", Part.RECOVERY: "recovery from loss",
    Part.MAIN_THREAD: "main thread", Part.IDLE: "nothing to fetch",
}  # fmt: skip
FACTS = {"requests": "requests", "connections_used": "connections used", "bytes": "kB both ways"}
LEAST_TRIPS = 0.1
OTHER_WAY = " (the ratio goes the other way: in milliseconds slow loads count more)"
COUNTED = (*FACTS, "bytes_down", "bytes_up", "connections", "retransmissions")
Rounds = Mapping[int, Mapping[str, Trial]]  # round -> id of a cell -> its trial


def why(run: Run, claim: Claim, places: Sequence[JudgedPlace]) -> str:
    """Return one sentence for a place, of the first and the last where there are several; "" where nothing is known."""
    of = None if claim.kind == "straightness" else {PLT: _parts, **dict.fromkeys(COUNTED, _facts)}.get(claim.metric)
    tested = [place for place in places if place.effect]
    if of is None or not tested:
        return ""
    shown = dict.fromkeys([tested[0].place, tested[-1].place])
    by_number = {trial.number: trial for trial in run.trials}
    words = []
    for place in tested:
        if place.place not in shown:
            continue
        rounds = _by_round(by_number[number] for number in place.trials)
        if reason := of(claim, place, rounds):
            words.append(f"{place.place.words}: {reason}" if len(places) > 1 else reason)
    return "; ".join(words)


def _by_round(trials: Iterable[Trial]) -> Rounds:
    rounds: dict[int, dict[str, Trial]] = {}
    for trial in trials:
        rounds.setdefault(trial.round, {})[trial.cell.id] = trial
    return rounds


# --- load times


def _parts(claim: Claim, judged: JudgedPlace, rounds: Rounds) -> str:
    """Write the parts, as in TLS +108 ms, waiting -111 ms."""
    place = judged.place
    wanted = len({cell for point in place.points for cell in (point.cell, point.base) if cell})
    known = [each for each in rounds.values() if len(with_parts(each.values())) == wanted]
    if not known:
        return ""

    def middle(part: Part | None) -> float:
        return signed_rank([[_sum(claim, place, trials, part) for trials in known]]).value

    total = middle(None)
    parts = {part: middle(part) for part in Part}
    load = statistics.median(trial.measures[PLT] for trials in known for trial in trials.values())
    is_slope = claim.kind == "slope"  # its parts are round trips
    least = LEAST_TRIPS if is_slope else max(LEAST_MS, LEAST_SHARE * load)
    large = sorted((part for part in Part if abs(parts[part]) >= least), key=lambda part: -abs(parts[part]))
    words = [f"{SHORT[part]} {_signed(claim, parts[part])}" for part in large]
    rest = total - sum(parts[part] for part in large)
    if words and abs(rest) >= least:
        words.append(f"all else {_signed(claim, rest)}")
    nothing = f"{least} round trips" if is_slope else seconds(least)
    text = ", ".join(words) or f"no part differs by {nothing}"
    left = f" (of the {len(known)} of {len(rounds)} rounds that have parts)" if len(known) < len(rounds) else ""
    other = OTHER_WAY if not is_slope and abs(total) >= least and _is_other_way(claim, judged, total) else ""
    return f"{text}; together {_signed(claim, total)}{' round trips' if is_slope else ''}{left}{other}"


def _is_other_way(claim: Claim, judged: JudgedPlace, total: float) -> bool:
    """Return whether the milliseconds grow where the ratio falls, or the other way round."""
    return not claim.is_absolute and judged.effect is not None and (judged.effect.value < 1) != (total < 0)


def _sum(claim: Claim, place: Place, trials: Mapping[str, Trial], part: Part | None) -> float:
    """Return the sum of a round, as the effect itself is made."""
    return math.fsum(
        weight * (took_ms(trials[point.cell], part) - (took_ms(trials[point.base], part) if point.base else 0.0))
        for weight, point in zip(weights_of(claim, place), place.points, strict=True)
    )


def _signed(claim: Claim, ms: float) -> str:
    """A difference has a sign; a value has none. Of a slope it is a number of round trips."""
    if claim.kind == "slope":
        return f"{ms:.1f}" if claim.is_absolute else f"{ms:+.1f}"
    return seconds(ms) if claim.is_absolute else f"{difference(ms)} ms"


# --- counts


def _facts(claim: Claim, judged: JudgedPlace, rounds: Rounds) -> str:
    """Return what is known of the trials of each cell."""
    place = judged.place
    cells = {name: trial.cell for trials in rounds.values() for name, trial in trials.items()}
    first, last = place.points[0], place.points[-1]
    ids = dict.fromkeys(cell for point in (first, last) for cell in (point.cell, point.base) if cell)
    return "; ".join(_of_cell(claim, cells[each], [trials[each] for trials in rounds.values()]) for each in ids)


def _of_cell(claim: Claim, cell: Cell, trials: Sequence[Trial]) -> str:
    words = []
    for name in dict.fromkeys([claim.metric, *FACTS]):
        metric = metric_named(name)
        values = [trial.measures[name] for trial in trials if name in trial.measures]
        if metric and len(values) == len(trials):
            value = shown(metric, statistics.median(values))
            plain = metric.words.replace("bytes", "kB", 1) if metric.unit == "kB" else metric.words
            one = (name, value) == ("connections_used", "1")
            words.append(f"{value} {'connection used' if one else FACTS.get(name, plain)}")
    return f"{cell.arm.name}, {cell.link.label}: {', '.join(words)}"
