"""Print the table of docs/reference/gateway.md: what the gateway cost in these runs, and what that is made of.

PYTHONPATH=. build/env/bin/python -m lanelab.analysis.results.gateway_table RUN…
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from lanelab.analysis.results.gateway_cost import CostRow, cost
from lanelab.analysis.results.gateway_terms import LAG, LAG_6, TURNAROUND, Terms
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import difference
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.statistics import Change, Comparison

HEADS = (
    "date", "processors", "load", "site", "arm", "n", "natively", "difference", "1st request", "6th request",
    "turnaround", "the two terms", "they leave",
)  # fmt: skip


def lines(runs: list[Run]) -> Iterator[str]:
    yield _line(HEADS)
    yield _line(["---"] * len(HEADS))
    for run in runs:
        machine = run.sessions[0].provenance.get("machine", {})
        loads = [each.measures["load"] for each in run.ok if "load" in each.measures]
        load = f"{min(loads):.1f} to {max(loads):.1f}" if loads else "-"
        for row in cost(run).rows:
            if row.comparison and row.terms:
                about = (run.created_utc[:10], str(machine.get("processors", "-")), load, row.cell.site)
                yield _line([*about, row.native.name, str(row.comparison.n), *_numbers(row, row.comparison, row.terms)])


def _numbers(row: CostRow, comparison: Comparison, terms: Terms) -> list[str]:
    return [
        f"{row.native_ms:.0f}",
        _change(comparison.difference),
        *(_medians(terms, name) for name in (LAG, LAG_6, TURNAROUND)),
        _change(terms.together),
        _change(terms.left),
    ]


def _medians(terms: Terms, name: str) -> str:
    both = terms.medians.get(name)
    return f"{both[0]:.1f} / {both[1]:.1f}" if both else "-"


def _change(change: Change) -> str:
    if change.low is None or change.high is None:
        return difference(change.value)
    return f"{difference(change.value)} ({difference(change.low)} to {difference(change.high)})"


def _line(words: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(words)} |"


if __name__ == "__main__":
    print("\n".join(lines([read_run(Path(folder)) for folder in sys.argv[1:]])))
