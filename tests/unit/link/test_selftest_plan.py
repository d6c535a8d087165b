"""What the self-test sends: enough to tell, never so much that it measures itself, and for a bounded time."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lanelab.driver.base.units import Rate, Size
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.impairments.reorder import why_no_overtaking
from lanelab.driver.link.results import chance
from lanelab.driver.link.selftest import plan
from lanelab.driver.link.shaping.bottleneck import is_exact
from tests.kit.links import links

AIM = 1e-6  # seconds; sums of floating point numbers are no closer


def packet_s(rate: Rate, frame: int) -> float:
    return frame * 8 / rate.bps


def send_times(train: plan.Train, early: float = 0.0) -> list[float]:
    """When each packet leaves the sender, in seconds; each one after the first a part of a gap too early."""
    gap, lead_gap = train.gap_us / 1e6, train.lead_gap_us / 1e6
    if train.lead:
        return [min(i, train.lead) * lead_gap + max(0, i - train.lead) * gap for i in range(train.count)]
    return [0.0 if i < train.burst else (i - train.burst + 1 - early) * gap for i in range(train.count)]


def pass_bottleneck(times: list[float], each_s: float, depth: float) -> tuple[int, list[tuple[float, float]]]:
    """How many packets a queue drops, and when each of the others begins and ends to be sent."""
    sent: list[tuple[float, float]] = []
    dropped, first_waiting = 0, 0
    for time in times:
        while first_waiting < len(sent) and sent[first_waiting][1] <= time + AIM:
            first_waiting += 1
        if len(sent) - first_waiting >= depth:
            dropped += 1
            continue
        begin = max(time, sent[-1][1] if sent else 0.0)
        sent.append((begin, begin + each_s))
    return dropped, sent


def directions(link: Link) -> list[Direction]:
    return [link.down, link.up]


RATES = st.integers(8_000, plan.FAST_BPS).map(Rate)


@st.composite
def limited(draw: st.DrawFn, least_depth: int = 1) -> Link:
    """A link whose queue is a number of packets, at any rate."""
    rate, depth = draw(RATES), draw(st.integers(least_depth, 2000))
    return Link.parse({"rate": str(rate), "queue": f"{depth}p", "rtt": "20ms", "mtu": draw(st.integers(576, 1500))})


# ------------------------------------------------------------------------------------------------------------- pings


@given(links())
def test_no_ping_waits_for_another(link: Link) -> None:
    pings = plan.pings(link)
    for way in directions(link):
        if way.rate:
            assert pings.gap_us / 1e6 >= 2 * packet_s(way.rate, plan.PING_FRAME)


@given(links())
def test_pings_are_enough_for_a_median_and_soon_over(link: Link) -> None:
    pings = plan.pings(link)
    assert 8 <= pings.count <= plan.PINGS
    budget_s = max(plan.PING_BUDGET_S, plan.PING_JITTER_BUDGET_S)
    assert pings.count == 8 or pings.count * pings.gap_us / 1e6 <= budget_s + AIM


@given(links())
def test_time_on_the_wire_is_what_the_shaping_adds(link: Link) -> None:
    for way in directions(link):
        time_ms = plan.serialization_ms(way, 98)
        if way.rate is None or (way.jitter and not is_exact(way)):
            assert time_ms == 0
        elif not way.copies:
            assert time_ms == pytest.approx(packet_s(way.rate, 98) * 1000)
        else:
            assert 0 < time_ms <= packet_s(way.rate, 98) * 1000 + AIM


def test_a_shaper_with_jitter_adds_no_time_on_the_wire() -> None:
    """Nothing behind the shaper paces there, and it lets a lone packet go at once."""
    settings = {"rate": "100kbit", "queue": "64kB", "rtt": "100ms"}
    assert plan.serialization_ms(Link.parse(settings).down, 98) == pytest.approx(7.84)
    assert plan.serialization_ms(Link.parse(settings | {"jitter": "5ms"}).down, 98) == 0


# -------------------------------------------------------------------------------------------------------- rate train


def train_of(link: Link) -> plan.Train:
    train = plan.rate_train(link.down, link.mtu)
    assert isinstance(train, plan.Train)
    return train


def check_never_overflows(link: Link) -> None:
    train = train_of(link)
    assert link.down.rate
    each_s = packet_s(link.down.rate, train.frame)
    for early in (0.0, 0.1):
        dropped, _ = pass_bottleneck(send_times(train, early), each_s, link.down.queue_packets or 0)
        assert dropped == 0


@given(limited(least_depth=plan.SHALLOWEST))
def test_a_train_never_overflows_the_queue(link: Link) -> None:
    check_never_overflows(link)


def test_a_fast_train_sends_more_than_passes() -> None:
    train = train_of(Link.parse({"rate": "400mbit", "rtt": "20ms"}))
    assert train.gap_us < packet_s(Rate.parse("400mbit"), train.frame) * 1e6
    assert train.lasts_s == pytest.approx(plan.TRAIN_S, rel=0.01)


def test_a_queue_of_one_packet_cannot_be_kept_busy() -> None:
    assert "too short" in str(plan.rate_train(Link.parse({"rate": "10mbit", "queue": "1p"}).down, 1500))


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_train_never_overflows_a_tiny_queue(depth: int) -> None:
    check_never_overflows(Link.parse({"rate": "10mbit", "rtt": "20ms", "queue": f"{depth}p"}))


@given(limited(least_depth=5))
def test_a_train_keeps_the_bottleneck_busy(link: Link) -> None:
    """From its first packet to its last there is no idle moment, so its length tells the rate."""
    train = train_of(link)
    assert link.down.rate
    _, sent = pass_bottleneck(send_times(train), packet_s(link.down.rate, train.frame), 10**9)
    for before, after in pairwise(sent):
        assert after[0] == pytest.approx(before[1], abs=AIM)


@given(limited(least_depth=plan.SHALLOWEST))
def test_a_train_is_sent_at_the_rate_in_full_packets(link: Link) -> None:
    train = train_of(link)
    assert link.down.rate
    assert train.frame == link.mtu + HEADER
    assert train.gap_us == pytest.approx(link.down.rate.time_for(Size(train.frame)).ns / 1000, abs=0.001)


@given(links())
def test_a_train_is_long_enough_to_tell_and_bounded(link: Link) -> None:
    for way in directions(link):
        train = plan.rate_train(way, link.mtu)
        if isinstance(train, str) or way.rate is None:
            assert isinstance(train, str)
            assert way.rate is None or plan.queue_packets(way, link.mtu + HEADER) < plan.SHALLOWEST
            continue
        assert train.count >= 8 + train.burst
        paced = train.count - train.burst
        assert paced == 8 or paced * train.gap_us / 1e6 <= plan.TRAIN_LONGEST_S + AIM


@given(limited(least_depth=plan.SHALLOWEST), st.sampled_from(["fq_codel", "cake"]))
def test_a_train_leaves_no_standing_queue_in_an_aqm(link: Link, discipline: str) -> None:
    """Two packets, or what passes in 4 ms: less than what makes codel drop."""
    train = train_of(Link.parse(link.to_mapping() | {"discipline": discipline}))
    assert train.burst <= 2 + 0.004 * 1e6 / train.gap_us


# ------------------------------------------------------------------------------------------------------- queue burst


@given(limited(), st.booleans())
def test_a_burst_overflows_the_queue(link: Link, thorough: bool) -> None:
    assume(link.down.rate)
    burst = plan.queue_burst(link.down, link.mtu, thorough=thorough)
    if isinstance(burst, str) or link.down.rate is None:
        return
    depth = link.down.queue_packets or 0
    each_s = packet_s(link.down.rate, burst.frame)
    dropped, sent = pass_bottleneck(send_times(burst), each_s, depth)
    assert dropped > 0
    # the last packets that pass have waited for a full queue: those are what is measured
    times = send_times(burst)
    assert sent[-1][1] - times[-1] >= (depth - 2) * each_s - AIM


@given(links())
def test_a_burst_is_no_faster_than_the_router_and_bounded(link: Link) -> None:
    for way in directions(link):
        burst = plan.queue_burst(way, link.mtu, thorough=False)
        if isinstance(burst, str):
            assert burst
            continue
        assert 1e6 / burst.gap_us <= plan.BURST_MAX_PPS * 1.001
        assert way.rate
        some_packets_s = 25 * packet_s(way.rate, burst.frame)
        assert burst.lasts_s <= 4 * plan.QUEUE_PATIENCE_S + some_packets_s


def test_a_queue_that_would_take_long_is_left_to_thorough() -> None:
    way = Link.parse({"rate": "1mbit", "rtt": "20ms", "queue": "1000p"}).down
    assert "--thorough" in str(plan.queue_burst(way, 1500, thorough=False))
    assert isinstance(plan.queue_burst(way, 1500, thorough=True), plan.Train)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "nothing waits"),
        ({"rate": "1mbit", "discipline": "cake"}, "cake decides"),
        ({"rate": "500mbit"}, "so fast"),
    ],
)
def test_why_there_is_no_burst(settings: dict[str, object], why: str) -> None:
    assert why in str(plan.queue_burst(Link.parse(settings).down, 1500, thorough=False))


# -------------------------------------------------------------------------------------------- rate and queue together


@given(limited(), st.booleans())
def test_a_train_for_rate_and_queue_overflows_it_and_keeps_it_busy(link: Link, thorough: bool) -> None:
    """As the burst alone would overflow it, and for as long as the train for the rate alone would be under way."""
    train = plan.busy_train(link.down, link.mtu, thorough=thorough)
    burst = plan.queue_burst(link.down, link.mtu, thorough=thorough)
    paced = plan.rate_train(link.down, link.mtu)
    if train is None or link.down.rate is None:
        assert link.down.rate is None or isinstance(burst, str) or isinstance(paced, str)
        return
    assert isinstance(burst, plan.Train)
    assert isinstance(paced, plan.Train)
    assert (train.lead, train.lead_gap_us, train.frame) == (burst.count, burst.gap_us, burst.frame)
    each_s = packet_s(link.down.rate, train.frame)
    assert send_times(train)[: train.lead] == pytest.approx(send_times(burst))
    _, sent = pass_bottleneck(send_times(train), each_s, link.down.queue_packets or 0)
    for before, after in pairwise(sent):
        assert after[0] == pytest.approx(before[1], abs=AIM)
    assert sent[-1][1] - sent[0][0] >= (paced.count - 2) * each_s - AIM


@pytest.mark.parametrize(
    "settings",
    [
        {"rate": "10mbit", "jitter": "3ms"},
        {"rate": "10mbit", "reorder": "3%"},
        {"rate": "10mbit", "discipline": "fq_codel"},
        {"rate": "400mbit"},
        {"rate": "1mbit", "queue": "1000p"},
        {},
    ],
)
def test_where_one_train_does_not_tell_both_each_has_its_own(settings: dict[str, str]) -> None:
    way = Link.parse({"rtt": "40ms", **settings}).down
    assert plan.busy_train(way, 1500, thorough=False) is None
    own = (plan.rate_train(way, 1500), plan.queue_burst(way, 1500, thorough=False))
    trains = plan.trains(way, 1500, thorough=False)
    assert [each for each in own if isinstance(each, plan.Train)] == trains[: len(trains) - 1 - bool(way.jitter)]


def test_usual_links_are_measured_by_two_trains() -> None:
    for settings in ({}, {"loss": "1%"}, {"queue": "1000p"}, {"rate": "1mbit", "rtt": "200ms"}):
        way = Link.parse({"rtt": "40ms", "rate": "10mbit", **settings}).down
        busy, chances = plan.trains(way, 1500, thorough=False)
        assert busy.lead
        assert chances == plan.chance_train(way, thorough=False)


# ------------------------------------------------------------------------------------------------------------ chance


@given(links(), st.booleans())
def test_chances_are_counted_for_a_bounded_time(link: Link, thorough: bool) -> None:
    for way in directions(link):
        train = plan.chance_train(way, thorough=thorough)
        asked_s = plan.CHANCE_THOROUGH_S if thorough else plan.CHANCE_S
        unasked_s = plan.UNASKED_THOROUGH_S if thorough else plan.UNASKED_S
        longest_s = asked_s if way.chances else unasked_s
        assert train.count >= plan.FEWEST_CHANCE_PACKETS
        assert train.count == plan.FEWEST_CHANCE_PACKETS or train.lasts_s <= longest_s + AIM
        assert 1e6 / train.gap_us <= plan.CHANCE_MAX_PPS * 1.001
        if way.rate:
            assert train.gap_us / 1e6 >= 1.99 * packet_s(way.rate, train.frame)


def test_what_nobody_asked_for_is_looked_for_too() -> None:
    assert plan.chance_train(Link.parse({"rate": "10mbit"}).down, thorough=False).count == plan.UNASKED_PACKETS
    assert plan.chance_train(Link.parse({}).down, thorough=False).count == plan.UNASKED_PACKETS


def test_a_loss_of_a_tenth_of_a_percent_is_told_from_none_at_10_mbit() -> None:
    train = plan.chance_train(Link.parse({"rate": "10mbit", "loss": "0.1%"}).down, thorough=False)
    assert chance("loss", 0.001, 30, train.count).verdict == "ok"
    assert chance("loss", 0.001, 0, train.count).verdict == "out"


def test_jitter_lengthens_a_train() -> None:
    jittery = train_of(Link.parse({"rate": "10mbit", "rtt": "100ms", "jitter": "10ms"}))
    assert jittery.lasts_s == pytest.approx(1.5, rel=0.05)


def test_a_sink_waits_for_what_its_end_can_overtake() -> None:
    way = Link.parse({"rtt": "200ms", "jitter": "5ms", "reorder": "1%"}).down
    assert plan.linger_s(way) >= 0.1 + 4 * 0.005


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"rtt": "40ms"}, ""),
        ({"rtt": "2ms", "rate": "100kbit"}, "ms apart"),
        ({"rtt": "40ms", "jitter": "1ms", "jitter_reorders": "true"}, "jitter"),
    ],
)
def test_why_overtaking_cannot_be_told(settings: dict[str, object], why: str) -> None:
    way = Link.parse(settings | {"reorder": "5%"}).down
    answer = why_no_overtaking(way, plan.chance_train(way, thorough=False).gap_us / 1e6)
    assert (why in answer) if why else not answer


def test_about_thirty_events_are_expected() -> None:
    way = Link.parse({"loss": "1%"}).down
    train = plan.chance_train(way, thorough=False)
    assert train.count * way.loss.mean_loss == pytest.approx(30)
    thorough = plan.chance_train(way, thorough=True)
    assert thorough.count * way.loss.mean_loss == pytest.approx(300)


def test_the_rarest_chance_decides() -> None:
    assert plan.chance_train(Link.parse({"rtt": "20ms", "loss": "5%", "reorder": "1%"}).down, thorough=False) == (
        plan.chance_train(Link.parse({"loss": "1%"}).down, thorough=False)
    )
