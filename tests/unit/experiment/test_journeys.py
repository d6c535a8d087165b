"""Experiments with several pages: steps and their names, what is refused, metrics of steps, and what makes a cell."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.record.metrics import metric_named

TEXT = "sites: wiki\nlinks: {{}}\narms: {{a: {}}}\n{}\n"
CLAIM = "claims: {c: {value: {of: a, metric: cls@b}, published: 100, margin: 10}}"


def read(pages: str, arm: str = "{}", more: str = "") -> Experiment:
    return parse_experiment(TEXT.format(arm, f"pages: {pages}\n{more}"), "one.yaml", ["wiki"])


def test_steps_have_names_pages_and_times_to_think() -> None:
    experiment = read("[home, article, {back: true}, {page: article, think: 2s}, {back: true}]", more="think: 3s")
    steps = [(step.name, step.page, step.back, step.think_ms) for step in experiment.journey]
    assert steps == [
        ("home", "home", False, 3000),
        ("article", "article", False, 3000),
        ("back", "home", True, 3000),
        ("article-2", "article", False, 2000),
        ("back-2", "home", True, 3000),
    ]
    assert all(cell.journey == experiment.journey for cell in experiment.cells)


def test_a_journey_is_part_of_what_a_cell_is_and_nothing_else_is() -> None:
    plain = parse_experiment(TEXT.format("{}", ""), "one.yaml", ["wiki"])
    ids = [each.cells[0].id for each in (plain, read("[home, b]"), read("[home, b]", more="think: 9s"))]
    assert len(set(ids)) == 3
    assert "journey" not in plain.cells[0].settings()


@pytest.mark.parametrize(
    ("pages", "arm", "more", "told"),
    [
        ("[home]", "{}", "", r"pages: a journey has 2 to 100 steps, and this has 1"),
        ("[{back: true}, home]", "{}", "", r"no page to go back to"),
        ("[home, home]", "{}", "", r"the page home is there already"),
        ("[home, b, {back: true}, home]", "{}", "", r"the page home is there already"),
        ("[home, {page: b, back: true}]", "{}", "", r"either page or back"),
        ("[home, {page: b, think: 10ms}]", "{}", "", r"think: 10ms is no time to think"),
        ("[{page: home, think: 2s}, b]", "{}", "", r"nothing was loaded before the first step"),
        ("[home, Big]", "{}", "", r"'Big' is no page's name"),
        ("[home, {pag: b}]", "{}", "", r"Did you mean page\?"),
        ("[home, b]", "{start: warm}", "", r"begins with an empty cache"),
        ("[home, b]", "{minify: core}", "", r"minify"),
        ("[home, b]", "{browser: firefox}", "", r"a journey cannot have browser"),
        ("[home, b]", "{}", "trace: on", r"it is recorded of one page load"),
        ("[home, b]", "{}", "vitals: {click: a}", r"vitals.click: it clicks in one page"),
        ("[home, b]", "{}", "vitals: {after: 600ms}\nthink: 1s", r"vitals.after: the next .* 1000 ms .*500ms at most"),
        ("[home, b]", "{}", CLAIM, r"Write vitals: true too"),
        ("[home, b]", "{}", "vitals: true\nfigures: [{y: inp@b}]", r"no inp@b"),
        ("[home, b]", "{}", "figures: [{y: plt@c}]", r"no plt@c"),
    ],
)
def test_what_is_no_journey_is_refused_with_its_line(pages: str, arm: str, more: str, told: str) -> None:
    with pytest.raises(InputError, match=rf"one\.yaml:\d+: .*{told}"):
        read(pages, arm, more)


def test_time_to_think_needs_pages() -> None:
    with pytest.raises(InputError, match=r"one\.yaml:4: think: .*no pages"):
        parse_experiment(TEXT.format("{}", "think: 3s"), "one.yaml", ["wiki"])


def test_figures_and_claims_are_about_steps() -> None:
    claim = "claims: {c: {value: {of: a, metric: plt@b}, published: 100, margin: 10}}\nfigures: [{y: fcp@b}]"
    experiment = read("[home, b]", more=claim)
    assert experiment.claims[0].metric == "plt_ms@b"
    assert experiment.figures[0].y == "fcp@b"
    metric = metric_named("plt@b")
    assert metric is not None
    assert (metric.name, metric.key, metric.unit) == ("plt_ms@b", "plt@b", "ms")
    assert metric_named("connections_reused@b") is not None
    assert metric_named("speed_index@b") is None


def test_steps_have_vitals_where_they_are_asked_for() -> None:
    experiment = read("[home, b]", more=f"vitals: {{after: 200ms}}\n{CLAIM}\nfigures: [{{y: tbt@b}}]")
    assert experiment.claims[0].metric == "cls@b"
    assert experiment.figures[0].y == "tbt@b"
