"""The page of metrics, docs/reference/metrics.md, from the tables of metrics and series.

    python -m tools.metrics_page

writes it again.
"""

from collections.abc import Iterable, Mapping

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.metrics import (
    ANY,
    FETCH,
    LOAD,
    METRICS,
    NEEDS,
    OVER_LINK,
    PAGE_LOAD,
    STEP_METRICS,
    STEP_NEEDS,
    Metric,
)

PAGE = PROJECT / "docs" / "reference" / "metrics.md"
STEP = "@STEP"  # behind the name of a metric
WORKLOADS = {
    (PAGE_LOAD,): "Of page loads",
    OVER_LINK: "Of page loads and fetches",
    (FETCH,): "Of fetches",
    (LOAD,): "Of loads",
    ANY: "Of all",
}
BEGIN = """\
# Metrics

<!-- Made by python -m tools.metrics_page: change the tables in the code instead. -->

Every number that a trial may have, and every number over time. Experiment files name them in the `y` of
[figures](experiment.md#figures) and in [claims](claims.md); exports and `--json` have a column for each metric, under
the name in the last column, or its own. What a metric needs is the setting of an experiment without which no trial has
it; a trial in which it was not measured has no value. The pages of its subject say more:
[the parts of a load time](parts.md), [vitals](vitals.md), [captures](packets.md), [loads](load.md),
[fetches](fetch.md), [the server's series](server-series.md), [the machine](machine.md), [the gateway](gateway.md).
"""
OF_STEPS = """\
## Of steps of a journey

Each [step](journeys.md#numbers) has these as METRIC@STEP: `plt@article`, in exports `plt_ms@article`.
"""
OF_SERIES = """\
## Series

Numbers over the course of a load, one each second: the `y` of figures with `kind: series`. Their name is the same
everywhere. Those of the server, its proxy and its back end need `server_series: true`.
"""


def page_text() -> str:
    """Return the page as it should be."""
    tables = [f"## {heading}\n\n{_table(workloads)}" for workloads, heading in WORKLOADS.items()]
    tables = [*tables, f"{OF_STEPS}\n{_steps()}"]
    return "\n".join([BEGIN, *(f"{table}\n" for table in tables), OF_SERIES, _series()]) + "\n"


def _table(workloads: tuple[str, ...]) -> str:
    return _of(metric for metric in METRICS if metric.workloads == workloads)


def _steps() -> str:
    return _of(STEP_METRICS, STEP_NEEDS, STEP)


def _of(metrics: Iterable[Metric], needs: Mapping[str, str] = NEEDS, step: str = "") -> str:
    rows = [_row(metric, needs, step) for metric in metrics]
    return "\n".join(["| metric | meaning | unit | needs | in exports |", "| --- | --- | --- | --- | --- |", *rows])


def _row(metric: Metric, needs_of: Mapping[str, str], step: str) -> str:
    needs = f"`{needs_of[metric.name]}`" if metric.name in needs_of else ""
    words = f"{metric.words}: more is better" if metric.higher_is_better else metric.words
    column = f"`{metric.name}{step}`" if metric.name != metric.key else ""
    return f"| `{metric.key}{step}` | {words} | {metric.unit} | {needs} | {column} |"


def _series() -> str:
    rows = [f"| `{name}` | {kind.words} | {kind.unit} |" for name, kind in SERIES.items()]
    return "\n".join(["| series | meaning | unit |", "| --- | --- | --- |", *rows])


if __name__ == "__main__":
    PAGE.write_text(page_text(), encoding="utf-8")
