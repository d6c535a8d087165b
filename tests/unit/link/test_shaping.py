"""Shaping: whatever the link, its lines name our devices, hold what must be held, and mirror each other."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.units import Duration, Rate
from lanelab.driver.bed.addresses import QUEUE_DOWN, QUEUE_UP
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.shaping.bottleneck import CAKE_BYTES_PER_PACKET
from lanelab.driver.link.shaping.shaping import (
    DEVICES,
    ORDER_KEEPING_BPS,
    TO_CLIENT,
    TO_SERVER,
    compensated,
    explain,
    shape,
    unshape_lines,
)
from tests.kit.links import links, settings

NOTHING = Duration(0)
COMPENSATIONS = st.sampled_from([0, 30_000, 150_000]).map(Duration)
MIRROR = {TO_CLIENT: TO_SERVER, TO_SERVER: TO_CLIENT, QUEUE_DOWN: QUEUE_UP, QUEUE_UP: QUEUE_DOWN}


def word_after(line: str, word: str) -> str | None:
    words = line.split()
    return words[words.index(word) + 1] if word in words else None


def number_after(line: str, word: str) -> int:
    text = word_after(line, word) or ""
    return int(re.sub(r"[a-z]+$", "", text))


def way_there(link: Link, device: str, compensation: Duration = NOTHING) -> str:
    return next(line for line in shape(link, compensation).router_tc if f"dev {device} root" in line)


def bottleneck(**of: object) -> str:
    return next(
        line for line in shape(Link.parse(of), NOTHING).router_tc if line.startswith(f"qdisc add dev {QUEUE_DOWN}")
    )


@given(links(), COMPENSATIONS)
def test_every_device_is_ours(link: Link, compensation: Duration) -> None:
    shaping = shape(link, compensation)
    for line in (*shaping.router_ip, *shaping.router_tc):
        assert word_after(line, "dev") in DEVICES
    for line in (*shaping.client_ip, *shaping.server_ip):
        assert word_after(line, "dev") == "eth0"


@given(links(), COMPENSATIONS)
def test_each_device_has_one_root(link: Link, compensation: Duration) -> None:
    roots = [
        word_after(line, "dev")
        for line in shape(link, compensation).router_tc
        if line.startswith("qdisc add") and " root " in line
    ]
    assert len(roots) == len(set(roots))
    assert {TO_CLIENT, TO_SERVER} <= set(roots)


@given(links(), COMPENSATIONS)
def test_no_queue_has_a_default_limit(link: Link, compensation: Duration) -> None:
    for line in shape(link, compensation).router_tc:
        if " ingress" in line or line.startswith("filter"):
            continue
        assert number_after(line, "memlimit" if " cake " in line else "limit") > 0, line


@given(links(), COMPENSATIONS)
def test_lines_have_no_characters_that_tc_would_not_read(link: Link, compensation: Duration) -> None:
    shaping = shape(link, compensation)
    for line in (*shaping.router_ip, *shaping.router_tc, *shaping.client_ip, *shaping.server_ip):
        assert re.fullmatch(r"[a-z0-9_.:%/ -]+", line), line
        for time in re.findall(r" ([0-9.]+)us", line):
            assert int(time) >= 1  # tc takes no part of a microsecond, and refuses words about a delay of nothing


@given(links())
def test_the_delay_holds_all_that_is_under_way(link: Link) -> None:
    for way, device in ((link.down, TO_CLIENT), (link.up, TO_SERVER)):
        line = way_there(link, device)
        longest_s = way.delay.seconds + 4 * way.jitter.seconds
        bps = way.rate.bps if way.rate else 1e9
        small_packets = bps / (8 * 60) * longest_s * (1 + way.copies.fraction)
        assert number_after(line, "limit") >= small_packets


@given(links())
def test_a_queue_in_packets_is_exactly_that(link: Link) -> None:
    for way, queue in ((link.down, QUEUE_DOWN), (link.up, QUEUE_UP)):
        lines = [line for line in shape(link, NOTHING).router_tc if line.startswith(f"qdisc add dev {queue}")]
        if way.rate is None:
            assert not lines
        elif way.discipline == "fifo" and way.queue_packets is not None:
            assert lines == [
                f"qdisc add dev {queue} root handle 1: netem rate {way.rate.bps}bit limit {way.queue_packets}"
            ]


@given(links())
def test_a_queue_in_bytes_is_what_waits_in_both_places(link: Link) -> None:
    frame = link.mtu + HEADER
    for way, queue, device in ((link.down, QUEUE_DOWN, TO_CLIENT), (link.up, QUEUE_UP, TO_SERVER)):
        if way.discipline != "fifo" or way.queue_bytes is None or way.rate is None:
            continue
        (line,) = [line for line in shape(link, NOTHING).router_tc if line.startswith(f"qdisc add dev {queue}")]
        burst, limit = number_after(line, "burst"), number_after(line, "limit")
        assert burst >= frame, "a packet that is larger than the bucket never passes"
        assert limit >= frame
        if not way.jitter:
            assert burst + limit == max(way.queue_bytes, burst + frame)
            assert number_after(way_there(link, device), "rate") >= way.rate.bps


@given(links(), COMPENSATIONS)
def test_jitter_keeps_the_order_unless_asked_not_to(link: Link, compensation: Duration) -> None:
    for way, device in ((link.down, TO_CLIENT), (link.up, TO_SERVER)):
        if way.jitter:
            found = word_after(way_there(link, device, compensation), "rate")
            assert found == (None if way.jitter_reorders else f"{ORDER_KEEPING_BPS}bit")


@given(links(), COMPENSATIONS)
def test_equal_links_have_equal_lines(link: Link, compensation: Duration) -> None:
    again = Link.parse(link.to_mapping())
    assert shape(again, compensation) == shape(link, compensation)
    assert explain(again, compensation) == explain(link, compensation)


@given(settings(sides=False), COMPENSATIONS)
def test_up_mirrors_down(mapping: dict[str, object], compensation: Duration) -> None:
    link = Link.parse(mapping)
    assert link.down == link.up
    lines = shape(link, compensation).router_tc
    half = len(lines) // 2
    mirrored = [" ".join(MIRROR.get(word, word) for word in line.split()) for line in lines[:half]]
    assert mirrored == list(lines[half:])


@given(links(), COMPENSATIONS)
def test_every_line_is_explained_in_one_sentence(link: Link, compensation: Duration) -> None:
    shaping = shape(link, compensation)
    count = sum(map(len, dataclasses.astuple(shaping)))
    explained = explain(link, compensation)
    assert len(explained) == count
    for line in explained:
        assert line.text.split()[0] in ("ip", "tc", "sysctl")
        assert line.meaning.endswith(".")
        assert "\n" not in line.meaning


@given(st.integers(0, 10**10).map(Duration), st.integers(0, 10**6).map(Duration))
def test_compensation_takes_at_most_half(delay: Duration, compensation: Duration) -> None:
    left = compensated(delay, compensation)
    assert delay.ns // 2 <= left.ns <= delay.ns
    if delay.ns > 2 * compensation.ns:
        assert left == delay - compensation


def test_the_delay_is_less_what_the_router_adds() -> None:
    link = Link.parse({"delay_down": "40ms", "delay_up": "1ms"})
    assert word_after(way_there(link, TO_CLIENT, Duration(150_000)), "delay") == "39850us"
    assert word_after(way_there(link, TO_SERVER, Duration(150_000)), "delay") == "850us"


def test_copies_do_not_queue_behind_the_bottleneck() -> None:
    """They take time in the netem that spaces what the shaper sends: at the same rate they would pile up there."""
    link = Link.parse({"rate": "10mbit", "rtt": "40ms", "queue": "64kB", "duplicate": "1%"})
    assert number_after(way_there(link, TO_CLIENT), "rate") > Rate.parse("10mbit").bps * 1.01


def test_gilbert_elliott_is_given_as_losses_in_each_state() -> None:
    link = Link.parse({"loss": "ge(p=1%, r=10%, bad=80%, good=0.1%)"})
    assert "loss gemodel 1% 10% 80% 0.1%" in way_there(link, TO_CLIENT)


def test_uniform_is_the_absence_of_a_distribution() -> None:
    link = Link.parse({"rtt": "40ms", "jitter": "5ms", "jitter_distribution_up": "uniform"})
    assert "5000us distribution normal" in way_there(link, TO_CLIENT)
    assert "distribution" not in way_there(link, TO_SERVER)


def test_disciplines_hold_the_queue() -> None:
    assert "fq_codel limit 40 " in " ".join(
        shape(Link.parse({"rate": "10mbit", "queue": "40p", "discipline": "fq_codel"}), NOTHING).router_tc
    )
    cake = bottleneck(rate="10mbit", queue="40p", discipline="cake")
    assert number_after(cake, "memlimit") == 40 * CAKE_BYTES_PER_PACKET


def test_hosts_have_their_own_tcp() -> None:
    shaping = shape(Link.parse({"congestion_control_server": "bbr", "initial_window_client": 3}), NOTHING)
    assert any("congctl cubic initcwnd 3" in line for line in shaping.client_ip)
    assert any("congctl bbr initcwnd 10" in line for line in shaping.server_ip)


@pytest.mark.parametrize("device", DEVICES)
def test_unshape_removes_whatever_there_may_be(device: str) -> None:
    assert f"qdisc del dev {device} root" in unshape_lines()


def test_both_ways_have_lines_where_one_has_a_rate() -> None:
    down: Direction = Link.parse({"rate_down": "1mbit"}).down
    assert down.rate
    lines = shape(Link.parse({"rate_down": "1mbit"}), NOTHING).router_tc
    assert sum("redirect" in line for line in lines) == 1
