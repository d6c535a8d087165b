"""The part of the report that compares arms, round by round."""

import math
from collections.abc import Sequence

from lanelab.analysis.results import comparison_words, comparisons, over_places
from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import change_words, counted, difference
from lanelab.analysis.results.report import plots
from lanelab.analysis.results.report.markup import Html, el, join
from lanelab.analysis.results.report.sections import head_of, scroll, section
from lanelab.analysis.statistics import interval_name


def section_of(run: Run, compared: Sequence[ComparisonRow]) -> Html | None:
    """None where there is one arm. What is not compared is named, with why."""
    left_out = [el("p", sentence, class_="note") for sentence in comparisons.not_compared(run)]
    if not compared:
        return section("comparisons", "Arms against each other", left_out) if left_out else None
    bases = comparisons.bases(compared)
    reach = max([0.02, *(abs(end - 1) for row in compared for end in _ends(row))]) * 1.05
    interval = interval_name(row.comparison.ratio for row in compared if row.comparison)
    heads = ["arm", *(["against"] if len(bases) > 1 else []), "change", interval, "", "difference", "faster in"]
    has_p = comparison_words.has_p(compared)
    heads += [*(["p"] if has_p else []), "verdict"]
    body: list[Html] = []
    group: tuple[str, str] | None = None
    for row in compared:
        if row.cell.group != group:
            group = row.cell.group
            head = join(el("b", group[1]), " ", el("span", group[0]))
            body.append(el("tr", el("th", head, colspan=len(heads), scope="rowgroup"), class_="group"))
        body.append(_compared(row, reach, several=len(bases) > 1, has_p=has_p))
    table = el("table", el("thead", el("tr", [head_of(word) for word in heads])), el("tbody", body))
    pooled = [el("li", row.words()) for row in over_places.pooled(run)]
    return section(
        "comparisons",
        f"Against {bases[0]}" if len(bases) == 1 else "Arms against each other",
        el("ul", pooled) if pooled else None,
        scroll(table),
        el("p", _note(compared), class_="note"),
        left_out,
    )


def _note(compared: Sequence[ComparisonRow]) -> str:
    side = "Right" if compared[0].primary.higher_is_better else "Left"
    together = f"{comparison_words.across_machines(compared)} {comparison_words.together(compared)}".strip()
    neither = sum(row.comparison.both_timed_out for row in compared if row.comparison)
    words = f"{comparison_words.ESTIMATE} Intervals are of signed ranks, of this run. {side} of the line is faster."
    both = f"{counted(neither, 'round')} in which both timed out say nothing." if neither else ""
    so_far = "Below 6 rounds, and until a run is finished, verdicts are so far."
    return " ".join(filter(None, [words, together, both, so_far]))


def _ends(row: ComparisonRow) -> list[float]:
    if row.comparison is None:
        return []
    ratio = row.comparison.ratio
    return [end for end in (ratio.low, ratio.value, ratio.high) if end is not None and math.isfinite(end)]


def _compared(row: ComparisonRow, reach: float, *, several: bool, has_p: bool) -> Html:
    comparison = row.comparison
    names = [el("td", row.cell.arm.name), el("td", row.base.name) if several else None]
    if comparison is None:
        return el("tr", names, el("td", row.why, colspan=6 + has_p, class_="muted"))
    low, high = comparison.ratio.low, comparison.ratio.high
    between = "-" if low is None or high is None else f"{change_words(low)} to {change_words(high)}"
    mood = {"faster": "good", "slower": "bad"}.get(comparison.verdict, "muted")
    return el(
        "tr",
        names,
        el("td", el("b", change_words(comparison.ratio.value)), class_="num"),
        el("td", between, class_="num", title=comparison.ratio.meaning()),
        el("td", plots.change(comparison, reach, f"{row.cell}: {between}, {comparison.ratio.meaning()}")),
        el("td", f"{difference(comparison.difference.value / row.primary.scale)} {row.primary.unit}", class_="num"),
        el("td", f"{comparison.faster} of {comparison.n}", class_="num"),
        el("td", comparison_words.p_words(comparison), class_="num") if has_p else None,
        el("td", comparison.verdict, class_=mood),
    )
