"""What a table of comparisons says below it: what its numbers are, and how sure its verdicts are. Pure."""

from collections.abc import Sequence

from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.numbers import NONE, counted, probability
from lanelab.analysis.statistics import ENOUGH, Comparison
from lanelab.analysis.statistics.by_chance import one_way
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.analysis.statistics.median import percent
from lanelab.analysis.statistics.paired import LEAST_SO_FAR

ESTIMATE = (
    "Change: the middle of the changes from round to round (Hodges and Lehmann's pseudo-median). It is not the ratio "
    "of the medians, and differs from it most where one arm varies more than the other."
)


def together(rows: Sequence[ComparisonRow]) -> str:
    """What a reader of verdicts must know of all of them; nothing where there is one with enough rounds."""
    return " ".join(filter(None, [provisional(rows), _adjusted_for(rows)]))


def has_p(rows: Sequence[ComparisonRow]) -> bool:
    """Whether one of the verdicts rests on its p. Those that are so far do not."""
    return any(row.comparison and row.comparison.is_final for row in rows)


def p_words(comparison: Comparison) -> str:
    return probability(comparison.adjusted_p) if comparison.is_final else NONE


def provisional(rows: Sequence[ComparisonRow]) -> str:
    """How often chance alone gives a verdict "so far" to rounds that are too few for a test."""
    few = [row for row in rows if row.comparison and LEAST_SO_FAR <= row.comparison.n < ENOUGH]
    if not few:
        return ""
    pairs = [(row.base_cell.number, row.cell.number, row.comparison.n) for row in few if row.comparison]
    least, most = min(pair[2] for pair in pairs), max(pair[2] for pair in pairs)
    rounds = f"{least}" if least == most else f"{least} to {most}"
    words = f"{rounds} rounds all go one way by chance in 1 of {2 ** (least - 1)} comparisons of equal arms"
    if len(few) > 1:
        chance = one_way(pairs)
        share = "more than 99%" if chance > 0.99 else f"about {100 * chance:.0f}%"
        words += f", and in at least one of {len(few)} comparisons in {share} of runs"
    needed = f"A test of {counted(len(rows), 'comparison')} takes {_enough_for(len(rows))} rounds."
    return f'Verdicts "so far" are provisional: {words}. {needed}'


def _enough_for(comparisons: int) -> int:
    """Rounds with which one of so many comparisons can be told from chance, if all of them go one way."""
    return next(n for n in range(ENOUGH, 100) if comparisons * 2.0 ** (1 - n) <= ALPHA)


def _adjusted_for(rows: Sequence[ComparisonRow]) -> str:
    """What Holm's method counts, where there are enough rounds for it."""
    made = [row.comparison for row in rows if row.comparison]
    enough = [one for one in made if one.n >= ENOUGH]
    if len(made) < 2 or not enough:
        return ""
    which = "Verdicts and p" if has_p(rows) else "Verdicts"
    which += f" of {ENOUGH} rounds and more" if len(enough) < len(made) else ""
    words = (
        f"Intervals are of each comparison by itself. {which} count all {len(made)} of them (Holm): at most "
        f"{percent(ALPHA)} of runs without any difference have even one wrong verdict."
    )
    if all(len(made) * 2.0 ** (1 - one.n) > one.alpha for one in enough):
        words += f" With {max(one.n for one in enough)} rounds none of {len(made)} comparisons can be told from chance."
    return words


def across_machines(rows: Sequence[ComparisonRow]) -> str:
    """What is said of pairs where several machines made them; nothing of one machine."""
    made = [row.comparison for row in rows if row.comparison]
    machines, shared = max((one.machines for one in made), default=1), sum(one.across_machines for one in made)
    if machines < 2 and not shared:
        return ""
    words = f"Pairs are within one machine; their changes are pooled over {machines} machines." if machines > 1 else ""
    if shared:
        left_out = f"Left out: {counted(shared, 'round')} whose two trials were made on different machines."
        words = f"{words} {left_out}".strip()
    return words
