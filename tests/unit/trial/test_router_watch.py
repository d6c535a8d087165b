"""The router during a load: how long it may stand still, and what its kernel announces."""

import socket
import struct
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.bed.remote import router_watch
from lanelab.driver.bed.remote.tc_netlink import HEADER, KIND, TC, attribute
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.judges.router import RouterVerdict
from tests.kit.records import record

PLT_MS = 5000
LOOPBACK = socket.if_nametoindex("lo")


def refused(*stalls: tuple[float, float, float]) -> bool:
    """By stalls of (ms after the load began, length in ms, of it busy)."""
    data: dict[str, Any] = record(Arm.parse("http", {}))
    asked = data["evidence"]["browser"]["clock"]["asked"]
    data["evidence"]["router"]["stalls"] = [
        {"from_us": asked + round(at * 1000), "to_us": asked + round((at + ms) * 1000), "busy_us": round(busy * 1000)}
        for at, ms, busy in stalls
    ]
    evidence = TrialRecord.from_json(data).page_load
    assert evidence is not None
    found = list(RouterVerdict(evidence).failures())
    assert {each.reason for each in found} <= {Reason.ROUTER_STOPPED}
    return bool(found)


@pytest.mark.parametrize(
    ("stalls", "wrong"),
    [
        ((), False),
        (((100, 240, 0),), False),  # 4.8% of the load
        (((100, 260, 0),), True),
        (((100, 130, 0), (400, 130, 0)), True),  # together
        (((100, 2000, 1990),), False),  # it waited for a processor, which the machine's flags say
        (((100, 2000, 1700),), True),
        (((100, 50, 5000), (400, 260, 0)), True),  # what was busy beyond one silence says nothing of another
        (((-1000, 900, 0), (PLT_MS + 10, 900, 0)), False),  # ahead of the load, and after it
        (((-100, 340, 0), (PLT_MS - 5, 900, 0)), False),  # only what is inside of the load counts
        (((-100, 340, 0), (PLT_MS - 20, 900, 0)), True),
    ],
)
def test_a_router_may_stand_still_for_so_long(stalls: tuple[tuple[float, float, float], ...], wrong: bool) -> None:
    assert refused(*stalls) == wrong


def test_a_router_that_is_no_process_of_this_machine_is_not_judged() -> None:
    data = record(Arm.parse("http", {}))
    data["evidence"]["router"]["stalls"] = None
    evidence = TrialRecord.from_json(data).page_load
    assert evidence is not None
    assert list(RouterVerdict(evidence).failures()) == []


def announcement(kind: int, device: int, name: str) -> bytes:
    body = TC.pack(0, 0, 0, device, 0, 0, 0) + attribute(KIND, name.encode() + b"\0")
    return HEADER.pack(HEADER.size + len(body), kind, 0, 0, 0) + body


@pytest.mark.parametrize(("kind", "told"), [(36, True), (37, True), (40, True), (16, False), (44, False)])
def test_changes_of_queues_and_classes_are_told_and_nothing_else(kind: int, told: bool) -> None:
    changes = router_watch.changes(announcement(kind, LOOPBACK, "netem"))
    assert changes == ([["lo", "netem"]] if told else [])


def test_several_announcements_may_come_at_once() -> None:
    data = announcement(36, LOOPBACK, "tbf") + announcement(37, 99_999, "htb")
    assert router_watch.changes(data) == [["lo", "tbf"], ["99999", "htb"]]


def test_an_announcement_that_is_cut_ends_the_reading() -> None:
    assert router_watch.changes(struct.pack("=I", 16)) == []
