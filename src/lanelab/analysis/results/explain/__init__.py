"""Why load times are what they are, in sentences: of cells, of differences between arms, of trials that stand apart."""

from lanelab.analysis.results.explain.difference import Difference, explain_difference, explain_links
from lanelab.analysis.results.explain.load_time_parts import MadeOf, made_of
from lanelab.analysis.results.explain.outliers import Outlier
from lanelab.analysis.results.explain.run import Explained, explain, explain_steps

__all__ = [
    "Difference", "Explained", "MadeOf", "Outlier", "explain", "explain_difference", "explain_links", "explain_steps",
    "made_of",
]  # fmt: skip
