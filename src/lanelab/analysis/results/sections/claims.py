"""Which claims a run or a study reproduces: the table of verdicts, the places behind each, and what they say."""

import math
from collections.abc import Sequence

from lanelab.analysis.results.claims.claim_family import together
from lanelab.analysis.results.claims.verdict import Effect, Judged, JudgedPlace
from lanelab.analysis.results.claims.words import (
    MOODS,
    base_words,
    counts_words,
    effect_words,
    effects_of,
    estimate_words,
    interval_words,
    left_out_words,
    mean_words,
    measured_words,
    n_words,
    numbers_words,
    places_words,
    published_words,
    rounds_words,
    verdict_words,
)
from lanelab.analysis.results.layout import plots
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import Cell, Column, Fold, Part, Section, Where, Words, table, words
from lanelab.analysis.results.numbers import NONE, probability
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.study.claim_verdicts import StudyVerdict
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.run.study.study import published_number

CHANGED = "changed after the run"
NOTE = (
    "A claim is reproduced where the 90% interval of its effect lies within the published value and its margin; where "
    "only a direction was published, where the 95% interval lies on that side. p is how likely data like these "
    "would be if the verdict were wrong; Holm's is for all tests of this table together. Strips show the region that "
    "counts as reproduced (grey), the interval (bar), the estimate and the published value (lines). "
    "A count that never varies has no interval: its verdict, with p < 0.0001, is on these trials. What all beds share, "
    "like the machine, is in no interval and in no p; docs/statistics.md#claims says what else is not covered. "
    "docs/reference/claims.md defines every verdict."
)


def claims_section(seen: Seen) -> Section | None:
    """Lay out the verdicts of a run; None where its experiment has no claims."""
    if not seen.judged:
        return None
    lines = lines_of(seen.judged)
    verdicts = table(columns(), lines, address=lambda line: line.address, below=below, style="verdicts")
    parts: tuple[Part, ...] = (verdicts, *words([summary(seen.judged)]), *words([NOTE], "muted", "page"))
    return Section("claims", "Claims", parts, short="claims")


def lines_of(judged: Sequence[Judged]) -> list[StudyVerdict]:
    """Return a line for each claim of a run."""
    adjusted = together(judged).adjusted
    return [StudyVerdict(0, one, p) for one, p in zip(judged, adjusted, strict=True)]


def summary(judged: Sequence[Judged]) -> str:
    """Say how many have which verdict, how many of these may be wrong, and what they leave out."""
    counts = counts_words([each.verdict for each in judged])
    parts = [f"{counts}.", together(judged).words(), estimate_words(judged), left_out_words(judged)]
    return " ".join(filter(None, parts))


def columns(*, of_study: bool = False) -> Sequence[Column[StudyVerdict]]:
    """Return the columns of a run's table, or of a study's."""
    number = Column[StudyVerdict]("no.", lambda line: published_number(line.judged.claim.source), where="markdown")
    figure = Column[StudyVerdict]("figure", lambda line: line.figure, number=True, where="text")
    further: Where = "long" if of_study else ""
    return (
        *([number] if of_study else []),
        Column("claim", lambda line: line.judged.claim.name, where="terminal"),
        Column("claim", _statement, where="long"),
        *([figure] if of_study else []),
        Column("verdict", _verdict),
        Column("measured", lambda line: Words(measured_words(line.judged), "strong")),
        Column("95% interval", _interval, where=further),
        Column("published", _published),
        Column("where", lambda line: places_words(line.judged.claim), where=further),
        Column("n", lambda line: n_words(effects_of(line.judged.places))),
        Column("p", lambda line: _p(line.judged.p), number=True, where=further),
        Column("Holm", lambda line: _p(line.adjusted_p), number=True, where="" if of_study else "long"),
    )


def _statement(line: StudyVerdict) -> Words:
    claim, figure = line.judged.claim, line.figure
    link = el("a", f" figure {figure}", href=f"#figure-{figure}", class_="note") if figure else None
    changed = el("b", f" {CHANGED}", class_="bad") if line.judged.changed else None
    return Words(claim.says, page=join(el("span", claim.says), link, changed))


def _verdict(line: StudyVerdict) -> Words:
    judged = line.judged
    text = verdict_words(judged.verdict, judged.detail) + (f" ({CHANGED})" if judged.changed else "")
    detail = el("span", judged.detail, class_="detail") if judged.detail else None
    page = join(el("b", judged.verdict, class_=MOODS[judged.verdict]), detail)
    return Words(text, MOODS[judged.verdict], page=page)


def _interval(line: StudyVerdict) -> str:
    effects = effects_of(line.judged.places)
    if len(effects) == 1:
        return interval_words(line.judged.claim, effects[0].interval_95)
    return "by place" if effects else NONE


def _published(line: StudyVerdict) -> Words:
    return Words(published_words(line.judged.claim), tip=line.judged.claim.because)


def _p(p: float | None) -> Cell:
    return None if p is None else probability(p)


# --- the places of a claim


def below(line: StudyVerdict) -> tuple[Part, ...]:
    """Lay out what a verdict rests on: why, and each place by itself."""
    judged, claim = line.judged, line.judged.claim
    why = (el("p", el("b", "Why: "), judged.why, class_="why"),) if judged.why else ()
    margin = words([mean_words(claim), f"Margin: {claim.because}" if claim.because else ""], "muted")
    title = Words(f"{counted(len(judged.places), 'place')}, with the trials behind each")
    return (*why, Fold(title, (*margin, table(_place_columns(judged), judged.places))))


def _place_columns(judged: Judged) -> Sequence[Column[JudgedPlace]]:
    claim, scale = judged.claim, _scale(judged)
    return (
        Column("place", lambda one: one.place.words),
        Column("verdict", lambda one: Words(verdict_words(one.verdict, one.detail), MOODS[one.verdict])),
        Column("", lambda one: Words("", page=_strip(claim, one, one.effect, scale)) if one.effect and scale else None),
        Column("effect", lambda one: effect_words(claim, one.effect.value) if one.effect else None),
        Column("90% interval", lambda one: interval_words(claim, one.effect.interval_90) if one.effect else None),
        Column("95% interval", lambda one: interval_words(claim, one.effect.interval_95) if one.effect else None),
        Column("n", _n),
        Column("beds", lambda one: base_words(one.effect) if one.effect else None),
        Column("settled by", lambda one: counted(one.rounds_needed, "round") if one.rounds_needed else None),
        Column("trials", lambda one: numbers_words(one.trials) or None),
    )


def _n(place: JudgedPlace) -> Cell:
    if place.effect is None:
        return 0
    asides = [f"{rounds} {what}" for rounds, what in ((place.left_out, "left out"), (place.broken, "broke")) if rounds]
    return f"{place.effect.n} ({', '.join(asides)})" if asides else place.effect.n


def _strip(claim: Claim, place: JudgedPlace, effect: Effect, scale: plots.Scale) -> Html:
    ends = effect.interval_95
    label = f"{place.place.words}: {verdict_words(place.verdict, place.detail)}"
    interval = (ends.low, ends.high) if ends else (effect.value, effect.value)
    counts = (claim.low, claim.high)
    return plots.region(counts, interval, effect.value, claim.published, scale, MOODS[place.verdict], label)


def _scale(judged: Judged) -> plots.Scale | None:
    """Reach from the least to the greatest of all that the strips of a claim show; None where there is nothing."""
    claim = judged.claim
    neutral = () if claim.is_absolute else (1.0,)
    ends = [end for place in judged.places if place.effect for end in _ends(place.effect)]
    known = [*ends, *claim.published, *neutral, *(end for end in (claim.low, claim.high) if end is not None)]
    finite = [end for end in known if math.isfinite(end)]
    if not ends or not finite:
        return None
    low, high = min(finite), max(finite)
    aside = (high - low) * 0.08 or abs(high) * 0.08 or 1.0
    return plots.Scale(low - aside, high + aside)


def _ends(effect: Effect) -> list[float]:
    interval = effect.interval_95
    return [effect.value, *((interval.low, interval.high) if interval else ())]


def behind(judged: Judged) -> list[str]:
    """Say what one verdict rests on: the statement, the trials of each place, and why."""
    claim = judged.claim
    lines = [f"{claim.name}: {claim.says}"]
    for place in judged.places:
        effect = place.effect
        measured = f", {effect_words(claim, effect.value)}" if effect else ""
        if effect and effect.interval_95:
            measured += f", {interval_words(claim, effect.interval_95)} (95%, {base_words(effect)})"
        numbers = f", trials {numbers_words(place.trials)}" if place.trials else ""
        left = f", {rounds} rounds left out" if (rounds := rounds_words(place, place.left_out)) else ""
        left += f", loads broke in {rounds} rounds" if (rounds := rounds_words(place, place.broken)) else ""
        lines.append(f"  {place.place.words}: {verdict_words(place.verdict, place.detail)}{measured}{left}{numbers}")
    lines += [f"  {mean}"] if (mean := mean_words(claim)) else []
    return [*lines, *([f"  why: {judged.why}"] if judged.why else [])]
