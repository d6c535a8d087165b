"""Why load times are what they are, in sentences: of cells, of differences between arms, of trials that stand apart."""

from analysis.explain.difference import Difference, explain_difference, explain_links
from analysis.explain.made_of import MadeOf, made_of
from analysis.explain.outliers import Outlier
from analysis.explain.run import Explained, explain

__all__ = [
    "Difference", "Explained", "MadeOf", "Outlier", "explain", "explain_difference", "explain_links", "made_of",
]  # fmt: skip
