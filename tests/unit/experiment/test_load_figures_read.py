"""Figures of series and claims about one place of a load, as experiment files write them: read strictly."""

import json

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment import Experiment, Figure
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{kind: series}", "which series"),
        ("{kind: series, y: plt}", "no series 'plt'"),
        ("{kind: series, y: users, x: users}", "say nothing"),
        ("{kind: series, y: page_ms, x: user}", "Did you mean users"),
        ("{kind: series, y: page_ms, x: rtt}", "not drawn over 'rtt'"),
        ("{kind: series, y: page_ms, every: 0s}", "holds no point"),
        ("{kind: series, y: page_ms, scale: fit}", "from 0"),
        ("{kind: series, y: users, limit: true}", "limit is of page times"),
        ("{y: requests_per_s, every: 30s}", "every is of a series"),
        ("{y: requests_per_s, kind: bar, limit: true}", "limit is of a series"),
        ("{y: page_ms}", "is a series"),
        ("{kind: series, y: page_ms, published: {points: {h2: {rtt: 3}}}}", "not a duration"),
        ("{kind: series, y: page_ms, x: users, published: {points: {h2: {many: 3}}}}", "no number"),
    ],
)
def test_what_a_figure_of_a_series_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        figure(text)


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


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("series: page_ms", "where it looks"),
        ("series: pages_ms, at: {users: 2}", "Did you mean page_ms"),
        ("series: page_ms, at: {user: 200}", "Did you mean users"),
        ("series: page_ms, at: {users: 200, time: 2min}", "not one place"),
        ("series: page_ms, at: {users: 1001}", "1000 at most"),
        ("series: page_ms, at: {users: 0}", "no number of users"),
        ("series: page_ms, at: {time: 21min}", "1200 s at most"),
        ("series: page_ms, at: {time: soon}", "soon"),
        ("metric: page, at: {users: 2}", "there is none"),
        ("metric: page, series: page_ms, at: {users: 2}", "both"),
    ],
)
def test_what_is_no_place_of_a_load_is_refused(keys: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        claimed(f"{{value: {{of: h2, {keys}}}, published: 3s, margin: 5%}}")
