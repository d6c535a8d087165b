"""Statistics of trials: medians with intervals, arms compared round by round, several comparisons at once. Pure.

Everything goes by order and ranks, since one slow trial on a busy machine must not decide a result, and all of it is
exact and deterministic: the same run gives the same numbers. docs/statistics.md says what each procedure assumes, and
shows by simulation how often it is right.
"""

from analysis.stats.holm import holm
from analysis.stats.known import KNOWN
from analysis.stats.median import (
    ALPHA,
    ENOUGH,
    LEVEL,
    Estimate,
    Summary,
    estimate,
    interval_name,
    outliers,
    quartiles,
    summarise,
)
from analysis.stats.paired import Change, Comparison, Verdict, compare
from analysis.stats.pooled import Pooled, pool
from analysis.stats.strata import MadeOn, Strata, strata

__all__ = [
    "ALPHA",
    "ENOUGH",
    "KNOWN",
    "LEVEL",
    "Change",
    "Comparison",
    "Estimate",
    "MadeOn",
    "Pooled",
    "Strata",
    "Summary",
    "Verdict",
    "compare",
    "estimate",
    "holm",
    "interval_name",
    "outliers",
    "pool",
    "quartiles",
    "strata",
    "summarise",
]
