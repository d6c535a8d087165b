"""Verdicts as JSON has them. Pure."""

import math
from typing import Any

from lanelab.analysis.results.claims.verdict import Effect, Interval, Judged, JudgedPlace


def judged_json(judged: Judged, adjusted_p: float | None) -> dict[str, Any]:
    return {
        "claim": judged.claim.to_json(),
        "verdict": str(judged.verdict),
        "detail": judged.detail,
        "p": judged.p,
        "p_adjusted": adjusted_p,
        "why": judged.why,
        "changed_after_the_run": judged.changed,
        "places": [_place_json(place) for place in judged.places],
    }


def _place_json(place: JudgedPlace) -> dict[str, Any]:
    return {
        "place": place.place.words,
        "verdict": str(place.verdict),
        "detail": place.detail,
        "effect": _effect_json(place.effect) if place.effect else None,
        "trials": list(place.trials),
        "rounds_needed": place.rounds_needed,
    }


def _effect_json(effect: Effect) -> dict[str, Any]:
    return {
        "n": effect.n,
        "beds": effect.beds,
        "between_beds": effect.between_beds,
        "beds_are": f"{effect.unit}s",
        "value": _finite(effect.value),
        "interval_90": _interval_json(effect.interval_90),
        "interval_95": _interval_json(effect.interval_95),
        "p_inside": effect.p_inside,
        "p_direction": effect.p_direction,
        "p_reversed": effect.p_reversed,
        "p_outside": effect.p_outside,
    }


def _interval_json(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [_finite(interval.low), _finite(interval.high)]


def _finite(value: float) -> float | None:
    """JSON has no infinity: an end that time-outs leave open is null."""
    return value if math.isfinite(value) else None
