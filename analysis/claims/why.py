"""Why an effect is what it is: from the parts of the load times, or from what the trials moved. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from analysis.claims.effects import Evidence
from analysis.claims.verdict import JudgedPlace
from analysis.numbers import shown
from analysis.stats.signed_rank import signed_rank
from model.claims import Claim, Point
from model.evidence.parts import Part
from model.metrics import metric_named

MOST_PARTS = 4
LEAST_MS = 1.0
ABOUT = ("requests", "connections_used", "bytes_down", "bytes_up")  # what explains anything but a load time


def why(evidence: Evidence, claim: Claim, places: Sequence[JudgedPlace]) -> str:
    """A sentence; "" where nothing is known. Of several places it is about the first and the last."""
    tested = [place for place in places if place.effect is not None]
    if not tested:
        return ""
    chosen = [tested[0]] if len(tested) == 1 else [tested[0], tested[-1]]
    sentences = []
    for place in chosen:
        points = place.place.points
        shown_points = points if claim.kind in ("change", "value") else (points[0], points[-1])
        for point in shown_points:
            if words := _of_point(evidence, claim, point):
                sentences.append(f"{point.words}: {words}")
    return "; ".join(dict.fromkeys(sentences))


def _of_point(evidence: Evidence, claim: Claim, point: Point) -> str:
    if claim.metric == "plt_ms":
        return _parts(evidence, point)
    return _counts(evidence, claim, point)


def _parts(evidence: Evidence, point: Point) -> str:
    """The parts that differ most, or those of the load time where nothing is compared."""
    found = []
    for part in Part:
        values = _differences(evidence, point, f"part_{part.value}_ms")
        if values:
            found.append((part, signed_rank([values]).value))
    told = sorted((each for each in found if abs(each[1]) >= LEAST_MS), key=lambda each: -abs(each[1]))[:MOST_PARTS]
    sign = "+" if point.base else ""
    names = {part: metric.words for part in Part if (metric := metric_named(f"part_{part.value}_ms"))}
    return ", ".join(f"{names[part]} {value:{sign}.0f} ms" for part, value in told)


def _differences(evidence: Evidence, point: Point, name: str) -> list[float]:
    """By round: the measure of the arm, less that of its base."""
    own = evidence.results(point.cell)
    base = evidence.results(point.base) if point.base else {}
    values = []
    for number, trial in sorted(own.items()):
        value = trial.measures.get(name)
        other = base[number].measures.get(name) if number in base else (None if point.base else 0.0)
        if value is not None and other is not None:
            values.append(value - other)
    return values


def _counts(evidence: Evidence, claim: Claim, point: Point) -> str:
    words = []
    for name in ABOUT:
        metric = metric_named(name)
        if metric is None or name == claim.metric:
            continue
        each = [_median(evidence, cell, name) for cell in (point.cell, point.base) if cell]
        known = [shown(metric, value) for value in each if value is not None]
        if len(known) == len(each):
            words.append(f"{metric.words} {' against '.join(known)}{f' {metric.unit}' if metric.unit else ''}")
    return ", ".join(words)


def _median(evidence: Evidence, cell: str, name: str) -> float | None:
    values = [trial.measures[name] for trial in evidence.results(cell).values() if name in trial.measures]
    return statistics.median(values) if values else None
