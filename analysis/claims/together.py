"""What all verdicts of a study mean together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.claims.verdict import Judged, Verdict
from analysis.stats import holm
from model.looks import ALPHA


@dataclass(frozen=True, slots=True)
class Together:
    adjusted: tuple[float | None, ...]  # of each claim: its p value by Holm, None where there is no verdict
    tested: int
    false_at_most: float  # so many of the verdicts are expected to be false, and no more


def together(judged: Sequence[Judged]) -> Together:
    """Every claim that was tested had a chance of 5% at most of a false verdict of each kind that it could get."""
    given = [one for one in judged if one.p is not None]
    adjusted = iter(holm([one.p for one in given if one.p is not None]))
    tested = sum(one.verdict != Verdict.NOT_TESTED for one in judged)
    return Together(tuple(None if one.p is None else next(adjusted) for one in judged), tested, ALPHA * tested)
