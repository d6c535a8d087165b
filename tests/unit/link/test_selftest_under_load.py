"""What a TCP transfer tells of the first flight and of the queue, with transfers whose truth is known."""

from itertools import pairwise

import pytest
from hypothesis import given

from lanelab.driver.link import Link
from lanelab.driver.link.results import Result
from lanelab.driver.link.selftest import plan
from lanelab.driver.link.selftest.plan import Fill
from lanelab.driver.link.selftest.traffic import Filled
from lanelab.driver.link.selftest.transfer_facts import Case, judge
from tests.kit.links import links

MSS = 1448


def case(settings: dict[str, str] | None = None, fill: Fill | None = None) -> Case:
    link = Link.parse({"rtt": "40ms", "rate": "10mbit", **(settings or {})})
    return Case("down", link, link.down, link.server, fill or plan.fills(link, thorough=True)[0], 1.0)


def filled(asked: Case, *, window: int = 10, depth: float | None = 100, looked_s: float = 0.0001) -> Filled:
    """A transfer in slow start over that link, by a sender with this first window and with a queue this deep; None: it
    never overflows."""
    rtt_s, packet_s = asked.link.rtt.seconds, asked.packet_s or 0.00001
    reads, at, sent, flight = [], 0.0, 0, window
    for _ in range(3):
        reads += [(at + number * packet_s, (sent + number + 1) * MSS) for number in range(flight)]
        sent, flight, at = sent + flight, flight * 2, at + rtt_s
    full_s = rtt_s + (depth or 0) * packet_s
    samples = []
    for step in range(int(asked.fill.seconds / 0.002)):
        now = step * 0.002
        grown = rtt_s + min(now / 2, full_s - rtt_s) if depth else rtt_s + 0.01
        samples.append((now, grown * 1000, int(bool(depth) and now > 2 * full_s)))
    return Filled(rtt_s, MSS, window, looked_s, tuple(reads), tuple(samples))


def results(asked: Case, seen: Filled) -> dict[str, Result]:
    return {result.name: result for result in judge(asked, seen)}


@pytest.mark.parametrize(("window", "verdict"), [(10, "ok"), (9, "out"), (11, "out"), (3, "out"), (20, "out")])
def test_the_first_flight_is_counted_as_it_arrives(window: int, verdict: str) -> None:
    result = results(case(), filled(case(), window=window))["initial window server"]
    assert (result.verdict, result.achieved) == (verdict, window)
    assert "arrived within 32 ms" in result.note


@pytest.mark.parametrize(
    "settings",
    [
        {"rtt": "4ms"},  # too short to tell flights apart by time
        {"rate": "1mbit"},  # the first flight takes three round trips to be sent
        {"loss": "5%"},
        {"queue": "4p"},
        {"jitter": "15ms"},
    ],
)
@pytest.mark.parametrize(("window", "verdict"), [(10, "ok"), (4, "out")])
def test_else_the_kernel_says_what_it_sent_before_any_answer(
    settings: dict[str, str], window: int, verdict: str
) -> None:
    asked = case(settings)
    result = results(asked, filled(asked, window=window))["initial window server"]
    assert (result.verdict, result.achieved) == (verdict, window)
    assert "the sender's kernel" in result.note


def test_where_nothing_tells_the_flights_apart_it_is_not_measured() -> None:
    near = case({"rtt": "1ms"})
    assert results(near, filled(near))["initial window server"].verdict == "not measured"
    late = case({"rtt": "4ms"})
    assert results(late, filled(late, looked_s=0.003))["initial window server"].verdict == "not measured"
    large = case({"initial_window": "100"})
    result = results(large, filled(large))["initial window server"]
    assert (result.verdict, result.note) == ("not measured", "a receiver's first window takes 41 packets at most")


@pytest.mark.parametrize(("depth", "verdict"), [(100, "ok"), (96, "ok"), (75, "out"), (125, "out"), (20, "out")])
def test_a_full_queue_adds_its_depth_to_the_round_trip(depth: int, verdict: str) -> None:
    asked = case()
    result = results(asked, filled(asked, depth=depth))["queue down under TCP"]
    assert result.achieved == pytest.approx(depth, abs=1)
    assert result.verdict == verdict


def test_a_queue_that_does_not_overflow_is_not_measured_unless_it_is_too_deep_already() -> None:
    asked = case()
    assert results(asked, filled(asked, depth=None))["queue down under TCP"].verdict == "not measured"
    seen = filled(asked, depth=400)
    never = Filled(seen.handshake_s, MSS, 10, 0, seen.reads, tuple((at, ms, 0) for at, ms, _ in seen.samples))
    assert results(asked, never)["queue down under TCP"].verdict == "out"


@pytest.mark.parametrize(("standing_ms", "verdict"), [(5, "ok"), (60, "out")])
def test_an_aqm_keeps_what_it_lets_stand_short(standing_ms: float, verdict: str) -> None:
    asked = case({"discipline": "fq_codel"})
    samples = tuple((step * 0.002, 41.2 + standing_ms, 3) for step in range(1500))
    seen = Filled(0.04, MSS, 10, 0.0001, filled(asked).reads, samples)
    assert results(asked, seen)["queue down under TCP"].verdict == verdict


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"loss": "1%"}, "losses"),
        ({"reorder": "1%"}, "losses and overtaking"),
        ({"jitter": "5ms"}, "jitter hides"),
        ({"discipline": "cake"}, "takes 3 s to settle: --thorough waits for it"),
        ({"queue": "1000p"}, "to fill the queues: --thorough waits for it"),
        ({"queue": "5p"}, "holds less than the first 10 packets"),
    ],
)
def test_why_a_queue_is_not_filled(settings: dict[str, str], why: str) -> None:
    link = Link.parse({"rtt": "40ms", "rate": "10mbit", **settings})
    fills = plan.fills(link, thorough=False)
    assert all(why in fill.why_not for fill in fills)
    asked = case(settings, fills[0])
    assert results(asked, filled(asked))["queue down under TCP"].verdict == "not measured"


def test_without_a_rate_there_is_no_queue() -> None:
    asked = case({"rate": "unlimited"})
    assert set(results(asked, filled(asked))) == {"initial window server"}


@given(links())
def test_tcp_takes_no_longer_than_it_may(link: Link) -> None:
    fills = plan.fills(link, thorough=False)
    short_s = 1.3 * link.rtt.seconds + plan.SHORT_FILL_S
    assert all(fill.seconds <= max(plan.FILL_S, short_s) for fill in fills)
    assert sum(fill.seconds for fill in fills if not fill.why_not) <= plan.FILL_S or all(f.why_not for f in fills)


def test_a_deeper_queue_takes_longer() -> None:
    times = [
        plan.fills(Link.parse({"rtt": "40ms", "rate": "10mbit", "queue": f"{depth}p"}), thorough=True)[0].seconds
        for depth in (20, 50, 100, 300)
    ]
    assert all(one < other for one, other in pairwise(times))
