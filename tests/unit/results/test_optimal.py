"""The computed optimal load time: its arithmetic, who has one, and where it is drawn."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.claims.samples import Measured
from lanelab.analysis.results.drawing import draw
from lanelab.analysis.results.model import Failure, Figure, Run, Trial
from lanelab.analysis.results.optimal import with_optimal
from lanelab.analysis.results.optimal_marks import OPTIMUM
from lanelab.analysis.results.report.figures import pictures
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.errors import InputError
from lanelab.driver.link import Link
from lanelab.driver.record.metrics import OPTIMAL, TIMES_OPTIMAL
from tests.kit.experiments import read
from tests.kit.made_run import Made, MadeMachine, make_run

ALONE, SLOW, FAST = {"rtt": "0ms"}, {"rate": "1mbit", "rtt": "120ms"}, {"rate": "25mbit", "rtt": "30ms"}


def made(tmp_path: Path, links: Sequence[Mapping[str, str]] = (ALONE, SLOW, FAST), **changes: Any) -> Run:
    return read_run(make_run(tmp_path / "run", Made(links=links, rounds=4, **changes)))


def by_round(run: Run, cell: int) -> dict[int, Trial]:
    return {trial.round: trial for trial in run.ok if trial.cell.number == cell}


def test_it_is_a_round_trip_the_bytes_at_the_rate_and_the_load_without_a_link(tmp_path: Path) -> None:
    run = made(tmp_path)
    arms = len(run.arms)
    for cell in run.cells[arms:]:
        alone = by_round(run, cell.number - arms * (1 if cell.number <= 2 * arms else 2))
        rtt_ms, bits_per_ms = (120, 1_000) if "1mbit" in cell.link.label else (30, 25_000)
        having = by_round(run, cell.number)
        assert having
        for number, trial in having.items():
            if number not in alone:
                assert OPTIMAL not in trial.measures, "that round has nothing to work it out from"
                continue
            other = alone[number].measures
            expected = rtt_ms + other["bytes_down"] * 8 / bits_per_ms + other["plt_ms"]
            assert trial.measures[OPTIMAL] == pytest.approx(expected, abs=0.01)
            assert trial.measures[TIMES_OPTIMAL] == pytest.approx(trial.measures["plt_ms"] / expected, rel=1e-4)
    assert not any(OPTIMAL in trial.measures for trial in run.trials if trial.cell.link.label == "0ms")


def test_it_is_of_the_machine_that_made_the_trial(tmp_path: Path) -> None:
    """In a sweep the links of a round may be of several machines, which take unlike times without any link."""
    machines = MadeMachine("alder"), MadeMachine("birch", pace=2.0)
    never = lambda _trial, _attempt: False  # noqa: E731 - a field of Made
    run = made(tmp_path, links=(ALONE, SLOW), machines=machines, beds=2, fails=never, trials_on={(1, 1): 2})
    slow = by_round(run, 1 + len(run.arms))
    assert slow[1].machine != by_round(run, 1)[1].machine
    assert OPTIMAL not in slow[1].measures
    assert OPTIMAL in slow[2].measures


def test_without_a_link_that_adds_nothing_there_is_none(tmp_path: Path) -> None:
    run = made(tmp_path, links=(SLOW, FAST))
    assert not any(OPTIMAL in trial.measures for trial in run.trials)
    assert draw(run, Figure(x="rtt", y="plt")).series_names == [arm.name for arm in run.arms]


OTHER_HOSTS = {"initial_window": "3"}


def by_link(run: Run) -> dict[str, list[Trial]]:
    """The trials that have an optimum."""
    having: dict[str, list[Trial]] = {}
    for trial in run.ok:
        if OPTIMAL in trial.measures:
            having.setdefault(trial.cell.link.label, []).append(trial)
    return having


def test_the_link_that_adds_nothing_is_the_one_whose_hosts_are_set_alike(tmp_path: Path) -> None:
    """With other hosts a load takes another time, also without the link."""
    links = (ALONE, {**ALONE, **OTHER_HOSTS}, SLOW, {**SLOW, **OTHER_HOSTS})
    run = made(tmp_path, links=links)
    having, arms = by_link(run), len(run.arms)
    assert having.keys() == {"1mbit 120ms", "1mbit 120ms 3"}, "what adds nothing is not compared with itself"
    for trial in (trial for trials in having.values() for trial in trials):
        other = by_round(run, trial.cell.number - 2 * arms)[trial.round].measures
        expected = 120 + other["bytes_down"] * 8 / 1_000 + other["plt_ms"]
        assert trial.measures[OPTIMAL] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("hosts", [OTHER_HOSTS, {"mtu": "1400"}, {"initial_window_client": "3"}])
def test_a_link_whose_hosts_are_set_otherwise_has_none(tmp_path: Path, hosts: Mapping[str, str]) -> None:
    run = made(tmp_path, links=(ALONE, {**SLOW, **hosts}, FAST))
    assert by_link(run).keys() == {"25mbit 30ms"}


LOST = {"told_packets_down": 2000.0, "lost_packets_down": 200.0, "overflowed_packets_down": 0.0}


def test_what_lost_packets_without_a_link_is_nothing_to_work_it_out_from(tmp_path: Path) -> None:
    """Its cell is refused: these loads waited for what was sent again."""
    run = made(tmp_path)
    refused, *others = run.arms

    def spoilt(trial: Trial) -> Trial:
        plain = {name: value for name, value in trial.measures.items() if name not in (OPTIMAL, TIMES_OPTIMAL)}
        lost = LOST if (trial.cell.link.label, trial.cell.arm) == ("0ms", refused) else {}
        return replace(trial, measures={**plain, **lost})

    found = with_optimal(replace(run, trials=tuple(map(spoilt, run.trials))))
    having = {trial.cell.arm.name for trials in by_link(found).values() for trial in trials}
    assert having == {arm.name for arm in others}


def test_a_load_that_timed_out_took_nobody_knows_how_many_times_its_optimum(tmp_path: Path) -> None:
    """A claim about the others would be about those that were quick."""
    run = made(tmp_path)
    late = next(trial for trial in run.ok if TIMES_OPTIMAL in trial.measures)
    over = replace(late, ok=False, value=None, failures=(Failure("timeout", "60 s"),))
    with_late = replace(run, trials=tuple(over if trial is late else trial for trial in run.trials))
    measured = Measured.of(with_late, TIMES_OPTIMAL)
    others = {trial.cell.id for trials in by_link(run).values() for trial in trials} - {late.cell.id}
    assert "timed out" in measured.lacks([late.cell.id])
    assert others
    assert measured.lacks(sorted(others)) == ""


@pytest.mark.parametrize("more", [{"jitter": "5ms"}, {"outage": "500ms every 10s"}, {"cross": "2 cubic down"}])
def test_a_link_that_is_no_one_number_has_none(tmp_path: Path, more: Mapping[str, str]) -> None:
    run = made(tmp_path, links=(ALONE, {**SLOW, **more}, FAST))
    having = {trial.cell.link.label for trial in run.trials if OPTIMAL in trial.measures}
    assert having == {"25mbit 30ms"}


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ({}, True),
        ({"rtt": "0ms"}, True),
        ({"initial_window": 3, "mtu": 1400}, True),  # of the hosts
        ({"rtt": "20ms"}, False),
        ({"rate": "100mbit"}, False),
        ({"loss_up": "1%"}, False),
        ({"path": "direct"}, False),
    ],
)
def test_which_links_add_nothing(link: Mapping[str, object], expected: bool) -> None:
    assert Link.parse(link).adds_nothing is expected


def test_it_is_a_line_beside_those_of_the_arms(tmp_path: Path) -> None:
    run = made(tmp_path)
    figure = Figure(x="rtt", y="plt", series="arm", kind="line", only=(("rtt", ("30ms", "120ms")),))
    drawing = draw(run, figure)
    (panel,) = drawing.panels
    line = next(series for series in panel.series if series.name == OPTIMUM)
    assert [point.x for point in line.points] == [30, 120]
    first = run.arms[0].name
    assert drawing.optimal == first
    for point in line.points:
        assert point.label.endswith(first)
        assert point.mark.middle < min(
            other.mark.middle
            for series in panel.series
            if series.name == first
            for other in series.points
            if other.x == point.x
        ), "the made loads are slower than their optimum"
    assert OPTIMUM in json.dumps(chart(drawing))


def test_it_is_a_row_beside_those_of_the_arms(tmp_path: Path) -> None:
    run = made(tmp_path)
    drawing = draw(run, Figure(x="arm", y="plt", facet="link", kind="bar"))
    rows = {panel.name: [point.text for series in panel.series for point in series.points] for panel in drawing.panels}
    names = [arm.name for arm in run.arms]
    assert rows == {"0ms": names, "1mbit 120ms": [*names, OPTIMUM], "25mbit 30ms": [*names, OPTIMUM]}
    assert OPTIMUM in json.dumps(chart(drawing))


@pytest.mark.parametrize("figure", [Figure(y="fcp"), Figure(y="change"), Figure(y="plt", kind="box", x="arm")])
def test_other_figures_do_not_have_it(tmp_path: Path, figure: Figure) -> None:
    assert draw(made(tmp_path), figure).optimal == ""


def test_the_ratio_can_be_drawn(tmp_path: Path) -> None:
    drawing = draw(made(tmp_path), Figure(x="rtt", y=TIMES_OPTIMAL, only=(("rtt", ("30ms", "120ms")),)))
    assert OPTIMUM not in drawing.series_names
    assert all(1 < point.mark.middle < 10 for point in drawing.points())


def test_a_figure_of_a_report_has_it(tmp_path: Path) -> None:
    assert any(drawing.optimal for drawing, _ in pictures(made(tmp_path)))


EXPERIMENT = """
sites: dummy
links: {links}
arms: {{http: {{}}, h2: {{protocol: h2, tls: 1.3}}}}
trials: 2
{more}
"""


@pytest.mark.parametrize(
    "more",
    [
        "figures: [{x: rtt, y: times_optimal}]",
        "claims: {far: {value: {of: http, metric: optimal}, published: 10ms, margin: 10%}}",
    ],
)
@pytest.mark.parametrize(
    "links", ["{rtt: [20ms, 100ms]}", "{rtt: 0ms}", "[{rtt: 0ms}, {rtt: 20ms, initial_window: 3}]"]
)
def test_what_needs_it_is_refused_without_such_a_link(links: str, more: str) -> None:
    with pytest.raises(InputError, match=re.escape("adds nothing")):
        read(EXPERIMENT.format(links=links, more=more))
