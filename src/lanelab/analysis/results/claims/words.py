"""Claims and their verdicts as people read them: effects with their intervals, what was published, counts."""

import math
from collections.abc import Callable, Sequence

from lanelab.analysis.results.claims.verdict import Effect, Interval, Judged, JudgedPlace, Verdict
from lanelab.analysis.results.layout.model import Mood
from lanelab.analysis.results.numbers import NO_END, NONE, listed
from lanelab.analysis.statistics import one_bed
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.claim import NOT, Claim, directions_of
from lanelab.driver.record.load_places import metric_of_claim

LARGE = 1000
MOST_LEFT_OUT = 6  # claims whose rounds without a number are told
MOODS: dict[Verdict, Mood] = {
    Verdict.REPRODUCED: "good",
    Verdict.DIRECTION_ONLY: "warn",
    Verdict.NOT_REPRODUCED: "bad",
    Verdict.INCONCLUSIVE: "muted",
    Verdict.NOT_TESTED: "muted",
}
MEAN = "Effects over {unit}s are the mean of one number for each {unit} (as logarithms)."
BY_RANKS = "Effects by ranks of {unit}s are the middle of one number for each {unit} (pseudo-median)."
QUANTIFIERS = {"one": "", "every": "in every one of {n} places", "any": "in any of {n} places"}


def effect_words(claim: Claim, value: float) -> str:
    """Return an effect in the claim's own terms: -39%, x 1.20 over a trend, 24."""
    if math.isinf(value):
        return NO_END
    if claim.kind == "straightness":
        return f"R\N{SUPERSCRIPT TWO} {value:.3f}"
    if claim.kind == "slope" and claim.is_absolute:
        return f"{_digits(value)} round trips"
    if claim.is_absolute:
        metric = metric_of_claim(claim.metric)
        return f"{value:,.6g}" if metric is None else f"{_digits(value / metric.scale)} {metric.unit}".rstrip()
    changed = 100 * (value - 1)
    return f"{changed:+.0f}%" if abs(changed) >= 100 else f"{changed:+.1f}%"


def _digits(value: float) -> str:
    """Three that count, or all before the point: a published 39.9 is no 40."""
    return f"{value:,.0f}" if abs(value) >= LARGE - 0.5 else f"{value:.3g}"


def interval_words(claim: Claim, interval: Interval | None) -> str:
    if interval is None:
        return NONE
    return f"{effect_words(claim, interval.low)} to {effect_words(claim, interval.high)}"


def published_words(claim: Claim) -> str:
    """Return what was published, with the margin around it."""
    if claim.equivalent and claim.high is not None:
        return f"no effect, within {100 * (claim.high - 1):.3g}%"
    if claim.published:
        ends = " to ".join(effect_words(claim, value) for value in claim.published)
        return f"{ends}, margin {claim.margin or '0'}"
    words, least = directions_of(claim.kind), f"{100 * claim.at_least:.3g}%"
    if not claim.side:
        return f"{NOT}{words[claim.low is None]}, or by less than {least}"
    return f"{words[claim.side > 0]}, by at least {least}"


def places_words(claim: Claim) -> str:
    """Return where it has to hold."""
    number = len(claim.places)
    if number == 1:
        return claim.places[0].words
    if claim.quantifier == "all but":
        return f"in all but {claim.exceptions} of {number} places"
    return QUANTIFIERS[claim.quantifier].format(n=number) or f"{number} places"


def mean_words(claim: Claim) -> str:
    """Say over which places a mean is, by where each begins and ends; "" of a claim about no mean."""
    if claim.quantifier != "mean":
        return ""
    joint = " against " if claim.kind == "contrast" else " to "
    places = [share for place in claim.places for share in claim.shares_of(place)]
    names = [joint.join(dict.fromkeys((points[0].words, points[-1].words))) for points in places]
    return f"The mean is over {'; '.join(names)}."


def measured_words(judged: Judged) -> str:
    """Return the effect of the only place, or the least and the greatest of several."""
    values = [place.effect.value for place in judged.places if place.effect]
    if not values:
        return NONE
    low, high = (effect_words(judged.claim, value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def verdict_words(verdict: Verdict, detail: str) -> str:
    joint = " " if detail.startswith("in ") else ": "
    return f"{verdict}{joint}{detail}" if detail else str(verdict)


def base_words(effect: Effect) -> str:
    """Return what the interval of an effect is across, and what it leaves out."""
    if effect.between_beds:
        return f"{effect.beds} {effect.unit}s"
    if effect.interval_95 is None:
        return "this run alone"
    return f"this run alone; {one_bed.words(effect.n, effect.beds)}"


def estimate_words(judged: Sequence[Judged]) -> str:
    """Which estimates a table of claims has: the same arms may have another one elsewhere on the page."""
    effects = [effect for each in judged for effect in effects_of(each.places) if effect.interval_95]
    alone = [effect for effect in effects if not effect.between_beds]
    over = dict.fromkeys((effect.unit, effect.by_ranks) for effect in effects if effect.between_beds)
    words = [(BY_RANKS if by_ranks else MEAN).format(unit=unit) for unit, by_ranks in over]
    if alone:
        least = min(alone, key=lambda effect: one_bed.too_narrow(effect.n, effect.beds))
        words.append(
            "Effects of this run alone are the middle of its rounds (pseudo-median). Of an interval of this run alone: "
            f"{one_bed.words(least.n, least.beds)} ({counted(least.n, 'round')})."
        )
    return " ".join(words)


def left_out_words(judged: Sequence[Judged]) -> str:
    """Say how many rounds give no number, and in how many a load broke; "" where all give one, and none did."""
    words = []
    if rounds := _most_of(judged, lambda place: place.left_out):
        words.append(
            f"Rounds that were made and give no number, and so are left out: {rounds}. Where slow trials are those "
            "that fail, what is left looks faster than it is."
        )
    if rounds := _most_of(judged, lambda place: place.broken):
        words.append(
            f"Rounds in which loads broke and were tried again: {rounds}. A verdict on the run's main metric has to "
            "hold without these loads, and with them as slower than all others; other metrics are of the loads that "
            "did not break."
        )
    return " ".join(words)


def _most_of(judged: Sequence[Judged], of: Callable[[JudgedPlace], int]) -> str:
    """Return how many rounds of how many, of each claim in the place that has most of them; "" where none has any."""
    worst = [(one.claim.name, max(one.places, key=of)) for one in judged if one.places]
    texts = [f"{rounds} of {name}" for name, place in worst if (rounds := rounds_words(place, of(place)))]
    more = len(texts) - MOST_LEFT_OUT
    return listed([*texts[:MOST_LEFT_OUT], *([counted(more, "more claim")] if more > 0 else [])])


def rounds_words(place: JudgedPlace, rounds: int) -> str:
    """Return so many rounds of how many: 14 of 20; "" where there are none."""
    return f"{rounds} of {place.left_out + place.effect.n}" if rounds and place.effect else ""


def n_words(effects: Sequence[Effect]) -> str:
    """Say how many observations there are, from how many beds."""
    if not effects:
        return NONE
    counts = sorted({effect.n for effect in effects})
    words = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    beds = max(effect.beds for effect in effects)
    unit = next(effect.unit for effect in effects if effect.beds == beds)
    return f"{words} from {beds} {unit}s" if beds > 1 else words


def effects_of(places: Sequence[JudgedPlace]) -> list[Effect]:
    return [place.effect for place in places if place.effect]


def counts_words(verdicts: Sequence[Verdict], say: Callable[[str], str] = str) -> str:
    """Return how many there are of each: 9 reproduced, 4 direction only. `say`: a verdict in another language."""
    counts = [(verdict, verdicts.count(verdict)) for verdict in Verdict]
    return ", ".join(f"{number} {say(verdict)}" for verdict, number in counts if number)


def numbers_words(numbers: Sequence[int]) -> str:
    """Return numbers of trials, stretches of them as one: 1, 4 to 9."""
    stretches: list[list[int]] = []
    for number in sorted(set(numbers)):
        if stretches and number == stretches[-1][-1] + 1:
            stretches[-1].append(number)
        else:
            stretches.append([number])
    return ", ".join(str(s[0]) if len(s) == 1 else f"{s[0]} to {s[-1]}" for s in stretches)
