"""Statistics of trials: medians with intervals, arms compared round by round, several comparisons at once. Pure.

Everything goes by order and ranks, since one slow trial on a busy machine must not decide a result, and all of it is
exact and deterministic: the same run gives the same numbers. docs/statistics.md says what each procedure assumes, and
shows by simulation how often it is right.
"""

from lanelab.analysis.statistics.holm import holm
from lanelab.analysis.statistics.median import (
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
from lanelab.analysis.statistics.paired import Change, Comparison, Verdict, compare
from lanelab.analysis.statistics.pooled import Pooled, pool
from lanelab.analysis.statistics.precision import KNOWN
from lanelab.analysis.statistics.strata import MadeOn, Strata, strata

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
