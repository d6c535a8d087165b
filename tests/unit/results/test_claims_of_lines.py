"""Claims about the straight line of a load time over the round trip: how many round trips it costs, what is left
without them, and how well the line fits."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.claims.words import effect_words, published_words
from lanelab.driver.experiment.claim import Claim, ClaimKind, Place, Point
from lanelab.driver.record.evidence.parts import Part
from tests.kit.made_claims import LATE, RTTS, Loads, made_run, noise

NS_PER_MS = 1_000_000


def line_of(trips: Mapping[str, float], rest_ms: float = 800, sd: float = 0.002, bend_ms: float = 0) -> Loads:
    """Loads that take so many round trips, and the rest. `bend_ms`: by how much the one in the middle lies above."""
    factor = noise(sd)

    def of(arm: str, rtt: int, number: int) -> float:
        return (rest_ms + trips[arm] * rtt + bend_ms * (rtt == RTTS[1])) * factor(arm, rtt, number)

    return of


def about(kind: ClaimKind, low: float | None, high: float | None, *, compared: bool = False, side: int = 0) -> Claim:
    points = tuple(
        Point(f"page, {rtt}ms", f"b{rtt}", f"a{rtt}" if compared else None, float(rtt * NS_PER_MS)) for rtt in RTTS
    )
    ends = [end for end in (low, high) if end is not None]
    return Claim(
        name="line", says="", source="", kind=kind, of="b", metric="plt_ms", over="rtt",
        published=() if side else (sum(ends) / len(ends),), margin="", because="", low=low, high=high, side=side,
        at_least=0.01, equivalent=False, quantifier="one", exceptions=0, places=(Place("page", points),),
    )  # fmt: skip


@pytest.mark.parametrize("beds", [1, 3])
@pytest.mark.parametrize(
    ("kind", "low", "high", "verdict", "measured"),
    [
        ("slope", 9.0, 16.0, Verdict.REPRODUCED, 12.4),
        ("slope", 15.0, 20.0, Verdict.NOT_REPRODUCED, 12.4),
        ("intercept", 700.0, 900.0, Verdict.REPRODUCED, 800.0),
        ("intercept", 900.0, 950.0, Verdict.NOT_REPRODUCED, 800.0),
        ("straightness", 0.98, 1.02, Verdict.REPRODUCED, 1.0),
    ],
)
def test_a_line_is_judged_by_what_each_round_says_of_it(
    kind: ClaimKind, low: float, high: float, verdict: Verdict, measured: float, beds: int
) -> None:
    claim = about(kind, low, high)
    (judged,) = judge(made_run(line_of({"a": 17.9, "b": 12.4}), beds=beds, claims=[claim]))
    assert judged.verdict == verdict
    effect = judged.places[0].effect
    assert effect is not None
    assert effect.value == pytest.approx(measured, rel=0.03)
    assert effect.interval_95 is not None
    assert effect.interval_95.low <= effect.value <= effect.interval_95.high


def test_slopes_of_two_arms_are_compared_as_a_ratio() -> None:
    fewer = about("slope", None, 0.99, compared=True, side=-1)
    more = about("slope", 1.01, None, compared=True, side=1)
    run = made_run(line_of({"a": 17.9, "b": 12.4}), claims=[fewer, more])
    lower, higher = judge(run)
    assert lower.verdict == Verdict.REPRODUCED
    assert higher.verdict == Verdict.NOT_REPRODUCED
    effect = lower.places[0].effect
    assert effect is not None
    assert effect.value == pytest.approx(12.4 / 17.9, rel=0.05)
    assert effect_words(fewer, effect.value).startswith("-3")


def test_a_bend_is_not_straight() -> None:
    claim = about("straightness", 0.98, 1.02)
    (judged,) = judge(made_run(line_of({"a": 17.9, "b": 12.4}, bend_ms=200), claims=[claim]))
    assert judged.verdict == Verdict.NOT_REPRODUCED


def test_a_constant_is_a_straight_line_without_round_trips() -> None:
    straight, slope = about("straightness", 0.98, 1.02), about("slope", 9.0, 16.0)
    run = made_run(line_of({"a": 1, "b": 0}, sd=0), claims=[straight, slope])
    assert [each.verdict for each in judge(run)] == [Verdict.REPRODUCED, Verdict.NOT_REPRODUCED]


def test_what_does_not_grow_has_no_ratio() -> None:
    claim = about("slope", None, 0.99, compared=True, side=-1)
    (judged,) = judge(made_run(line_of({"a": -3, "b": 12.4}), claims=[claim]))
    assert judged.verdict == Verdict.NOT_TESTED
    assert "does not grow in every round" in judged.detail


@pytest.mark.parametrize("arms", ["a", "b", "ab"])
def test_a_slope_with_a_time_out_is_not_known(arms: str) -> None:
    """Also where both arms timed out: the rounds that are left would be those in which both were quick."""
    line = line_of({"a": 17.9, "b": 12.4})

    def loads(arm: str, rtt: int, number: int) -> float:
        return LATE if arm in arms and rtt == RTTS[-1] and number <= 4 else line(arm, rtt, number)

    claim = about("slope", None, 0.99, compared=True, side=-1)
    (judged,) = judge(made_run(loads, claims=[claim]))
    assert judged.verdict == Verdict.NOT_TESTED
    assert "timed out" in judged.detail


def test_a_mean_of_slopes_is_unknown_where_one_of_them_falls() -> None:
    """Of no round trips the geometric mean would be none at all."""
    points = about("slope", 9.0, 16.0).places[0].points
    falling = tuple(replace(point, cell=point.cell.replace("b", "a")) for point in points)
    claim = replace(about("slope", 9.0, 16.0), quantifier="mean", places=(Place("both", (*points, *falling)),))
    (judged,) = judge(made_run(line_of({"a": -3, "b": 12.4}), claims=[claim]))
    assert (judged.verdict, judged.places[0].effect) == (Verdict.NOT_TESTED, None)
    assert "the mean of the slopes is not known" in judged.detail
    (judged,) = judge(made_run(line_of({"a": 12.4, "b": 12.4}), claims=[claim]))
    assert judged.verdict == Verdict.REPRODUCED


def test_why_of_a_slope_says_which_round_trips_they_are() -> None:
    trips = {Part.WAIT: 6.0, Part.SLOW_START: 4.4, Part.CONNECT: 2.0}

    def measures(_arm: str, rtt: int, _number: int) -> Mapping[str, float]:
        parts = {part.measure: trips.get(part, 0.0) * rtt for part in Part}
        return parts | {Part.MAIN_THREAD.measure: 800.0}

    claim = about("slope", 9.0, 16.0)
    run = made_run(line_of({"a": 12.4, "b": 12.4}, sd=0), claims=[claim], measures=measures)
    (judged,) = judge(run)
    assert judged.why == "waiting 6.0, slow start 4.4, connecting 2.0; together 12.4 round trips"


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [("slope", 12.43, "12.4 round trips"), ("intercept", 787.2, "787 ms"), ("straightness", 0.9934, "R² 0.993")],
)
def test_numbers_of_lines_have_their_own_units(kind: ClaimKind, value: float, words: str) -> None:
    claim = about(kind, value, value)
    assert effect_words(claim, value) == words
    assert published_words(claim) == f"{words}, margin 0"
