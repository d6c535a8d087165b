"""Print the table of docs/reference/gateway.md: what the gateway cost in these runs, and what that is made of.

build/env/bin/python -m tools.gateway_table RUN…
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lanelab.analysis.results.gateway_cost import CostRow, cost
from lanelab.analysis.results.gateway_terms import SHOWN, Terms
from lanelab.analysis.results.layout.markdown import table_markdown
from lanelab.analysis.results.layout.model import Column, table
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import difference
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.statistics import Change, Comparison

Explained = tuple[Run, CostRow, Comparison, Terms]


def cost_table(runs: Sequence[Run]) -> str:
    """Write a line for each pair of arms whose cost is explained."""
    explained = [
        (run, row, row.comparison, row.terms) for run in runs for row in cost(run).rows if row.comparison and row.terms
    ]
    return table_markdown(table(COLUMNS, explained))


def _load(run: Run) -> str:
    loads = [each.measures["load"] for each in run.ok if "load" in each.measures]
    return f"{min(loads):.1f} to {max(loads):.1f}" if loads else "-"


def _change(change: Change) -> str:
    if change.low is None or change.high is None:
        return difference(change.value)
    return f"{difference(change.value)} ({difference(change.low)} to {difference(change.high)})"


def _medians(name: str) -> Callable[[Explained], str | None]:
    return lambda each: "{:.1f} / {:.1f}".format(*each[3].medians[name]) if name in each[3].medians else None


COLUMNS: Sequence[Column[Explained]] = (
    Column("date", lambda each: each[0].created_utc[:10]),
    Column("processors", lambda each: str(each[0].sessions[0].provenance.get("machine", {}).get("processors", "-"))),
    Column("load", lambda each: _load(each[0])),
    Column("site", lambda each: each[1].cell.site),
    Column("arm", lambda each: each[1].native.name),
    Column("n", lambda each: each[2].n),
    Column("natively", lambda each: f"{each[1].native_ms:.0f}"),
    Column("difference", lambda each: _change(each[2].difference)),
    *(Column[Explained](title, _medians(name)) for name, title in SHOWN.items()),
    Column("the two terms", lambda each: _change(each[3].together)),
    Column("they leave", lambda each: _change(each[3].left)),
)


if __name__ == "__main__":
    print(cost_table([read_run(Path(folder)) for folder in sys.argv[1:]]))
