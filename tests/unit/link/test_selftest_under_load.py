"""What TCP tells of the first flight and of the queue, with transfers whose truth is known."""

import pytest
from hypothesis import given

from lanelab.driver.link import HEADER, Link
from lanelab.driver.link.results import Result
from lanelab.driver.link.selftest import plan
from lanelab.driver.link.selftest.plan import Fill, Flights
from lanelab.driver.link.selftest.traffic import Filled, FirstFlight, Flown, flown
from lanelab.driver.link.selftest.transfer_facts import Case, judge
from tests.kit.links import links

MSS = 1448


def case(settings: dict[str, str] | None = None, *, thorough: bool = False) -> Case:
    link = Link.parse({"rtt": "40ms", "rate": "10mbit", **(settings or {})})
    return Case("down", link, link.down, link.server, plan.under_tcp(link, thorough=thorough)[0], 1.0)


def flights_of(asked: Case) -> Flights:
    assert isinstance(asked.sends, Flights)
    return asked.sends


def flew(asked: Case, *, window: int = 10, depth: float = 100, looked_s: float = 0.0001, slower: float = 1.0) -> Flown:
    """Flights over that link, by a sender with this first window, through a queue this deep."""
    flights = flights_of(asked)
    packet_s, delay_s = (asked.packet_s or 0.00001) * slower, asked.way.delay.seconds
    leaves_s, sent_ns, reads = 0.0, [], []
    waiting: list[float] = []
    for number in range(flights.count):
        at = number * flights.gap_us / 1e6
        sent_ns.append(round(at * 1e9))
        marks: list[tuple[int, int]] = []
        whole = True
        for packet in range(window if number == 0 else min(window, flights.window)):
            waiting = [each for each in waiting if each > at]
            whole = whole and len(waiting) < depth
            if len(waiting) >= depth:
                continue
            leaves_s = max(leaves_s, at) + packet_s
            waiting.append(leaves_s)
            if whole:
                marks.append((round((leaves_s + delay_s) * 1e9), (packet + 1) * MSS))
        reads.append(marks)
    second = [(reads[0][0][0] + round(asked.link.rtt.seconds * 1e9), reads[0][-1][1] + MSS)]
    return flown(
        flights.window, {"mss": MSS, "flight": window, "looked_s": looked_s}, sent_ns, [reads[0] + second, *reads[1:]]
    )


def filled(asked: Case, *, depth: float | None = 100) -> Filled:
    """A transfer that fills a queue this deep; None: it never overflows."""
    assert isinstance(asked.sends, Fill)
    rtt_s = asked.link.rtt.seconds
    full_s = rtt_s + (depth or 0) * asked.packet_s
    samples = []
    for now in (step * 0.002 for step in range(int(asked.sends.seconds / 0.002))):
        grown = rtt_s + min(now / 2, full_s - rtt_s) if depth else rtt_s + asked.packet_s
        samples.append((now, grown * 1000, int(bool(depth) and now > 2 * full_s)))
    return Filled(FirstFlight(MSS, 10, 0.0001, ((0.0, 10 * MSS),)), tuple(samples))


def results(asked: Case, seen: Flown | Filled) -> dict[str, Result]:
    return {result.name: result for result in judge(asked, seen)}


@pytest.mark.parametrize(("window", "verdict"), [(10, "ok"), (9, "out"), (11, "out"), (3, "out"), (20, "out")])
def test_the_first_flight_is_counted_as_it_arrives(window: int, verdict: str) -> None:
    result = results(case(), flew(case(), window=window))["initial window server"]
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
    result = results(asked, flew(asked, window=window))["initial window server"]
    assert (result.verdict, result.achieved) == (verdict, window)
    assert "the sender's kernel" in result.note


def test_where_nothing_tells_the_flights_apart_it_is_not_measured() -> None:
    near = case({"rtt": "1ms"})
    assert results(near, flew(near))["initial window server"].verdict == "not measured"
    late = case({"rtt": "4ms"})
    assert results(late, flew(late, looked_s=0.003))["initial window server"].verdict == "not measured"
    large = case({"initial_window": "100"})
    result = results(large, flew(large))["initial window server"]
    assert (result.verdict, result.note) == ("not measured", "a receiver's first window takes 41 packets at most")


DEPTHS = [(100, "ok"), (96, "ok"), (75, "out"), (125, "out"), (20, "out"), (400, "out")]


@pytest.mark.parametrize("settings", [{}, {"rate": "3mbit"}, {"initial_window": "2"}, {"initial_window": "32"}])
@pytest.mark.parametrize(("depth", "verdict"), DEPTHS)
def test_flights_wait_for_as_long_as_the_queue_is_deep(settings: dict[str, str], depth: int, verdict: str) -> None:
    asked = case(settings)
    result = results(asked, flew(asked, window=asked.host.initial_window, depth=depth))["queue down under TCP"]
    assert result.verdict == verdict
    if depth <= 100:
        assert result.achieved == pytest.approx(depth, abs=2.5)


@pytest.mark.parametrize(("depth", "verdict"), DEPTHS)
def test_flights_end_where_the_receiver_takes_no_more(depth: int, verdict: str) -> None:
    """Else what is left of them comes a round trip later, as if it had waited in the queue."""
    asked = case({"initial_receive_window_client": "4"})
    assert flights_of(asked).window == 4
    found = results(asked, flew(asked, window=4, depth=depth))
    assert found["queue down under TCP"].verdict == verdict
    first = found["initial window server"]
    assert (first.verdict, first.note) == ("not measured", "a receiver's first window takes 4 packets at most")


def test_a_first_window_that_is_no_smaller_changes_no_flight() -> None:
    way = {"initial_window": "3", "initial_receive_window_client": "4", "initial_receive_window_server": "2"}
    assert case(way).sends == case({"initial_window": "3"}).sends


def test_a_queue_of_larger_packets_than_asked_is_out() -> None:
    """A sender whose packets leave its machine uncut: the queue counts one where ten are meant."""
    asked = case()
    result = results(asked, flew(asked, slower=1.5))["queue down under TCP"]
    assert result.verdict == "out"


def test_flights_of_which_nothing_comes_are_out() -> None:
    asked = case()
    seen = flew(asked)
    none = Flown(seen.first, (0.0, *[None] * (len(seen.waits_s) - 1)))
    assert results(asked, none)["queue down under TCP"].verdict == "out"


def test_a_packet_that_was_sent_again_tells_no_wait() -> None:
    """The last one of a flight is, when nothing is heard of it."""
    packet, first = 1_200_000, {"mss": MSS, "flight": 3, "looked_s": 0.0}
    reads = [[(packet * (1 + n), (n + 1) * MSS) for n in range(3)], [(5 * packet, 2 * MSS), (400 * packet, 3 * MSS)]]
    assert flown(3, first, [0, packet], reads).waits_s == (packet / 1e9, 3 * packet / 1e9)  # type: ignore[arg-type]


FAST = {"rate": "200mbit", "queue": "200p"}


@pytest.mark.parametrize(("depth", "verdict"), [(200, "ok"), (40, "out"), (300, "out")])
def test_a_queue_that_no_burst_overflows_adds_its_depth_to_the_round_trip(depth: int, verdict: str) -> None:
    asked = case(FAST)
    result = results(asked, filled(asked, depth=depth))["queue down under TCP"]
    assert result.verdict == verdict


def test_a_queue_that_does_not_overflow_is_not_measured_unless_it_is_too_deep_already() -> None:
    asked = case(FAST)
    assert results(asked, filled(asked, depth=None))["queue down under TCP"].verdict == "not measured"
    seen = filled(asked, depth=800)
    never = Filled(seen.first, tuple((at, ms, 0) for at, ms, _ in seen.samples))
    assert results(asked, never)["queue down under TCP"].verdict == "out"


@pytest.mark.parametrize(("standing_ms", "verdict"), [(5, "ok"), (60, "out")])
def test_an_aqm_keeps_what_it_lets_stand_short(standing_ms: float, verdict: str) -> None:
    asked = case({"discipline": "fq_codel"}, thorough=True)
    samples = tuple((step * 0.002, 41.2 + standing_ms, 3) for step in range(1500))
    seen = Filled(FirstFlight(MSS, 10, 0.0001, ()), samples)
    assert results(asked, seen)["queue down under TCP"].verdict == verdict


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"loss": "1%"}, "losses"),
        ({"reorder": "1%"}, "losses and overtaking"),
        ({"jitter": "5ms"}, "jitter hides"),
        ({"discipline": "cake"}, "takes 3 s to settle: --thorough waits for it"),
        ({"queue": "1000p"}, "a full queue takes 1.2 s to drain: --thorough waits for it"),
        ({"queue": "5p"}, "holds less than the first 10 packets"),
    ],
)
def test_why_a_queue_is_not_filled(settings: dict[str, str], why: str) -> None:
    asked = case(settings)
    assert why in flights_of(asked).why_not
    assert results(asked, flew(asked))["queue down under TCP"].verdict == "not measured"


def test_without_a_rate_there_is_no_queue() -> None:
    asked = case({"rate": "unlimited"})
    assert set(results(asked, flew(asked))) == {"initial window server"}


@given(links())
def test_flights_overflow_a_queue_and_are_bounded(link: Link) -> None:
    for way, sends in zip((link.down, link.up), plan.under_tcp(link, thorough=False), strict=True):
        if isinstance(sends, Fill) or sends.why_not or way.rate is None:
            continue
        assert 1 <= sends.count <= plan.MOST_CONNECTIONS
        depth = plan.queue_packets(way, link.mtu + HEADER)
        packet_s = (link.mtu + HEADER) * 8 / way.rate.bps
        sent_s = (sends.count - 1) * sends.gap_us / 1e6
        assert sends.count * sends.window - sent_s / packet_s > depth  # more than can wait and pass
        assert sends.gap_us / 1e6 >= sends.window / plan.BURST_MAX_PPS - 1e-6
        assert depth * packet_s <= plan.FILL_S


@given(links())
def test_tcp_takes_no_longer_than_it_may(link: Link) -> None:
    longest_s = 2 * plan.FILL_S
    for sends in plan.under_tcp(link, thorough=False):
        if isinstance(sends, Flights):
            assert sends.count * sends.gap_us / 1e6 + sends.hold_s <= longest_s
        else:
            assert sends.seconds <= longest_s * 2 + 12 * link.rtt.seconds
