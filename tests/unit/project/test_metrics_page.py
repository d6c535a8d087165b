"""The page of metrics follows the tables.

python -m tools.metrics_page     writes it again
"""

from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.metrics import METRICS, STEP_METRICS
from tools.metrics_page import PAGE, page_text


def test_the_page_follows_the_tables() -> None:
    assert PAGE.read_text() == page_text(), "python -m tools.metrics_page writes it again"


def test_every_metric_and_every_series_has_its_row_once() -> None:
    rows = [line.split("`")[1] for line in page_text().splitlines() if line.startswith("| `")]
    of_steps = (f"{metric.key}@STEP" for metric in STEP_METRICS)
    assert sorted(rows) == sorted([*(metric.key for metric in METRICS), *of_steps, *SERIES])
