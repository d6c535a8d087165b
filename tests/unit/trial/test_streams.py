"""Streams of a trial: windows, limits, priorities and pushes are those that its arm asks for, or the trial does not
count."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.page_load.streams import stream_measures
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.gateway_records import Exchange, Plan, Told
from tests.kit.records import LINK, SITE, Data

HTML, STYLE, LOGO = "a.test/index.html", "a.test/style.css?v=1", "b.test/logo.png"
TLS = {"via": "gateway", "tls": "1.3", "tls_resumption": False}
H2 = Arm.parse("h2", {"protocol": "h2", "stream_window": 16384, "connection_window": 65536, **TLS})
FEW = Arm.parse("few", {"protocol": "h2", "max_concurrent_streams": 2, "server_max_streams": 10, **TLS})
FLAT = Arm.parse("flat", {"protocol": "spdy/3.1", "priorities": "flat", **TLS})
SILENT = Arm.parse("silent", {"protocol": "h2", "priorities": "none", **TLS})
SPDY2 = Arm.parse("spdy/2", {"protocol": "spdy/2", "max_concurrent_streams": 2, **TLS})
PUSH = Arm.parse("push", {"protocol": "h2", "push": "/style*", **TLS})
ARMS = [H2, FEW, FLAT, SILENT, SPDY2, PUSH]


def plan(arm: Arm) -> Told:
    """A sound trial; of an arm with pushes: the style sheet came without a request of its own."""
    ways = [Exchange(HTML, 1, 145, 200), Exchange(STYLE, 1, 201, 260, in_flight=2), Exchange(LOGO, 1, 202, 280)]
    told = Plan(arm, ways).told()
    for each in told.requests:
        each["wire_priority"] = 3 if arm.priorities == "flat" else None if arm.priorities == "none" else 4
    if arm.push != "off":
        style = told.requests[1]
        told.record["evidence"]["gateway"]["pushes"] = [
            {
                "connection": 1, "stream": 2, "associated": 1, "method": "GET", "url": STYLE, "promised_ms": 190.0,
                "first_byte_ms": 220.0, "last_byte_ms": 260.0, "status": 200, "header_bytes": 100,
                "header_wire_bytes": 40, "body_bytes": 1000, "adopted_by": 2, "adopted_ms": 201.0, "refused": None,
                "error": None,
            }
        ]  # fmt: skip
        style.update(pushed=True, sent_ms=None, stream=2, wire_priority=None)
        told.connections[0]["requests"] = 2
    return told


def judged(told: Told, arm: Arm) -> list[Failure]:
    expected = Expected(arm, SITE, LINK, Tolerances(), {"capture": CaptureOptions()})
    data = told.record
    for asked, each in zip(data["requests"], told.requests, strict=False):
        asked["body_bytes"] = {HTML: 1000, STYLE: 200, LOGO: 5000}[each["url"]]
    return judge(told.trial(), expected)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_a_sound_trial_counts(arm: Arm) -> None:
    assert judged(plan(arm), arm) == []


def streams(**values: Any) -> Callable[[Told], None]:
    return lambda told: told.connections[0]["streams"].update(values)


def said(which: str, **values: Any) -> Callable[[Told], None]:
    return lambda told: told.connections[0]["streams"][which].update(values)


def connection(**values: Any) -> Callable[[Told], None]:
    return lambda told: told.connections[0].update(values)


def request(number: int, **values: Any) -> Callable[[Told], None]:
    return lambda told: told.requests[number].update(values)


def pushes(told: Told) -> list[Data]:
    found: list[Data] = told.record["evidence"]["gateway"]["pushes"]
    return found


def push(**values: Any) -> Callable[[Told], None]:
    return lambda told: pushes(told)[0].update(values)


def no_push(told: Told) -> None:
    """The style sheet was asked for after all."""
    pushes(told).clear()
    told.requests[1].update(pushed=False, sent_ms=201.0, stream=3)
    told.connections[0]["requests"] = 3


def another_push(told: Told) -> None:
    """Which nobody had use for; the server's log has it, too."""
    pushes(told).append(pushes(told)[0] | {"stream": 4, "url": LOGO, "adopted_by": None, "adopted_ms": None})
    told.served.append(dict(told.served[2]))


CASES: list[tuple[Reason, Arm, Callable[[Told], None], str]] = [
    (Reason.STREAM_SETTINGS, H2, said("told", initial_window_size=65536), "initial_window_size 65536 instead of 16384"),
    (Reason.STREAM_SETTINGS, H2, said("told", connection_window=1), "connection_window 1 instead of 65536"),
    (Reason.STREAM_SETTINGS, H2, said("told", enable_push=1), "told enable_push 1 instead of 0"),
    (Reason.STREAM_SETTINGS, PUSH, said("told", enable_push=0), "told enable_push 0 instead of 1"),
    (Reason.STREAM_SETTINGS, H2, streams(acknowledged=False), "did not acknowledge the settings"),
    (Reason.STREAM_SETTINGS, H2, connection(streams=None), "connection 1 does not tell of its streams"),
    (Reason.STREAM_SETTINGS, FEW, connection(most_in_flight=3), "had 3 requests under way, and no more than 2"),
    (Reason.STREAM_SETTINGS, FEW, said("heard", max_concurrent_streams=100), "takes 100 streams instead of 10"),
    (Reason.STREAM_SETTINGS, FEW, streams(heard={}), "takes None streams instead of 10"),
    (Reason.STREAM_SETTINGS, SPDY2, connection(most_in_flight=3), "no more than 2"),
    (
        Reason.STREAM_SETTINGS,
        FLAT,
        request(1, wire_priority=0),
        "1 requests were sent with the priority 0 instead of 3",
    ),
    (Reason.STREAM_SETTINGS, SILENT, request(2, wire_priority=256), "priority 256 instead of None"),
    (Reason.PUSH_MISSING, PUSH, no_push, f"not promised: {STYLE}"),
    (Reason.PUSH_MISSING, PUSH, push(error="reset"), f"broken off: {STYLE} (reset)"),
    (Reason.PUSH_MISSING, PUSH, push(status=404), f"broken off: {STYLE} (404)"),
    (Reason.PUSH_UNASKED, PUSH, another_push, LOGO),
    (Reason.PUSH_UNASKED, H2, streams(refused_pushes=2), "2 that were refused"),
]


@pytest.mark.parametrize(("reason", "arm", "changing", "says"), CASES)
def test_what_is_not_as_asked_is_named(reason: Reason, arm: Arm, changing: Callable[[Told], None], says: str) -> None:
    told = plan(arm)
    changing(told)
    found = {failure.reason: failure.detail for failure in judged(told, arm)}
    assert says in found[reason]


@pytest.mark.parametrize("changing", [no_push, push(error="the gateway ended"), push(status=None)])
def test_a_push_that_had_not_come_when_the_time_was_over_is_part_of_the_time_out(
    changing: Callable[[Told], None],
) -> None:
    """Another failure would have it tried again until a load is fast enough."""
    told = plan(PUSH)
    changing(told)
    assert Reason.PUSH_MISSING in {each.reason for each in judged(told, PUSH)}
    out_of_time(told)
    found = {each.reason for each in judged(told, PUSH)}
    assert Reason.TIMEOUT in found
    assert Reason.PUSH_MISSING not in found


def test_a_push_with_another_answer_is_no_time_out() -> None:
    told = plan(PUSH)
    push(status=404)(told)
    out_of_time(told)
    assert Reason.PUSH_MISSING in {each.reason for each in judged(told, PUSH)}


def out_of_time(told: Told) -> None:
    told.record["failures"] = [{"reason": "timeout", "detail": "60 s"}]
    told.record["evidence"]["browser"]["times"]["plt_ms"] = None


def test_measures_tell_of_turns_and_pushes() -> None:
    told = plan(PUSH)
    another_push(told)
    log = TrialRecord.from_json(told.record | {"evidence": told.record["evidence"]}).page_load
    assert log is not None
    found = stream_measures(log.gateway)
    assert found == {
        "data_frames": 9, "stream_switches": 3, "pushed_objects": 2, "pushed_bytes": 2000, "pushed_unused_bytes": 1000,
    }  # fmt: skip
    assert stream_measures(None) == {}
    assert log.gateway is not None
    plain = [dataclasses.replace(each, streams=None) for each in log.gateway.connections]
    assert stream_measures(dataclasses.replace(log.gateway, connections=tuple(plain))) == {}
