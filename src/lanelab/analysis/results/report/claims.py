"""The part of the report that says which claims the run reproduces: first, for it is what the run was made for."""

import math
from collections.abc import Sequence

from lanelab.analysis.results.claims.together import together
from lanelab.analysis.results.claims.verdict import Effect, Judged, JudgedPlace
from lanelab.analysis.results.claims.words import (
    MOODS,
    base_words,
    counts_words,
    effect_words,
    effects_of,
    estimate_words,
    interval_words,
    measured_words,
    n_words,
    numbers_words,
    places_words,
    published_words,
    verdict_words,
)
from lanelab.analysis.results.layout import plots
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.numbers import NONE, probability
from lanelab.analysis.results.report.sections import section
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.claim import Claim

HEADS = ("claim", "verdict", "measured", "95% interval", "published", "where", "n", "p", "Holm")
PLACE_HEADS = ("place", "verdict", "", "effect", "90% interval", "95% interval", "n", "beds", "settled by", "trials")
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


def section_of(judged: Sequence[Judged]) -> Html | None:
    """Return the section; None where the experiment has no claims."""
    if not judged:
        return None
    whole = together(judged)
    rows = [verdict_row(each, p, f"claim-{each.claim.name}") for each, p in zip(judged, whole.adjusted, strict=True)]
    counts = counts_words(judged)
    return section(
        "claims",
        "Claims",
        el("p", " ".join(filter(None, [f"{counts}.", whole.words(), estimate_words(judged)]))),
        scroll(el("table", heads(), el("tbody", rows), class_="verdicts")),
        el("p", NOTE, class_="note"),
    )


def heads() -> Html:
    return el("thead", el("tr", [el("th", word, scope="col") for word in HEADS]))


def verdict_row(judged: Judged, adjusted_p: float | None, address: str, figure: int | None = None) -> Html:
    """Return a claim's line, and below it why, and each place by itself."""
    claim = judged.claim
    name = join(
        el("span", claim.says),
        el("a", f" figure {figure}", href=f"#figure-{figure}", class_="note") if figure is not None else None,
        el("b", f" {CHANGED}", class_="bad") if judged.changed else None,
    )
    effects = effects_of(judged.places)
    only = effects[0] if len(effects) == 1 else None
    values: list[tuple[str, object]] = [
        ("verdict", join(el("b", judged.verdict, class_=MOODS[judged.verdict]), _detail(judged.detail))),
        ("measured", measured_words(judged)),
        ("95% interval", interval_words(claim, only.interval_95) if only else ("by place" if effects else NONE)),
        ("published", el("span", published_words(claim), title=claim.because or None)),
        ("where", places_words(claim)),
        ("n", n_words(effects)),
        ("p", NONE if judged.p is None else probability(judged.p)),
        ("Holm", NONE if adjusted_p is None else probability(adjusted_p)),
    ]
    cells = [el("td", value, data_label=label, class_="none" if value == NONE else None) for label, value in values]
    first = el("tr", el("td", name, data_label="claim"), cells, id=address)
    return join(first, el("tr", el("td", _below(judged), colspan=len(HEADS)), class_="below"))


def _detail(words: str) -> Html | None:
    return el("span", words, class_="detail") if words else None


def _below(judged: Judged) -> Html:
    claim = judged.claim
    why = el("p", el("b", "Why: "), judged.why, class_="why") if judged.why else None
    margin = el("p", "Margin: ", claim.because, class_="note") if claim.because else None
    head = el("tr", [el("th", word, scope="col") for word in PLACE_HEADS])
    scale = _scale(judged)
    rows = [_place(claim, each, scale) for each in judged.places]
    table = scroll(el("table", el("thead", head), el("tbody", rows)))
    words = el("summary", f"{counted(len(judged.places), 'place')}, with the trials behind each")
    return join(why, el("details", words, margin, table))


def _place(claim: Claim, place: JudgedPlace, scale: plots.Scale | None) -> Html:
    effect = place.effect
    values: list[object] = [
        place.place.words,
        el("span", verdict_words(place.verdict, place.detail), class_=MOODS[place.verdict]),
        _strip(claim, place, scale) if effect and scale else NONE,
        effect_words(claim, effect.value) if effect else NONE,
        interval_words(claim, effect.interval_90) if effect else NONE,
        interval_words(claim, effect.interval_95) if effect else NONE,
        effect.n if effect else 0,
        base_words(effect) if effect else NONE,
        NONE if place.rounds_needed is None else counted(place.rounds_needed, "round"),
        numbers_words(place.trials) or NONE,
    ]
    return el("tr", [el("td", value) for value in values])


def _strip(claim: Claim, place: JudgedPlace, scale: plots.Scale) -> Html:
    effect = place.effect
    ends = effect.interval_95 if effect else None
    words = f"{place.place.words}: {verdict_words(place.verdict, place.detail)}"
    interval = (ends.low, ends.high) if ends else (effect.value, effect.value) if effect else (0.0, 0.0)
    value = effect.value if effect else 0.0
    return plots.region((claim.low, claim.high), interval, value, claim.published, scale, MOODS[place.verdict], words)


def _scale(judged: Judged) -> plots.Scale | None:
    """Return the scale from the least to the greatest of all that the strips of a claim show; None where there is
    nothing."""
    claim = judged.claim
    neutral = () if claim.kind == "value" else (1.0,)
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
