"""What the self-test of a direct link makes of what it saw."""

from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.link import Link
from lanelab.driver.link.hosts.host import USUAL_KERNEL
from lanelab.driver.link.results import SelfTest
from lanelab.driver.link.selftest import direct

TIMESTAMPS, TAIL_LOSS_PROBE = "net.ipv4.tcp_timestamps", "net.ipv4.tcp_early_retrans"
LINK = Link.parse({"path": "direct", "initial_window_server": "3", "timestamps": "false"})


def state(**changed: Any) -> direct.State:
    metrics = {"congestion": "cubic", "initcwnd": "3"}
    usual = direct.State("direct0", 1500, 0, metrics, {**USUAL_KERNEL, TIMESTAMPS: "0"})
    return replace(usual, **changed)


def test_a_host_that_is_set_as_asked_for_passes() -> None:
    found = direct.settings("server", LINK, LINK.server, state())
    assert (found.verdict, found.note) == ("ok", "cubic, initial window 3, mtu 1500")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"device": "eth0"}, "route is eth0 instead of direct0"),
        ({"device": ""}, "route is  instead of direct0"),
        ({"mtu": 1400}, "mtu is 1400 instead of 1500"),
        ({"metrics": {"congestion": "reno", "initcwnd": "3"}}, "congestion_control is reno instead of cubic"),
        ({"metrics": {"congestion": "cubic"}}, "initial_window is kernel instead of 3"),
        ({"metrics": {"congestion": "cubic", "initcwnd": "3", "quickack": "1"}}, "delayed_ack is false instead of tr"),
        ({"kernel": USUAL_KERNEL}, "timestamps is true instead of false"),
        ({"kernel": {**USUAL_KERNEL, TIMESTAMPS: "0", TAIL_LOSS_PROBE: "0"}}, "tail_loss_probe is false instead of tr"),
        ({"kernel": {TIMESTAMPS: "0"}}, "ecn is unknown instead of accept"),
    ],
)
def test_what_is_not_as_asked_for_is_named(changed: dict[str, Any], words: str) -> None:
    found = direct.settings("server", LINK, LINK.server, state(**changed))
    assert found.verdict == "out"
    assert words in SelfTest((found,), 0.1).failures[0]


def test_throughput_is_told_and_has_no_target() -> None:
    found = direct.throughput("down", [(1.0, 1_000_000), (1.5, 600_000_000), (2.0, 1_251_000_000)])
    assert found.achieved == pytest.approx(10.0)
    assert (found.verdict, found.target, found.unit) == ("shown", None, "Gbit/s")


@pytest.mark.parametrize("marks", [[], [(1.0, 5)], [(1.0, 5), (1.0, 9)]])
def test_a_transfer_that_brought_nothing_is_no_measurement(marks: list[tuple[float, int]]) -> None:
    assert direct.throughput("up", marks).verdict == "out"
