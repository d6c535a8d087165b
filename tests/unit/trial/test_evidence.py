"""Nothing can be missing in silence: whatever is taken away from the record of a good trial, that trial fails, and says
what is not there. The records are walked, so a new piece of evidence is tried here by itself."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.finish import finish
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.workload import TrialContext
from tests.kit.asked_trials import EXPERIMENT, LINK, MACHINE
from tests.kit.gateway_records import Exchange, Plan
from tests.kit.records import SITE, Data, record

Step = str | int
Way = tuple[Step, ...]

NATIVE = Arm.parse("native", {})
QUERY = {"name": "a.test.", "type": "A"}
LOOK_UP = {"host": "a.test", "began_ms": 1.0, "ended_ms": 41.0, "addresses": ["10.10.2.2"], "error": None}
RECORDERS: dict[str, Coded] = {
    "capture": CaptureOptions(),
    "machine": CaptureOptions(),
}  # whatever machine's options are


GOOD: dict[str, Arm] = {
    "native": NATIVE,
    "tls": Arm.parse("tls", {"tls": "1.3", "protocol": "h2"}),
    "resolver": Arm.parse("resolver", {"dns": "resolver"}),
    "gateway": Arm.parse("spdy", {"protocol": "spdy/3.1", "tls": "1.3", "dns": "resolver"}),
}


def good(name: str) -> Data:
    """A good trial, as the bed sends it but with the packets that the controller reads."""
    data: Data = json.loads(_good(name))
    return data


@functools.cache
def _good(name: str) -> str:
    arm = GOOD[name]
    data = record(arm)
    if arm.via == "gateway":
        told = Plan(arm, [Exchange(each.url, 1, 145 + n, 260 + n) for n, each in enumerate(SITE.objects)]).told()
        data = told.trial().to_json()
        data["evidence"]["gateway"]["dns"] = [LOOK_UP]
    if arm.dns == "resolver":
        data["evidence"]["resolver"] = {"queries": [QUERY]}
    data["recordings"] = {"machine": MACHINE.to_json()}
    return json.dumps(data)


def judged(name: str, data: Data) -> list[Failure]:
    """As the controller does it, but for the files."""
    expected = Expected(GOOD[name], SITE, LINK, EXPERIMENT.tolerances, RECORDERS)
    return judge(TrialRecord.from_json(data), expected)


@pytest.mark.parametrize("name", GOOD)
def test_the_whole_evidence_of_a_good_trial_is_enough(name: str) -> None:
    assert judged(name, good(name)) == []


# --- what the records have


def ways(data: Any, way: Way = ()) -> Iterator[Way]:
    """The path of everything in it. What the browser and the gateway write in their own words is one piece."""
    steps: list[Step] = []
    if isinstance(data, dict) and (
        not way or way[-1] not in ("navigation", "wire", "told", "heard") or "requests" in way
    ):
        steps = list(data)
    elif isinstance(data, list):
        steps = list(range(len(data)))
    for step in steps:
        yield (*way, step)
        yield from ways(data[step], (*way, step))


def at(data: Any, way: Way) -> Any:
    for step in way:
        data = data[step]
    return data


def named(way: Way) -> str:
    text = ""
    for step in way:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


# Records from before these were kept have to be readable.
CAME_LATER = {"held_us", "by_program", "ahead_bytes", "datagrams"}


def keys(name: str) -> list[Way]:
    """Keys of mappings; of each list the first member's will do."""
    first = [way for way in ways(good(name)) if all(step == 0 for step in way if isinstance(step, int))]
    return [way for way in first if isinstance(way[-1], str) and way[-1] not in CAME_LATER]


@pytest.mark.parametrize("name", GOOD)
def test_a_key_that_is_missing_fails_the_trial_and_is_named(name: str, tmp_path: Path) -> None:
    for way in keys(name):
        data = good(name)
        del at(data, way[:-1])[way[-1]]
        fails_by_name(name, data, way, tmp_path)


@pytest.mark.parametrize("name", GOOD)
def test_a_key_of_another_name_fails_the_trial_and_is_named(name: str, tmp_path: Path) -> None:
    for way in keys(name):
        data = good(name)
        inside = at(data, way[:-1])
        inside[f"{way[-1]}_"] = inside.pop(way[-1])
        fails_by_name(name, data, way, tmp_path)


# Of mappings by name some have no member that a trial must have, or another judge: what a link
# asks for and tc, a route or a kernel does not show is wrong.
FREE = {("evidence", "settings", "queues", 0, "values"), ("evidence", "settings", "mtus"),
        *(("evidence", "settings", host, "routes", 0, "metrics") for host in ("client", "server")),
        *(("evidence", "settings", host, "kernel") for host in ("client", "server")),
        ("marks",), ("measures",), ("series",), ("recordings", "machine", "machines", 0, "cpu_s"),
        ("recordings", "machine", "machines", 0, "wait_s")}  # fmt: skip


def failures(name: str, data: Data, folder: Path) -> dict[Reason, str]:
    """The verdict; of a record that cannot be read, what the workload makes of it."""
    try:
        TrialRecord.from_json(data)
    except RecordError:
        context = TrialContext(GOOD[name], SITE, LINK, EXPERIMENT, folder)
        return {failure.reason: failure.detail for failure in finish(data, context).failures}
    return {failure.reason: failure.detail for failure in judged(name, data)}


def fails_by_name(name: str, data: Data, way: Way, folder: Path) -> None:
    if way[:-1] not in FREE:
        says = failures(name, data, folder)
        assert list(says) == [Reason.EVIDENCE_MISSING], named(way)
        assert named(way) in says[Reason.EVIDENCE_MISSING]


# --- values

# Another judge names these: nothing is not what the arm or the link asked for.
OTHER_REASONS = {
    "mtu": Reason.LINK_SETTINGS,
    "queues": Reason.LINK_SETTINGS,
    "routes": Reason.LINK_SETTINGS,
    "values": Reason.LINK_SETTINGS,
    "streams": Reason.STREAM_SETTINGS,
    "told": Reason.STREAM_SETTINGS,
    "kernel": Reason.LINK_SETTINGS,
    "metrics": Reason.LINK_SETTINGS,
    "used_controls": Reason.LINK_SETTINGS,
    "plt_ms": Reason.NAVIGATION_FAILED,
    "protocol": Reason.PROTOCOL_FALLBACK,
    "tls": Reason.TLS_FALLBACK,
    "alpn": Reason.PROTOCOL_FALLBACK,
    "alpn_offered": Reason.PROTOCOL_FALLBACK,
    "spdy": Reason.PROTOCOL_FALLBACK,
    "status": Reason.MISSING_OBJECT,
    "ended_ms": Reason.MISSING_OBJECT,
}
# What a capture of short or lost packets cannot see: `witnesses` of the trial says that it could not.
SHOWN_AS_UNSEEN = {"spoken_up", "spoken_down", "alpn_offered", "tls_version", "tls_resumed"}
# What no judge goes by: ends of paths.
FACTS = (
    *("times.first_paint_ms", "times.fcp_ms", "times.lcp_ms"),  # a page may paint nothing
    *("facts.flags", "facts.sandbox"),
    *("by_connection.handshake_rtt_us", "requests.stream", "dns.addresses"),
    *("by_connection.mss_up", "by_connection.mss_down", "by_connection.first_flight_down"),
    *("client.used_controls", "server.used_controls"),  # connections may be over
    *("streams.heard", "streams.data_frames"),  # what the server says by itself
    "server.requests.connection",  # not every server says how it left the connection
    *("requests.link_preload", "requests.by_early_links"),  # Firefox does not tell; judged in test_hints.py
)


@pytest.mark.parametrize("name", GOOD)
def test_a_value_that_is_missing_fails_the_trial(name: str, tmp_path: Path) -> None:
    whole = good(name)
    for way in ways(whole):
        value = at(whole, way)
        last = next(step for step in reversed(way) if isinstance(step, str))
        if value in (None, [], {}) or way in FREE or way[:-1] in FREE or way[0] == "recordings":
            continue
        data = good(name)
        at(data, way[:-1])[way[-1]] = type(value)() if isinstance(value, list | dict) else None
        says = failures(name, data, tmp_path)
        if not says:
            unseen = last in SHOWN_AS_UNSEEN and "by_connection" in way
            copied = "wire" in way  # of a request: from the gateway's line
            names = ".".join(step for step in way if isinstance(step, str))
            assert unseen or copied or names.endswith(FACTS), named(way)
        elif last not in OTHER_REASONS or Reason.EVIDENCE_MISSING in says:
            assert last in says[Reason.EVIDENCE_MISSING], (named(way), says)
        else:
            assert says.keys() & {OTHER_REASONS[last], Reason.PROTOCOL_FALLBACK}, (named(way), says)


def test_bytes_of_which_the_browser_says_nothing_are_missed(tmp_path: Path) -> None:
    data = good("native")
    data["requests"][1]["wire_bytes"] = 0
    says = failures("native", data, tmp_path)
    assert says == {Reason.EVIDENCE_MISSING: "the record lacks requests[1].wire_bytes"}


@pytest.mark.parametrize("name", ["native", "gateway"])
def test_each_line_of_a_log_is_missed(name: str, tmp_path: Path) -> None:
    whole = good(name)
    for way in ways(whole):
        if not isinstance(way[-1], int) or way[-2] not in ("requests", "connections", "by_connection"):
            continue
        if way == ("evidence", "gateway", "dns", 0):
            continue
        data = good(name)
        del at(data, way[:-1])[way[-1]]
        lone = name == "native" and way[-2] == "by_connection"  # the browser may use a connection again
        assert failures(name, data, tmp_path) or lone, named(way)


def test_a_recorder_that_recorded_nothing_is_missed(tmp_path: Path) -> None:
    data = good("native") | {"recordings": {}}
    assert failures("native", data, tmp_path) == {Reason.EVIDENCE_MISSING: "the record lacks recordings.machine"}


def test_a_capture_that_was_not_asked_for_is_not_missed() -> None:
    data = good("native")
    data["evidence"] |= {"capture": {}, "packets": {}}
    expected = Expected(NATIVE, SITE, LINK, EXPERIMENT.tolerances, {})
    assert judge(TrialRecord.from_json(data), expected) == []


def test_a_reason_that_nobody_knows_is_not_lost(tmp_path: Path) -> None:
    data = good("native") | {"failures": [{"reason": "gremlins", "detail": "three"}]}
    (detail,) = failures("native", data, tmp_path).values()
    assert "failures[0].reason is no reason but 'gremlins'" in detail


def test_what_is_missing_in_a_trial_that_failed_is_no_reason_more() -> None:
    data = good("native") | {"failures": [{"reason": "timeout", "detail": "60 s"}], "requests": []}
    data["evidence"] |= {"browser": None, "server": None, "packets": {}}
    assert Reason.EVIDENCE_MISSING not in {failure.reason for failure in judged("native", data)}
