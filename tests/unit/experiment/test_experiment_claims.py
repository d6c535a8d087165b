"""Claims of experiment files: whatever reads can be judged, and every mistake is named with its line and key."""

import json
import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.claim import Claim, digest_of
from lanelab.driver.experiment.model import Experiment
from tests.kit.complaints import complaints
from tests.kit.experiments import ARMS, PATIENT, SMALL, read

GRID = f"sites: [dummy, shop]\nlinks: {{rate: [1mbit, 10mbit], rtt: [20ms, 50ms, 100ms]}}\n{ARMS}"
ONE = "where: {rtt: 20ms}"
CHANGE = "change: {of: h2, to: http}"
VALUE = "value: {of: h2, metric: requests}"


def claims(*lines: str, base: str = SMALL) -> str:
    return base + "claims:\n" + "".join(f"  {line}\n" for line in lines)


def claim(settings: str) -> Claim:
    (one,) = read(claims(f"a: {{{settings}}}")).claims
    return one


# --- regions


@pytest.mark.parametrize(
    ("settings", "low", "high", "side"),
    [
        (f"{CHANGE}, published: -39%, margin: 8pp, {ONE}", 0.53, 0.69, -1),
        (f"{CHANGE}, published: [-8%, -3%], margin: 2 pp, {ONE}", 0.90, 0.99, -1),
        (f"{CHANGE}, published: +10%, margin: 2.5points, {ONE}", 1.075, 1.125, 1),
        (f"{CHANGE}, equivalent: 5%, {ONE}", 0.95, 1.05, 0),
        (f"{CHANGE}, expect: lower, at_least: 5%, {ONE}", None, 0.95, -1),
        (f"{CHANGE}, expect: higher, {ONE}", 1.01, None, 1),
        (f"{CHANGE}, expect: not lower, at_least: 5%, {ONE}", 0.95, None, 0),
        (f"{CHANGE}, expect: not higher, {ONE}", None, 1.01, 0),
        (f"value: {{of: h2}}, published: 1.2s, margin: 100ms, {ONE}", 1100, 1300, 0),
        (f"value: {{of: h2, metric: bytes}}, published: 1MB, margin: 5%, {ONE}", 950_000, 1_050_000, 0),
        (f"value: {{of: h2, metric: bytes}}, published: 20, margin: 1, {ONE}", 19_000, 21_000, 0),
        (f"value: {{of: h2, metric: cpu_busy}}, published: 50%, margin: 10%, {ONE}", 0.45, 0.55, 0),
        (f"{VALUE}, published: 24, margin: 0, {ONE}", 24, 24, 0),
        (f"{VALUE}, published: 1, margin: 2, {ONE}", 0, 3, 0),
    ],
)
def test_what_counts_as_reproduced(settings: str, low: float | None, high: float | None, side: int) -> None:
    made = claim(settings)
    assert made.low == (None if low is None else pytest.approx(low))
    assert made.high == (None if high is None else pytest.approx(high))
    assert made.side == side


def test_a_place_is_chosen_by_its_queue_in_any_writing() -> None:
    base = f"sites: dummy\nlinks: {{rate: 10mbit, rtt: 20ms, queue: [20p, 64kB]}}\n{ARMS}"
    for written, there in (("20 packets", "20p"), ("64000B", "64kB")):
        (one,) = read(claims(f"a: {{{CHANGE}, expect: lower, where: {{queue: {written}}}}}", base=base)).claims
        assert [place.words for place in one.places] == [f"dummy, queue {there}"]


def test_places_may_differ_in_the_setting_of_one_side() -> None:
    """Where one of them has the other side's value, too, a link prints one for both."""
    base = f"sites: dummy\nlinks: {{rtt: 20ms, initial_window_server: [3, 10]}}\n{ARMS}"
    (one,) = read(claims(f"a: {{{CHANGE}, expect: lower, for: every initial_window_server}}", base=base)).claims
    assert len(one.places) == 2


def test_a_mean_has_one_place_with_the_points_of_all() -> None:
    base = f"sites: dummy\nlinks: {{rtt: [20ms, 50ms, 100ms], rate: [1mbit, 10mbit]}}\n{ARMS}"
    gain = f"a: {{{CHANGE}, expect: lower, for: mean place}}"
    trend = "t: {trend: {change_of: a, over: rtt}, expect: decreasing, for: mean rate}"
    over_all, grows = read(claims(gain, trend, base=base)).claims
    assert [place.words for place in over_all.places] == ["on average over 6 places"]
    assert [len(points) for points in over_all.shares_of(over_all.places[0])] == [1] * 6
    assert [place.words for place in grows.places] == ["on average over 2 places"]
    assert [[point.x for point in points] for points in grows.shares_of(grows.places[0])] == [[2e7, 5e7, 1e8]] * 2


# --- mistakes: tests/bad/experiments/claims.yaml

FINE = f"published: -39%, margin: 8pp, {ONE}"


def test_a_trend_goes_over_random_losses() -> None:
    links = "links: {rtt: [20ms, 100ms], rate: 10mbit, loss: [0%, 2%, 1%]}"
    text = f"sites: dummy\n{links}\n{ARMS}claims:\n  a: {{{CHANGE}, expect: lower, for: every place}}\n"
    trend = read(f"{text}  t: {{trend: {{change_of: a, over: loss}}, expect: decreasing, for: every rtt}}\n").claims[1]
    assert [[point.x for point in place.points] for place in trend.places] == [[0, 10_000_000, 20_000_000]] * 2


def test_a_mean_of_trends_has_a_trend_of_each_place() -> None:
    """Also where one place has round trips above all of another's."""
    links = "links: [{rate: 1mbit, rtt: [20ms, 40ms]}, {rate: 10mbit, rtt: [60ms, 80ms]}]"
    text = f"sites: dummy\n{links}\n{ARMS}claims:\n  a: {{{CHANGE}, expect: lower, for: every place}}\n"
    (_, mean) = read(f"{text}  t: {{trend: {{change_of: a, over: rtt}}, expect: decreasing, for: mean place}}\n").claims
    (place,) = mean.places
    shares = [[point.x for point in points] for points in mean.shares_of(place)]
    assert sorted(shares) == [[2e7, 4e7], [6e7, 8e7]]


def test_places_are_named_by_what_tells_them_apart() -> None:
    """A trend over the round trip at each loss: the rate alone would name two places alike."""
    links = "links: {rtt: [20ms, 100ms], rate: 10mbit, loss: [0%, 2%]}"
    text = f"sites: dummy\n{links}\n{ARMS}claims:\n  a: {{{CHANGE}, expect: lower, for: every place}}\n"
    trend = "t: {trend: {change_of: a, over: rtt}, expect: decreasing"
    (_, each) = read(f"{text}  {trend}, for: every loss}}\n").claims
    assert [place.words for place in each.places] == ["dummy, 10mbit, loss 0%", "dummy, 10mbit, loss 2%"]
    (_, one) = read(f"{text}  {trend}, where: {{loss: 2%}}}}\n").claims
    assert [place.words for place in one.places] == ["dummy, 10mbit"]


def test_a_trend_goes_over_the_losses_of_one_direction() -> None:
    """A link without losses has none in either direction."""
    links = "links: [{rtt: 50ms}, {rtt: 50ms, loss_down: 1%}, {rtt: 50ms, loss_down: 2%}]"
    text = f"sites: dummy\n{links}\n{ARMS}claims:\n  a: {{{CHANGE}, expect: lower, for: every place}}\n"
    (place,) = read(f"{text}  t: {{trend: {{change_of: a, over: loss_down}}, expect: decreasing}}\n").claims[1].places
    assert [point.x for point in place.points] == [0, 10_000_000, 20_000_000]


def test_bursts_are_no_numbers() -> None:
    links = "links: {loss: [0%, 'ge(p=1%, r=10%)']}"
    text = f"sites: dummy\n{links}\n{ARMS}claims:\n  a: {{{CHANGE}, expect: lower, for: every place}}\n"
    with pytest.raises(InputError, match=r"claims.t: loss has no single number at loss ge\(p=1%"):
        read(f"{text}  t: {{trend: {{change_of: a, over: loss}}, expect: decreasing}}\n")


def test_a_trend_over_its_own_setting_has_no_places_to_count() -> None:
    text = claims(
        f"a: {{{CHANGE}, {FINE}}}", "t: {trend: {change_of: a, over: rtt}, expect: decreasing, for: every rtt}"
    )
    with pytest.raises(InputError, match=r"exp.yaml:6: claims.t.for: one place of a trend over rtt has all values of"):
        read(text)


def test_a_slope_is_read_beside_a_link_whose_directions_differ() -> None:
    """It has two delays, and no one round trip."""
    links = "links: [{delay_down: 10ms, delay_up: 30ms}, {rtt: [20ms, 50ms, 100ms]}]"
    line = "a: {slope: {of: h2, over: rtt}, published: 12, margin: 30%, where: {rtt: [20ms, 50ms, 100ms]}}"
    (one,) = read(claims(line, base=f"sites: dummy\n{links}\n{ARMS}")).claims
    assert [point.x for point in one.places[0].points] == [2e7, 5e7, 1e8]


def test_arms_that_are_not_interleaved_are_not_paired() -> None:
    with pytest.raises(InputError, match=r"exp.yaml:5: claims.a: with order: sequential arms are not interleaved"):
        read(claims(f"a: {{{CHANGE}, {FINE}}}") + "order: sequential\n")
    assert read(claims(f"a: {{{VALUE}, published: 24, margin: 0, {ONE}}}") + "order: sequential\n").claims


def test_a_mean_is_of_one_round_and_so_has_to_be_interleaved() -> None:
    """Of counts, too: a run could not judge it."""
    base = f"sites: dummy\nlinks: {{rtt: [20ms, 50ms]}}\n{ARMS}"
    count = f"a: {{{VALUE}, published: 24, margin: 0, for: %s place}}"
    assert read(claims(count % "every", base=base) + "order: sequential\n").claims
    with pytest.raises(InputError, match=r"claims\.a: with order: sequential arms are not interleaved"):
        read(claims(count % "mean", base=base) + "order: sequential\n")


def test_a_metric_of_a_capture_needs_one() -> None:
    text = claims(f"a: {{value: {{of: h2, metric: bytes_down}}, published: 1MB, margin: 5%, {ONE}}}")
    assert read(text).claims
    with pytest.raises(InputError, match=r"will have bytes_down. Write capture: client too"):
        read(f"{text}capture: off\n")
    assert read(f"{text}capture: [client, server]\n").claims
    with pytest.raises(InputError, match=r"Write capture: client too"):
        read(f"{text}capture: server\n")


def test_a_place_without_the_other_arm_is_named() -> None:
    cells = "cells: [{link: {rtt: 20ms}, arm: [http, h2]}, {link: {rtt: 30ms}, arm: h2}]\n"
    base = f"sites: dummy\n{ARMS}{cells}"
    with pytest.raises(InputError, match=r"claims.a: at dummy, 30ms there is no http to compare h2 with"):
        read(claims(f"a: {{{CHANGE}, expect: lower, for: every rtt}}", base=base))
    assert len(read(claims(f"a: {{{CHANGE}, expect: lower, {ONE}}}", base=base)).claims[0].places) == 1


# --- whatever reads can be judged

METRICS = st.sampled_from(["plt", "requests", "retransmissions", "cpu_busy", "part_wait"])
WHERES: Mapping[str, st.SearchStrategy[str]] = {
    "site": st.sampled_from(["dummy", "shop"]),
    "rate": st.sampled_from(["1mbit", "10mbit", "10000kbit"]),
    "rtt": st.sampled_from(["20ms", "50ms", "100ms", "0.1s"]),
}
FORS = st.sampled_from(
    ["every", "any", "all but 1", "every rtt", "any site", "all but 1 rate", "every place", "mean", "mean rtt"]
)


@st.composite
def made_claims(draw: st.DrawFn) -> dict[str, dict[str, object]]:
    """A claim of any kind and a trend of it; not each can be."""
    kind = draw(st.sampled_from(["change", "value", "spike"]))
    parts: dict[str, object] = {"of": "h2", "metric": draw(METRICS)}
    parts |= {"to": "http"} if kind == "change" else {"over": "rtt", "at": "50ms"} if kind == "spike" else {}
    where = draw(st.fixed_dictionaries({}, optional=dict(WHERES)))
    entry: dict[str, object] = {kind: parts, "where": where} if where else {kind: parts}
    entry |= draw(st.fixed_dictionaries({}, optional={"for": FORS, "says": st.just("words"), "because": st.just("it")}))
    number = draw(st.integers(-99, 200))
    changes: list[dict[str, object]] = [
        {"published": f"{number}%", "margin": f"{draw(st.integers(0, 60))}pp"},
        {"expect": draw(st.sampled_from(["lower", "higher", "not lower"])), "at_least": f"{draw(st.integers(0, 99))}%"},
        {"equivalent": f"{draw(st.integers(1, 99))}%"},
    ]
    value: dict[str, object] = {"published": abs(number), "margin": f"{draw(st.integers(0, 99))}%"}
    entry |= value if kind == "value" else draw(st.sampled_from(changes))
    if kind == "spike" or draw(st.booleans()):
        return {"one": entry}
    over = draw(st.sampled_from(["rtt", "rate"]))
    trend: dict[str, object] = {"trend": {f"{kind}_of": "one", "over": over}, "expect": "increasing", "for": "every"}
    return {"one": entry, "grows": trend}


def written(made: Mapping[str, object], base: str = GRID) -> str:
    return f"{base}claims: {json.dumps(made)}\n"


def readable(text: str) -> Experiment | None:
    try:
        return read(text)
    except InputError:
        return None


@PATIENT
@given(made_claims())
def test_what_reads_has_places_that_exist_and_is_valid_for_editors(made: dict[str, dict[str, object]]) -> None:
    experiment = readable(written(made))
    if experiment is None:
        return
    assert complaints(written(made)) == []
    cells = {cell.id: cell for cell in experiment.cells}
    for one in experiment.claims:
        assert one.places
        assert one.low is None or one.high is None or 0 <= one.low <= one.high
        assert one.quantifier != "one" or len(one.places) == 1
        for place in one.places:
            for points in one.shares_of(place):
                xs = [point.x for point in points]
                assert xs == sorted(xs, key=lambda x: x or 0)
            for point in place.points:
                assert cells[point.cell].arm.name == "h2"
                assert point.base is None or cells[point.base].arm.name == "http"
                assert point.base is None or cells[point.base].link == cells[point.cell].link
        assert Claim.from_json(one.to_json()) == one


def shuffled(value: object, order: random.Random) -> object:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    order.shuffle(keys)
    return {key: shuffled(value[key], order) for key in keys}


@PATIENT
@given(made_claims(), st.integers(0, 1000))
def test_the_order_of_keys_means_nothing(made: dict[str, dict[str, object]], seed: int) -> None:
    first = readable(written(made))
    other = {name: shuffled(entry, random.Random(seed)) for name, entry in made.items()}
    again = readable(written(other))
    assert (first is None) == (again is None)
    if first and again:
        assert digest_of(first.claims) == digest_of(again.claims)


# --- the digest

PLAIN = f"a: {{says: one, source: two, because: three, {CHANGE}, published: -39%, margin: 8pp, at_least: 1%, {ONE}}}"
EDITS = [
    ("a: {", "b: {"),
    ("one", "other"),
    ("two", "other"),
    ("three", "other"),
    ("of: h2, to: http", "of: http, to: h2"),
    ("http}", "http, metric: bytes}"),
    ("-39%", "-38%"),
    ("8pp", "7pp"),
    ("at_least: 1%", "at_least: 2%"),
    ("20ms}", "100ms}"),
    (ONE, "for: every rtt"),
    (ONE, "for: any rtt"),
    ("published: -39%, margin: 8pp", "expect: lower"),
    ("published: -39%, margin: 8pp", "expect: not lower"),
    ("published: -39%, margin: 8pp, at_least: 1%", "equivalent: 5%"),
]


@pytest.mark.parametrize(("this", "that"), EDITS, ids=[that for _, that in EDITS])
def test_each_edit_of_a_claim_changes_the_digest(this: str, that: str) -> None:
    assert this in PLAIN
    edited = claims(PLAIN.replace(this, that, 1))
    assert digest_of(read(claims(PLAIN)).claims) != digest_of(read(edited).claims)


@pytest.mark.parametrize(
    "more",
    [
        "trials: 9\n",
        "description: other words\n",
        "seed: 4\n",
        "name: other\n",
        "figures: {x: rtt, kind: box}\n",
        "compare: {h2: http}\n",
        "screenshot: true\n",
        "# a comment\n",
        "capture: [client, server]\n",
        "variants: {today: {description: nothing else}}\n",
    ],
)
def test_nothing_else_changes_the_digest(more: str) -> None:
    assert digest_of(read(claims(PLAIN)).claims) == digest_of(read(claims(PLAIN) + more).claims)
