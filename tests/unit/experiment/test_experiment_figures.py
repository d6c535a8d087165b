"""Figures: what is left open is filled in sensibly, and no two cells land on the same spot."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.figure import Figure
from lanelab.driver.experiment.model import shows
from tests.kit.experiments import ARMS, PATIENT, read

GRID = f"sites: dummy\nlinks: {{rate: [1mbit, 10mbit], rtt: [20ms, 50ms, 100ms]}}\n{ARMS}"


def one(figure: str, text: str = GRID) -> Figure:
    (found,) = read(f"{text}figures: {figure}\n").figures
    return found


def dimensions(figure: Figure) -> tuple[str | None, str | None, str | None, str]:
    return figure.x, figure.series, figure.facet, figure.kind


def test_what_is_left_open_is_filled_in() -> None:
    assert dimensions(one("{y: fcp}")) == ("rtt", "arm", "rate", "line")
    assert one("{y: fcp}").title == "First contentful paint over RTT"
    assert dimensions(one("{x: rate}")) == ("rate", "arm", "rtt", "line")
    assert dimensions(one("{x: arm, series: rtt}")) == ("arm", "rtt", "rate", "bar")
    assert dimensions(one("{x: rtt, facet: arm}")) == ("rtt", "rate", "arm", "line")
    assert dimensions(one("{x: rtt, only: {rate: 10Mbit/s}}")) == ("rtt", "arm", None, "line")
    assert dimensions(one("{kind: cdf, only: {rate: 10mbit, rtt: 0.1s}}")) == (None, "arm", None, "cdf")
    assert dimensions(one("{kind: cdf}")) == (None, "arm", "link", "cdf")
    assert dimensions(one("{x: link, kind: box}")) == ("link", "arm", None, "box")
    assert dimensions(one("{kind: heatmap}")) == ("rtt", "rate", "arm", "heatmap")
    assert dimensions(one("{y: change, kind: heatmap, x: rate}")) == ("rate", "rtt", None, "heatmap")
    assert dimensions(one("{y: change}")) == ("rtt", "arm", "rate", "line")
    assert dimensions(one("{kind: parts, only: {rate: 1mbit}}")) == ("arm", None, "rtt", "parts")
    assert dimensions(one("{kind: sequence, only: {arm: h2}}")) == (None, None, None, "sequence")
    assert [one(f"{{scale: {each}}}").scale for each in ("zero", "fit", "log")] == ["zero", "fit", "log"]
    assert one("{y: fcp}").scale == ""
    assert one("{x: rtt, only: {rate: 10Mbit/s}}").only == (("rate", ("10mbit",)),)


def test_a_figure_reads_back() -> None:
    figure = one("{title: Mine, only: {rate: 10mbit, arm: [http, h2]}}")
    assert Figure.from_json(json.loads(json.dumps(figure.to_json()))) == figure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GRID, [("rtt", "arm", "rate", "line")]),
        (f"sites: dummy\nlinks: {{}}\n{ARMS}", [("arm", None, None, "bar")]),
        (f"sites: [dummy, shop]\nlinks: {{}}\n{ARMS}", [("arm", "site", None, "bar")]),
        (f"sites: [dummy, shop]\nlinks: {{rtt: [1s, 2s]}}\n{ARMS}", [("rtt", "arm", "site", "line")]),
        (f"sites: dummy\nlinks: {{profile: [3g, cable]}}\n{ARMS}", [("rtt", "arm", None, "line")]),
        (
            f"sites: [dummy, shop]\nlinks: {{rtt: [1s, 2s], loss: [0%, 1%]}}\n{ARMS}",
            [("rtt", "arm", "site", "line"), ("rtt", "arm", "site", "line")],
        ),
        (f"sites: dummy\nlinks: {{}}\n{ARMS}cells: [{{arm: http}}, {{link: {{loss: 1%}}, arm: h2}}]\n", None),
    ],
)
def test_there_are_figures_when_none_are_declared(text: str, expected: list[object] | None) -> None:
    figures = read(text).figures
    assert all(figure.y == "plt" and figure.title for figure in figures)
    assert len({figure.title for figure in figures}) == len(figures)
    assert expected is None or [dimensions(figure) for figure in figures] == expected


GRIDS = {
    "rtt": st.lists(st.sampled_from(["20ms", "50ms", "1s"]), min_size=1, unique=True),
    "rate": st.lists(st.sampled_from(["1mbit", "2mbit", "unlimited"]), min_size=1, unique=True),
    "loss": st.lists(st.sampled_from(["0%", "1%"]), min_size=1, unique=True),
    "mtu": st.lists(st.sampled_from(["576", "1500"]), min_size=1, unique=True),
    "profile": st.lists(st.sampled_from(["3g", "cable", "load-test-2013"]), min_size=1, unique=True),
}


@PATIENT
@given(st.fixed_dictionaries({}, optional=GRIDS), st.booleans())
def test_default_figures_show_every_cell_once(grid: dict[str, list[str]], two_sites: bool) -> None:
    if "profile" in grid:  # settings beside it would make some of its links the same
        grid = {"profile": grid["profile"]}
    links = ", ".join(f"{key}: [{', '.join(values)}]" for key, values in grid.items())
    experiment = read(f"sites: [dummy{', shop' if two_sites else ''}]\nlinks: {{{links}}}\n{ARMS}")
    shown = [cell.id for figure in experiment.figures for cell in experiment.cells if shows(figure, cell)]
    assert sorted(shown) == sorted(cell.id for cell in experiment.cells)


LOSSES = f"sites: dummy\nlinks: {{rtt: [20ms, 100ms], rate: 10mbit, loss: [0%, 1%, 2%]}}\n{ARMS}"
ONE_WAY = f"sites: dummy\nlinks: [{{rtt: 50ms}}, {{rtt: 50ms, loss_down: 2%}}]\n{ARMS}"
BURSTS = f"sites: dummy\nlinks: {{loss: [0%, 'ge(p=1%, r=10%)']}}\n{ARMS}"


def test_a_change_has_a_curve_for_each_loss() -> None:
    """The base is not drawn, so it takes no place."""
    assert dimensions(one("{y: change, x: rtt, series: loss}", LOSSES)) == ("rtt", "loss", None, "line")
    assert dimensions(one("{y: change, x: loss, series: rtt, only: {arm: h2}}", LOSSES)) == (
        "loss",
        "rtt",
        None,
        "line",
    )


def test_random_losses_lie_on_an_axis() -> None:
    assert dimensions(one("{x: loss}", LOSSES)) == ("loss", "arm", "rtt", "line")
    assert dimensions(one("{y: fcp}", ONE_WAY)) == ("loss_down", "arm", None, "line")
    assert dimensions(one("{y: fcp}", BURSTS)) == ("arm", "link", None, "bar")


def test_bursts_do_not() -> None:
    with pytest.raises(InputError, match="loss has names, not numbers"):
        one("{x: loss, kind: line}", BURSTS)
