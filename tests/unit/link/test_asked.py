"""What tc shows of a link is what it was asked for, and everything that is otherwise is named."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.base.units import Duration
from lanelab.driver.link import Link
from lanelab.driver.link.shaping.expected_tc import asked_queues, differences, shown_queues

LATE = Duration.parse("150us")
NETEM = {"ecn": False, "gap": 0}
PACKETS = {"packetoverhead": 0, "cellsize": 0, "celloverhead": 0}


def show(dev: str, kind: str, options: dict[str, Any], handle: str = "1:") -> dict[str, Any]:
    return {"kind": kind, "handle": handle, "dev": dev, "root": True, "refcnt": 2, "options": options}


def both(kind: str, queue: dict[str, Any], *more: dict[str, Any], there: dict[str, Any]) -> list[dict[str, Any]]:
    """As tc of iproute2 6.1 shows them, with what every router has beside."""
    shown = [show("lo", "noqueue", {}, "0:"), show("mgmt0", "pfifo_fast", {"bands": 3}, "0:")]
    for device, way in (("queue_down", "to_client"), ("queue_up", "to_server")):
        shown += [show(device, kind, dict(queue)), *({**each, "dev": device} for each in more)]
        shown += [show(way, "netem", {**NETEM, **there}), show(way, "ingress", {}, "ffff:")]
    return shown


def delayed(delay: float, jitter: float = 0) -> dict[str, Any]:
    return {"delay": {"delay": delay, "jitter": jitter, "correlation": 0}}


def rate(bytes_per_s: int) -> dict[str, Any]:
    return {"rate": {"rate": bytes_per_s, **PACKETS}}


MANY = {
    "loss-random": {"loss": 0.01, "correlation": 0},
    "duplicate": {"duplicate": 0.01, "correlation": 0},
    "reorder": {"reorder": 0.01, "correlation": 0},
}
CODEL = {"interval": 99999, "ecn": True}
SHOWN: list[tuple[dict[str, str], Any]] = [
    (
        {"rate": "10mbit", "rtt": "20ms", "queue": "1000p"},
        both("netem", {"limit": 1000, **rate(1250000), **NETEM}, there={"limit": 1250, **delayed(0.009849)}),
    ),
    (
        {
            "rate": "10mbit", "rtt": "40ms", "queue": "64kB", "loss": "1%", "jitter": "2ms", "duplicate": "1%",
            "reorder": "1%",
        },
        both(
            "tbf",
            {"rate": 1250000, "burst": 4013, "lat": 47989},
            there={"limit": 1631, **delayed(0.019849, 0.002), **MANY, **rate(12500000000)},
        ),
    ),
    (
        {"rate": "5mbit", "rtt": "10ms", "discipline": "fq_codel", "loss": "ge(p=1%, r=10%)"},
        both(
            "tbf",
            {"rate": 625000, "burst": 2763, "lat": 237818},
            show("", "fq_codel", {"limit": 100, "flows": 1024, "quantum": 1514, "target": 4999, **CODEL}, "2:"),
            there={"limit": 1072, **delayed(0.004849), **rate(625000), "loss-gemodel": {"p": 0.01, "r": 0.1, "1-h": 1}},
        ),
    ),
    (
        {"rate": "5mbit", "rtt": "10ms", "discipline": "cake"},
        both(
            "cake",
            {"bandwidth": 625000, "diffserv": "besteffort", "rtt": 100000, "memlimit": 230400, "fwmark": "0"},
            there={"limit": 1072, **delayed(0.004849), **rate(625000)},
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("link", "shown"), SHOWN)
def test_what_tc_shows_is_what_was_asked_for(link: dict[str, str], shown: Any) -> None:
    assert differences(asked_queues(Link.parse(link), LATE), shown_queues(shown)) == []


def test_a_link_without_a_rate_has_plain_queues() -> None:
    shown: Any = [show(device, "pfifo", {"limit": 1000}) for device in ("to_client", "to_server")]
    assert differences(asked_queues(Link.parse({}), LATE), shown_queues(shown)) == []


@pytest.mark.parametrize(
    ("place", "options", "says"),
    [
        (2, {"limit": 100}, "limit of netem on queue_down is 100 instead of 1000"),
        (2, rate(1240000), "rate of netem on queue_down is 1.24e+06 instead of 1.25e+06"),
        (3, delayed(0.0112), "delay of netem on to_client is 0.0112 instead of 0.00985"),
        (3, delayed(0.009849, 0.001), "delay.jitter of netem on to_client is 0.001 instead of 0"),
        (3, {"loss-random": {"loss": 0.005, "correlation": 0}}, "loss of netem on to_client is 0.005 instead of 0"),
        (3, {"duplicate": {"duplicate": 0.01}}, "duplicate of netem on to_client is 0.01 instead of 0"),
        (3, {"reorder": {"reorder": 0.01}}, "reorder of netem on to_client is 0.01 instead of 0"),
        (3, {"corrupt": {"corrupt": 0.01}}, "corrupt of netem on to_client is 0.01 instead of 0"),
        (3, rate(1000), "rate of netem on to_client is 1000 instead of 0"),
    ],
)
def test_each_difference_is_named(place: int, options: dict[str, Any], says: str) -> None:
    link, shown = copy.deepcopy(SHOWN[0])
    shown[place]["options"] |= options
    assert differences(asked_queues(Link.parse(link), LATE), shown_queues(shown)) == [says]


def test_the_limit_of_a_shaper_is_named_in_bytes() -> None:
    link, shown = copy.deepcopy(SHOWN[1])
    shown[2]["options"]["lat"] = 4 * 47989
    says = "limit (bytes) of tbf on queue_down is 243960 instead of 64000"
    assert differences(asked_queues(Link.parse(link), LATE), shown_queues(shown)) == [says]


def test_pie_looks_in_whole_ticks_of_its_kernel() -> None:
    pie = Link.parse({"rate": "10mbit", "rtt": "40ms", "discipline": "pie"})
    (asked,) = [each for each in asked_queues(pie, LATE) if (each.device, each.kind) == ("queue_down", "pie")]
    for shown, is_that in ((15_000.0, True), (16_000.0, True), (20_000.0, True), (25_000.0, False), (10_000.0, False)):
        found = replace(asked, values={**asked.values, "tupdate": shown})
        assert (not differences([asked], [found])) == is_that, shown
