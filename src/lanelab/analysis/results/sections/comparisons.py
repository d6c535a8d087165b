"""Arms against each other, round by round: the table, what its numbers are, and how sure its verdicts are."""

import math
from collections.abc import Callable, Mapping, Sequence

from lanelab.analysis.results.comparisons import ComparisonRow, bases, not_compared
from lanelab.analysis.results.layout import plots
from lanelab.analysis.results.layout.model import Cell, Column, Mood, Part, Points, Section, Words, table, words
from lanelab.analysis.results.numbers import NONE, change_words, difference, probability
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.statistics import ENOUGH, Change, Comparison, interval_name
from lanelab.analysis.statistics.by_chance import one_way
from lanelab.analysis.statistics.holm import rounds_to_tell
from lanelab.analysis.statistics.looks import ALPHA
from lanelab.analysis.statistics.median import percent
from lanelab.analysis.statistics.paired import LEAST_SO_FAR, OPEN
from lanelab.driver.base.amounts import counted

Row = ComparisonRow
ESTIMATE = (
    "Change: the middle of the changes from round to round (Hodges and Lehmann's pseudo-median). It is not the ratio "
    "of the medians, and differs from it most where one arm varies more than the other."
)


def comparisons_section(seen: Seen) -> Section | None:
    """Lay out a line for each comparison; None where there is one arm. What is not compared is named, with why."""
    compared, left_out = seen.compared, words(not_compared(seen.run), "warn")
    if seen.nothing:
        return None
    if not compared:
        return Section("comparisons", "Arms against each other", left_out) if left_out else None
    names = bases(compared)
    pooled = tuple(Words(row.words()) for row in seen.pooled)
    parts: tuple[Part, ...] = (
        table(columns(compared), compared, groups=groups(seen), group=lambda row: place(row.cell, seen)),
        *([Points(pooled)] if pooled else []),
        *words([alone_and_together(compared, pooled=any(row.is_shown for row in seen.pooled))]),
        *words([left_out_words(compared)]),
        *words([open_words(compared)], "warn"),
        *words([across_machines(compared), together(compared), ESTIMATE], "muted"),
        *words([_about_intervals(compared)], "muted", "page"),
        *left_out,
    )
    title = f"Against {names[0]}" if len(names) == 1 else "Arms against each other"
    return Section("comparisons", title, parts, short=f"against {', '.join(names)}, by round")


def columns(compared: Sequence[Row]) -> Sequence[Column[Row]]:
    interval = interval_name(row.comparison.ratio for row in compared if row.comparison)
    against = Column[Row]("against", lambda row: row.base.name)
    p = Column[Row]("p", _of(p_words), number=True)
    unit = compared[0].primary.unit if compared else ""
    reach = max([0.02, *(abs(end - 1) for row in compared for end in _ends(row))]) * 1.05
    return (
        Column("arm", lambda row: row.cell.arm.name),
        *([against] if len(bases(compared)) > 1 else []),
        Column("change", _of(lambda one: Words(change_words(one.ratio.value), "strong")), number=True),
        Column(interval, _of(lambda one: Words(between(one.ratio), tip=one.ratio.meaning())), number=True),
        Column("", lambda row: _drawing(row, reach), where="page"),
        Column(f"difference {unit}".strip(), _difference, number=True),
        Column("faster in", _of(lambda one: f"{one.faster} of {one.n}"), number=True),
        *([p] if has_p(compared) else []),
        Column("verdict", _verdict),
    )


def _of(words_of: Callable[[Comparison], Cell]) -> Callable[[Row], Cell]:
    """Of a row without a comparison there is nothing."""
    return lambda row: words_of(row.comparison) if row.comparison else None


def between(change: Change) -> str:
    """Write the interval of a ratio as changes."""
    if change.low is None or change.high is None:
        return NONE
    return f"{change_words(change.low)} to {change_words(change.high)}"


def _difference(row: Row) -> Cell:
    return difference(row.comparison.difference.value / row.primary.scale) if row.comparison else None


def _verdict(row: Row) -> Words:
    if row.comparison is None:
        return Words(row.why, "muted", wide=True)
    verdict = row.comparison.verdict
    moods: Mapping[str, Mood] = {"faster": "good", "slower": "bad", OPEN: "warn"}
    return Words(verdict, moods.get(verdict, ""))


def _drawing(row: Row, reach: float) -> Cell:
    one = row.comparison
    if one is None:
        return None
    label = f"{row.cell}: {between(one.ratio)}, {one.ratio.meaning()}"
    return Words("", page=plots.change(one, reach, label))


def _ends(row: Row) -> list[float]:
    if row.comparison is None:
        return []
    ratio = row.comparison.ratio
    return [end for end in (ratio.low, ratio.value, ratio.high) if end is not None and math.isfinite(end)]


# --- in words


def alone_and_together(rows: Sequence[Row], *, pooled: bool = False) -> str:
    """Where intervals leave out that nothing changed, and verdicts do not: they belong to two tests, so both are told.
    The interval is of one comparison, the verdict counts all of them. `pooled`: arms differ over all links together."""
    pairs = [one for row in rows if (one := row.comparison)]
    clear = [(row, one) for row in rows if (one := row.comparison) and _is_clear_alone(one)]
    if not clear:
        return ""
    (row, first), many = clear[0], len(pairs)
    several_sites = len({each.cell.site for each in rows}) > 1
    counting = f"with all {many} of them counted"
    if len(clear) == 1:
        where = f"{row.cell.site}, {row.cell.link.label}" if several_sites else row.cell.link.label
        alone = f"{row.cell.arm.name} against {row.base.name} over {where} shows a change"
        text = (
            f"Taken by itself, {alone} ({first.ratio.name} {between(first.ratio)}). But {many} comparisons were made, "
            "and among so many one shows as much by chance too often "
            f"(p {probability(first.adjusted_p)} {counting}): there no difference is shown."
        )
    else:
        least = probability(min(one.adjusted_p for _, one in clear))
        text = (
            f"Taken by themselves, {len(clear)} comparisons that show no difference here would show one: their "
            f"intervals are on one side of 0%. But {many} comparisons were made, and among so many some show as much "
            f"by chance too often (the least p of these is {least} {counting}): for these {len(clear)} no difference "
            "is shown."
        )
    others = any(one.verdict in ("faster", "slower") for one in pairs)
    stands = " The verdicts of the others stand." if others else ""
    over_all = " What is said of all sites and links together is another test, and stands." if pooled else ""
    return f"{text}{stands}{over_all}"


def _is_clear_alone(one: Comparison) -> bool:
    low, high = one.ratio.low, one.ratio.high
    one_sided = low is not None and high is not None and not low <= 1 <= high
    return one.n >= ENOUGH and one_sided and one.verdict == "no difference shown"


def _about_intervals(rows: Sequence[Row]) -> str:
    side = "Right" if rows[0].primary.higher_is_better else "Left"
    neither = sum(row.comparison.both_timed_out for row in rows if row.comparison)
    both = f"{counted(neither, 'round')} in which both timed out say nothing. " if neither else ""
    return (
        f"Intervals are of signed ranks, of this run. {side} of the line is faster. {both}Below 6 rounds, and until a "
        "run is finished, verdicts are so far."
    )


def together(rows: Sequence[Row]) -> str:
    """Say what a reader of verdicts must know of all of them; nothing where there is one with enough rounds."""
    return " ".join(filter(None, [provisional(rows), _adjusted_for(rows)]))


def has_p(rows: Sequence[Row]) -> bool:
    """Say whether one of the verdicts rests on its p. Those that are so far do not."""
    return any(row.comparison and row.comparison.is_final for row in rows)


def p_words(comparison: Comparison) -> str:
    return probability(comparison.adjusted_p) if comparison.is_final else NONE


def provisional(rows: Sequence[Row]) -> str:
    """Say how often chance alone gives a verdict "so far" to rounds that are too few for a test."""
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
    needed = f"A test of {counted(len(rows), 'comparison')} takes {rounds_to_tell(len(rows))} rounds."
    return f'Verdicts "so far" are provisional: {words}. {needed}'


def _adjusted_for(rows: Sequence[Row]) -> str:
    """Say what Holm's method counts, where there are enough rounds for it."""
    pairs = [row.comparison for row in rows if row.comparison]
    enough = [one for one in pairs if one.n >= ENOUGH]
    if len(pairs) < 2 or not enough:
        return ""
    which = "Verdicts and p" if has_p(rows) else "Verdicts"
    which += f" of {ENOUGH} rounds and more" if len(enough) < len(pairs) else ""
    words = (
        f"Intervals are of each comparison by itself. {which} count all {len(pairs)} of them (Holm): at most "
        f"{percent(ALPHA)} of runs without any difference have even one wrong verdict."
    )
    if all(len(pairs) * 2.0 ** (1 - one.n) > one.alpha for one in enough):
        words += (
            f" With {max(one.n for one in enough)} rounds none of {len(pairs)} comparisons can be told from chance."
        )
    return words


def left_out_words(rows: Sequence[Row]) -> str:
    """Say in how many rounds one of two arms has no trial that counts: what is left was chosen by what failed. A run
    that goes on may still make them."""
    known = [(row, one) for row in rows if (one := row.comparison) and not one.so_far]
    alone = [(one.left_out - one.across_machines, row, one) for row, one in known]
    lacking = sum(lost > 0 for lost, _, _ in alone)
    if not lacking:
        return ""
    lost, row, one = max(alone, key=lambda each: each[0])
    of = f"{lost} of {counted(lost + one.n + one.both_timed_out, 'round')}"
    more = f", and some in {counted(lacking - 1, 'more comparison')}" if lacking > 1 else ""
    return (
        f"Left out: rounds in which one of the two has no trial that counts, {of} of {row.cell.arm.name} against "
        f"{row.base.name} over {row.cell.link.label}{more}. Where slow trials are those that fail, what is left looks "
        "faster than it is."
    )


def open_words(rows: Sequence[Row]) -> str:
    """Say which verdicts are open because loads broke and were tried again: those with the most of them first."""
    left = [row for row in rows if row.comparison and row.comparison.verdict == OPEN]
    if not left:
        return ""
    row = max(left, key=lambda each: each.broken + each.broken_base)
    more = f", and {counted(len(left) - 1, 'more comparison')}" if len(left) > 1 else ""
    return (
        f"Open: {row.cell.arm.name} against {row.base.name} over {row.cell.link.label}{more}. Loads broke and were "
        f"tried again (in {counted(row.broken, 'round')} of {row.cell.arm.name}, in {row.broken_base} of "
        f"{row.base.name}): without them the rounds say one thing, with them as slower than all others another."
    )


def across_machines(rows: Sequence[Row]) -> str:
    """Say what pairs of several machines are; nothing of one machine."""
    pairs = [row.comparison for row in rows if row.comparison]
    machines, shared = max((one.machines for one in pairs), default=1), sum(one.across_machines for one in pairs)
    if machines < 2 and not shared:
        return ""
    words = f"Pairs are within one machine; their changes are pooled over {machines} machines." if machines > 1 else ""
    if shared:
        left_out = f"Left out: {counted(shared, 'round')} whose two trials were made on different machines."
        words = f"{words} {left_out}".strip()
    return words
