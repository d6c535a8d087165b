"""Figures of series and claims about one place of a load, as experiment files write them: read strictly."""

import json

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.figure import Figure
from lanelab.driver.experiment.model import Experiment
from tests.kit.experiments import ARMS, read

LOAD = f"""\
workload: {{kind: load, script: page, users: {{from: 1, to: 1000, over: 20min}}, think: 5s, limit: 3s}}
sites: dummy
links: {{}}
{ARMS}"""
LOADED = f"{LOAD}trials: 6\n"


def figure(text: str, of: str = LOAD) -> Figure:
    (found,) = read(f"{of}figures: {text}\n").figures
    return found


def claimed(text: str, of: str = LOADED) -> Experiment:
    return read(f"{of}claims: {{a: {text}}}\n")


def test_a_figure_of_a_series_is_read() -> None:
    found = figure(
        "{kind: series, y: page_ms, x: users, every: 30s, limit: true, published: {points: {h2: {120: 1400}}}}"
    )

    assert [found.kind, found.x, found.y, found.series] == ["series", "users", "page_ms", "arm"]
    assert (found.every_s, found.limit_ms) == (30, 3000)
    assert found.published
    assert list(found.published.points) == [("h2", "120", 1400)]
    assert found.title == "Page response time over users"
    assert Figure.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_time_is_what_a_series_is_over_unless_another_is_named() -> None:
    found = figure("{kind: series, y: workers_busy, published: {points: {h2: {3min: 600, 90: 300}}}}")

    assert (found.x, found.every_s, found.limit_ms) == ("time", None, None)
    assert found.published
    assert [x for _, x, _ in found.published.points] == ["180", "90"]


PAGES = f"sites: dummy\nlinks: {{}}\n{ARMS}"


def test_other_workloads_have_no_series() -> None:
    with pytest.raises(InputError, match="have no series"):
        figure("{kind: series, y: page_ms}", PAGES)
    with pytest.raises(InputError, match="have no series"):
        claimed("{value: {of: h2, series: page_ms, at: {users: 2}}, published: 3s, margin: 5%}", f"{PAGES}trials: 6\n")


def test_a_limit_needs_one_in_the_load() -> None:
    with pytest.raises(InputError, match="have no limit"):
        figure("{kind: series, y: page_ms, limit: true}", LOAD.replace(", limit: 3s", ", limit: 0s"))


def test_claims_about_one_place_are_read() -> None:
    (value,) = claimed("{value: {of: h2, series: page_ms, at: {users: 200}}, published: 7.1s, margin: 20%}").claims
    assert (value.metric, value.published) == ("page_ms@users=200", (7100,))
    (change,) = claimed("{change: {of: h2, to: http, series: pages_per_s, at: {time: 2min}}, expect: lower}").claims
    assert change.metric == "pages_per_s@time=120"
    growth = "{of: h2, to: http, series: workers_busy, at: {users: 88}, since: {users: 38}}"
    (grown,) = claimed(f"{{change: {growth}, expect: lower}}").claims
    assert grown.metric == "workers_busy@users=38-88"
