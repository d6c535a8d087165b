"""Verdicts on a terminal: `lanelab claims`, and the end of `lanelab run`."""

from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lanelab.analysis.results.claims.together import together
from lanelab.analysis.results.claims.verdict import Judged
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
from lanelab.analysis.results.numbers import NONE, probability

STYLES = {"good": "green", "bad": "red", "warn": "yellow", "muted": "dim"}
CHANGED = "changed after the run"


def verdict_table(judged: Sequence[Judged]) -> RenderableType:
    """Return a line for each claim."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in ("claim", "published", "measured", "95% interval", "where", "n", "p", "verdict"):
        made.add_column(column)
    for each in judged:
        effects = effects_of(each.places)
        only = effects[0] if len(effects) == 1 else None
        claim = each.claim
        verdict = Text(verdict_words(each.verdict, each.detail), style=STYLES[MOODS[each.verdict]])
        if each.changed:
            verdict.append(f"; {CHANGED}", style="bold red")
        made.add_row(
            Text(claim.name),
            Text(published_words(claim)),
            Text(measured_words(each), style="bold"),
            Text(interval_words(claim, only.interval_95) if only else "by place" if effects else NONE),
            Text(places_words(claim)),
            Text(n_words(effects)),
            Text(NONE if each.p is None else probability(each.p)),
            verdict,
        )
    return made


def summary(judged: Sequence[Judged]) -> str:
    """Return how many have which verdict, and how many of these may be wrong."""
    whole = together(judged)
    words = f"{counts_words(judged)}."
    return " ".join(filter(None, [words, whole.words(), estimate_words(judged)]))


def behind(judged: Judged) -> list[str]:
    """Return what one verdict rests on, as sentences: the statement, the trials of each place, and why."""
    claim = judged.claim
    lines = [f"{claim.name}: {claim.says}"]
    for place in judged.places:
        effect = place.effect
        numbers = f", trials {numbers_words(place.trials)}" if place.trials else ""
        if effect is None:
            lines.append(f"  {place.place.words}: {verdict_words(place.verdict, place.detail)}{numbers}")
            continue
        ends = (
            f", {interval_words(claim, effect.interval_95)} (95%, {base_words(effect)})" if effect.interval_95 else ""
        )
        measured = f"{effect_words(claim, effect.value)}{ends}"
        lines.append(f"  {place.place.words}: {verdict_words(place.verdict, place.detail)}, {measured}{numbers}")
    return [*lines, *([f"  why: {judged.why}"] if judged.why else [])]
