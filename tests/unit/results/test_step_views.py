"""Steps of a journey in results: each is drawn on a clock of its own, and has its line in the table of steps."""

import dataclasses
import json

import pytest
from rich.console import Console

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.load_view import load_view
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.sections.steps import steps_section
from lanelab.analysis.results.step_views import views_of_steps
from lanelab.analysis.results.trial_table import STEPS
from lanelab.driver.run.folder import format as run_format
from tests.kit.journeys import NEWS, read, restored, sound
from tests.kit.made_parts import run_with_parts


def test_steps_have_their_own_requests_from_their_own_begin() -> None:
    record = read(sound())
    views = dict(views_of_steps(record, load_view(record, None, None)))
    assert list(views) == ["home", "news", "back"]
    news = views["news"]
    assert news.rows[0].request.url.endswith(NEWS)
    assert [len(view.rows) for view in views.values()] == [3, 3, 3]
    assert all(0 <= row.bars[0].start < 500 for view in views.values() for row in view.rows)
    assert dict(news.events)["load"] == 994.0  # 990 ms of the navigation's, which began 4 ms after it was asked for


def test_a_step_that_asked_for_nothing_is_not_drawn() -> None:
    record = read(restored())
    assert [name for name, _ in views_of_steps(record, load_view(record, None, None))] == ["home", "news"]


def test_a_step_without_a_load_time_has_none() -> None:
    data = sound()
    data["recordings"]["journey"]["steps"][1]["times"]["plt_ms"] = None
    texts = {column.title: column.of((2, read(data).steps[1])) for column in STEPS}
    assert (texts["load ms"], texts["FCP ms"]) == ("-", "310")


def run_of_news(**own: float) -> Run:
    """A run with one step, whose trials have these measures."""
    whole = run_with_parts(rounds=3)
    of_step = {f"{name}@news": value for name, value in own.items() if not name.endswith("_down")}
    of_trial = {name: value for name, value in own.items() if name.endswith("_down")}
    trials = tuple(
        dataclasses.replace(each, measures={**each.measures, "plt_ms@news": 100.0, **of_step, **of_trial})
        for each in whole.trials
    )
    return dataclasses.replace(whole, trials=trials, meta={run_format.JOURNEY: json.dumps(["news"])})


def test_steps_of_a_cell_whose_link_is_refused_have_no_numbers() -> None:
    assert steps_section(Seen(run_of_news(told_packets_down=1000, lost_packets_down=0)))
    assert steps_section(Seen(run_of_news(told_packets_down=1000, lost_packets_down=100))) is None


def table_of(latency_ms: float, censored: float) -> str:
    """The table of a run with one step, whose interactions took so long."""
    section = steps_section(Seen(run_of_news(inp_ms=latency_ms, inp_censored=censored)))
    assert section
    console = Console(width=10_000)
    with console.capture() as capture:
        console.print(on_terminal([section]))
    return " ".join(capture.get().split())


@pytest.mark.parametrize(("latency_ms", "censored", "is_said"), [(16, 1, True), (16, 0, False), (48, 0, False)])
def test_the_table_says_where_interactions_were_too_quick_to_be_told(
    latency_ms: float, censored: float, is_said: bool
) -> None:
    table = table_of(latency_ms, censored)
    assert "INP ms" in table
    assert str(latency_ms) in table
    assert ("browsers do not tell what is shown within 16 ms" in table) is is_said
