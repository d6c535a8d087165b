"""Figures: what is left open is filled in sensibly, and no two cells land on the same spot."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment import Figure
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
    shown = [cell.id for figure in experiment.figures for cell in experiment.cells if figure.shows(cell)]
    assert sorted(shown) == sorted(cell.id for cell in experiment.cells)


REFUSED = [
    ("{x: rt}", "exp.yaml:4: figures.x: cells do not differ in 'rt'. Did you mean rtt?"),
    ("{y: ptl}", "exp.yaml:4: figures.y: 'ptl' is not one of them. Did you mean plt?"),
    ("{z: rtt}", "exp.yaml:4: figures.z: there is no such key"),
    ("{x: rtt, series: rtt}", "exp.yaml:4: figures.x: rtt is used twice in this figure"),
    ("{x: arm, kind: line}", "exp.yaml:4: figures.kind: arm has names, not numbers"),
    ("{x: mtu}", "exp.yaml:4: figures.x: mtu is the same everywhere here"),
    ("{x: delay_down}", "exp.yaml:4: figures.x: not every link has one delay_down"),
    ("{x: rtt, series: arm, facet: none}", "exp.yaml:4: figures.facet: the cells dummy · 1mbit 20ms · http and"),
    (
        "{x: rtt, only: {rate: 1mbit}, series: none, facet: none}",
        "exp.yaml:4: figures.facet: the cells dummy · 1mbit 20ms · http and dummy · 1mbit 20ms · h2",
    ),
    ("{y: chnage}", "exp.yaml:4: figures.y: 'chnage' is not one of them. Did you mean change?"),
    ("{kind: heatmp}", "exp.yaml:4: figures.kind: 'heatmp' is not one of them. Did you mean heatmap?"),
    ("{scale: lgo}", "exp.yaml:4: figures.scale: 'lgo' is not one of them. Did you mean log?"),
    ("{y: change, kind: cdf}", "exp.yaml:4: figures.kind: a cdf draws single trials, and a change is one number"),
    ("{y: change, only: {arm: http}}", "exp.yaml:4: figures.y: a change is one between arms, and no arm here is"),
    ("{kind: parts, y: fcp}", "exp.yaml:4: figures.y: it shows what load times went to, so it has no y"),
    ("{kind: sequence, x: rtt}", "exp.yaml:4: figures.x: it shows the packets of one trial of each cell, so it has no"),
    ("{kind: heatmap, scale: log}", "exp.yaml:4: figures.scale: a heatmap has no scale to choose"),
    (
        "{x: arm, series: rtt, scale: log}",
        "exp.yaml:4: figures.scale: a bar has no scale to choose: lengths begin at 0",
    ),
    ("{kind: heatmap, series: none}", "exp.yaml:4: figures.series: a heatmap has columns and rows"),
    ("{kind: cdf, x: rtt}", "exp.yaml:4: figures.x: a cdf has y along its x axis"),
    ("{only: {rate: 2mbit}}", "exp.yaml:4: figures.only.rate: no cell has rate '2mbit'. Did you mean 1"),
    ("{only: {rate: 2}}", "exp.yaml:4: figures.only.rate: 2 has no unit"),
    ("{only: {arm: htp}}", "exp.yaml:4: figures.only.arm: no cell has arm 'htp'. Did you mean http?"),
    ("{only: {colour: red}}", "exp.yaml:4: figures.only.colour: cells do not differ in 'colour'"),
    ("[{x: rtt}, {x: rtt}]", "exp.yaml:4: figures[1]: this figure is on line 4 already"),
    ("rtt", "exp.yaml:4: figures: this must be a mapping. Write lines of 'key: value' below it with title, x"),
]


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


@pytest.mark.parametrize(("figure", "message"), REFUSED, ids=[case[0] for case in REFUSED])
def test_refuses(figure: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        one(figure)
    assert str(error.value).startswith(message)
