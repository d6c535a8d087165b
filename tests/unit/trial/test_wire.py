"""What was on the wire of a trial that went through the gateway: each witness alone is enough to tell what is wrong,
and where all say the same as the arm, nothing is."""

import dataclasses
from collections.abc import Callable

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.judges.registry import judge
from tests.kit.gateway_records import Exchange, Plan, Told
from tests.kit.records import SITE, Data, record
from tests.kit.wire_plans import (
    HTML,
    IMAGES,
    LOGO,
    MANY,
    PIPELINED,
    PLANS,
    TWO,
    Change,
    captured,
    expected,
    in_turns,
    judged,
    together,
)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("captured", [True, False], ids=["captured", "no capture"])
def test_a_sound_trial_counts(name: str, *, captured: bool) -> None:
    assert judged(PLANS[name].told(), PLANS[name], captured=captured) == []


def gateway_request(index: int, **values: object) -> Change:
    return lambda told: told.requests[index].update(values)


def gateway_connection(index: int, **values: object) -> Change:
    return lambda told: told.connections[index].update(values)


def served(index: int, **values: object) -> Change:
    return lambda told: told.served[index].update(values)


def browser(index: int, **values: object) -> Change:
    return lambda told: told.record["requests"][index].update(values)


def lost(which: Callable[[Told], list[Data]], index: int) -> Change:
    return lambda told: which(told).pop(index)


def uncaptured(index: int) -> Change:
    return lambda told: told.captured.pop(index)


def another_capture(told: Told) -> None:
    told.captured.append(dataclasses.replace(told.captured[0], client_port=50000))


def nameless_with_data(told: Told) -> None:
    """A connection that the gateway says it never had, but that carried something."""
    another_capture(told)
    told.connections.append(
        {**told.connections[0], "connection": len(told.connections) + 1, "local": "", "requests": 0}
    )


def crowd(told: Told) -> None:
    """Three connections to one host at once, where two are allowed."""
    for each in told.connections:
        each["began_ms"], each["closed_ms"] = 1.0, 900.0
        each["host"] = "a.test"


def crowd_in_capture(told: Told) -> None:
    told.captured[:] = [dataclasses.replace(each, first_us=told.captured[0].first_us) for each in told.captured]
    told.captured[0] = dataclasses.replace(told.captured[0], data_us=told.captured[2].data_us)
    for each in told.connections:
        each["host"] = "a.test"


def back_and_forth(told: Told) -> None:
    """Two connections, and requests of both hosts now on the one, now on the other."""
    told.connections.append({**told.connections[0], "connection": 2, "local": "10.10.1.2:40002", "requests": 1})
    told.requests[1]["connection"] = 2
    told.served[1]["remote"] = "10.10.1.2:40002"
    told.captured.append(dataclasses.replace(told.captured[0], client_port=40002))


def read_at_once(told: Told) -> None:
    for each in told.served[1:]:
        each["began_us"] = told.served[1]["began_us"]


def read_in_turns(told: Told) -> None:
    """As a server sees it that gets each request after the answer before."""
    for number, each in enumerate(told.served):
        each |= {"began_us": told.served[0]["began_us"] + number * 100_000, "duration_us": 1000}


PROTOCOL = Reason.PROTOCOL_FALLBACK
TLS = Reason.TLS_FALLBACK
RESUMED = Reason.RESUMPTION_IGNORED
KEPT = Reason.KEEPALIVE_IGNORED
CROWD = Reason.CONNECTIONS_EXCEEDED
SHARED = Reason.COALESCING_IGNORED
AHEAD = Reason.PIPELINING_IGNORED
MISMATCH = Reason.WIRE_MISMATCH
CASES: list[tuple[Reason, str, Change, str]] = [
    # the protocol, by each who can know
    (PROTOCOL, "spdy/3.1", gateway_request(1, protocol="spdy/3"), "by the gateway 1 of 3 requests used spdy/3"),
    (PROTOCOL, "spdy/3.1", gateway_connection(0, protocol="http/1.1"), "spoke http/1.1 instead of spdy/3.1"),
    (PROTOCOL, "spdy/3.1", served(2, spdy="3"), "by the server's log 1 of 3 requests used spdy/3, not spdy/3.1"),
    (PROTOCOL, "spdy/3.1", served(2, spdy=None), "used HTTP/1.1, not spdy/3.1"),
    (PROTOCOL, "spdy/3.1", captured(0, spoken_up="spdy/2"), "the client began with spdy/2 instead of spdy/3"),
    (PROTOCOL, "spdy/3.1", captured(0, spoken_down="http/1.1"), "the server began with http/1.1 instead of spdy"),
    (PROTOCOL, "spdy/2", captured(0, spoken_up="other"), "the client began with other instead of"),
    (PROTOCOL, "h2", gateway_connection(0, alpn="http/1.1"), "the server chose http/1.1 by ALPN instead of h2"),
    (PROTOCOL, "spdy/3.1 tls", gateway_connection(0, alpn=None), "the server chose nothing by ALPN"),
    (PROTOCOL, "spdy/3.1 tls", captured(0, alpn_offered=("spdy/3", "http/1.1")), "http/1.1 was offered by ALPN"),
    (PROTOCOL, "https", captured(0, alpn_offered=("h2", "http/1.1")), "h2, http/1.1 was offered by ALPN"),
    (PROTOCOL, "h2c", served(0, protocol="HTTP/1.1"), "used HTTP/1.1, not h2"),
    (PROTOCOL, "h2c", captured(0, spoken_up="http/1.1"), "the client began with http/1.1 instead of h2"),
    (PROTOCOL, "keepalive", served(0, protocol="HTTP/2.0"), "used HTTP/2.0, not http/1.1"),
    (PROTOCOL, "keepalive", served(0, spdy="3.1"), "used spdy/3.1, not http/1.1"),
    (PROTOCOL, "keepalive", browser(0, protocol="http/1.1"), "between browser and gateway 1 of 3 requests used"),
    (PROTOCOL, "keepalive", browser(0, remote="10.10.2.2:443"), "used h2 TLS 1.3 10.10.2.2:443"),
    (PROTOCOL, "keepalive", browser(0, remote="127.0.0.2:443"), "used h2 TLS 1.3 127.0.0.2:443"),  # another host's
    # TLS
    (TLS, "h2", gateway_connection(0, tls="TLS 1.3"), "by the gateway there was TLS 1.3 instead of TLS 1.2"),
    (TLS, "h2", served(1, tls="TLSv1.3"), "by the server's log there was TLSv1.3 instead of TLS 1.2"),
    (TLS, "h2", captured(0, tls_version="TLS 1.3"), "by the capture there was TLS 1.3 instead of TLS 1.2"),
    (TLS, "https", captured(1, tls=False), "by the capture there was no TLS instead of TLS 1.3"),
    (TLS, "keepalive", captured(1, tls=True), "instead of no TLS"),
    (RESUMED, "https", gateway_connection(1, tls_resumed=True), "by the gateway 1 of 2"),
    (RESUMED, "spdy/3.1 tls", served(1, tls_resumed=True), "by the server's log 1 of 3"),
    (RESUMED, "https", captured(1, tls_resumed=True), "by the capture 1 of 2"),
    # connections
    (KEPT, "closing", gateway_connection(0, requests=2), "by the gateway 1 connections carried more than"),
    (KEPT, "closing", served(1, remote="10.10.1.2:40001"), "by the server's log a connection carried 2"),
    (KEPT, "closing", uncaptured(0), "2 connections in the capture for 3 requests"),
    (CROWD, "closing", crowd, "by the gateway 3 connections to a.test were open at once, more than 2"),
    (CROWD, "closing", crowd_in_capture, "by the capture 3 connections to a.test were in use at once"),
    (CROWD, "h2", back_and_forth, "requests to a.test went by 2 connections at the same time"),
    (SHARED, "by origin", gateway_connection(0, hosts=["a.test", "b.test"]), "was for a.test, b.test"),
    (SHARED, "by origin", served(2, remote="10.10.1.2:40001"), "by the server's log a connection was for 2"),
    # depth
    (AHEAD, "in turns", gateway_request(3, in_flight=2), "by the gateway a connection had 2 requests without"),
    (AHEAD, "in turns", read_at_once, "by the server's log a connection had 4 requests without an answer"),
    (AHEAD, "pipelined", gateway_request(3, in_flight=5), "had 5 requests without an answer, more than 4"),
    (MISMATCH, "pipelined", read_in_turns, "the server saw none of them so"),
    # whether all say the same
    (MISMATCH, "keepalive", another_capture, "1 connections of the capture are not the gateway's: port 50000"),
    (MISMATCH, "keepalive", nameless_with_data, "1 connections of the capture are not the gateway's: port 50000"),
    (MISMATCH, "keepalive", uncaptured(1), "1 of the gateway's connections are not in the capture: port 40002"),
    (MISMATCH, "spdy/3.1", lost(lambda told: told.served, 1), "lacks a.test/style.css?v=1 (200, port 40001)"),
    (MISMATCH, "spdy/3.1", lost(lambda told: told.requests, 1), "the gateway does not tell of a.test/style.css?v=1"),
    (MISMATCH, "spdy/3.1", lost(lambda told: told.requests, 1), "the browser loaded what the gateway does not tell"),
    (MISMATCH, "keepalive", served(1, status=206), "lacks a.test/style.css?v=1 (200, port 40001)"),
    (MISMATCH, "keepalive", served(1, remote="10.10.1.2:40002"), "(200, port 40001)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "name", "changing", "says"), CASES, ids=lambda value: str(getattr(value, "name", ""))[:40]
)
def test_a_false_word_of_any_one_is_found(reason: Reason, name: str, changing: Change, says: str) -> None:
    told = PLANS[name].told()
    changing(told)
    found = {failure.reason: failure.detail for failure in judged(told, PLANS[name])}
    assert reason in found
    assert says in found[reason]


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_a_redirect_may_lead_to_all_that_a_host_has(scheme: str) -> None:
    """Chromium does not say the TLS of an answer to which another host's redirect led, and no other one came by that
    connection. The redirect may name it in clear: pages are told to ask for everything by TLS."""
    told = PLANS["keepalive"].told()
    browser(2, tls=None)(told)
    found = {failure.reason: failure.detail for failure in judged(told, PLANS["keepalive"])}
    assert "1 of 3 requests used h2 None 127.0.0.1:443" in found[PROTOCOL]
    browser(1, status=302, response_headers=[["Location", f"{scheme}://{LOGO}"]])(told)
    assert PROTOCOL not in {failure.reason for failure in judged(told, PLANS["keepalive"])}
    browser(2, remote="10.10.2.2:443")(told)
    assert PROTOCOL in {failure.reason for failure in judged(told, PLANS["keepalive"])}


def test_each_reason_is_said_once() -> None:
    told = PLANS["pipelined"].told()
    for changing in (another_capture, read_in_turns):
        changing(told)
    reasons = [failure.reason for failure in judged(told, PLANS["pipelined"])]
    assert reasons == [Reason.WIRE_MISMATCH]


def test_pipelining_that_was_not_used_although_it_could_be_is_found() -> None:
    plan = in_turns(PIPELINED)
    (found,) = judged(plan.told(), plan)
    assert found.reason is Reason.PIPELINING_IGNORED
    assert "no request was sent ahead of an answer, although a.test/" in found.detail


def test_pipelining_that_could_not_be_used_is_not_missed() -> None:
    """Each image was wanted only when the one before it was there: as a script asks."""
    plan = in_turns(PIPELINED)
    told = plan.told()
    for each in told.requests:
        each["queued_ms"] = each["sent_ms"]
    assert judged(told, plan) == []


def policy(name: str, **more: object) -> Arm:
    return Arm.parse(name, {"pipelining": 3, "pipelining_policy": name, "connections_per_host": 2, **more})


@pytest.mark.parametrize("name", ["chromium", "firefox"])
def test_a_policy_that_sent_nothing_ahead_is_found(name: str) -> None:
    plan = in_turns(policy(name))
    told = plan.told()
    for each in told.record["requests"]:
        each["type"] = "Document" if each["url"].endswith("html") else "Image"
    (found,) = judged(told, plan)
    assert "no request was sent ahead of an answer, although a.test/" in found.detail


@pytest.mark.parametrize(
    ("name", "types"),
    [("chromium", ["Document"]), ("firefox", ["Image", "Image", "Script", "Script"]), ("firefox", ["XHR"])],
)
def test_what_a_policy_has_no_place_for_is_not_missed(name: str, types: list[str]) -> None:
    """Frames; scripts behind images and images behind scripts; what scripts ask for."""
    plan = in_turns(policy(name))
    told = plan.told()
    for place, each in enumerate(told.record["requests"][1:]):
        each["type"] = types[place % len(types)]
    assert judged(told, plan) == []


def test_a_policy_that_was_put_off_by_the_server_is_not_missed() -> None:
    plan = in_turns(policy("chromium"))
    told = plan.told()
    told.requests[1] |= {"sent_again": ["pipeline"]}
    assert judged(told, plan) == []


def test_what_another_host_did_excuses_nothing() -> None:
    plan = in_turns(policy("chromium"))
    told = plan.told()
    for each in told.record["requests"]:
        each["type"] = "Document" if each["url"].endswith("html") else "Image"
    other = {**told.requests[-1], "request": len(told.requests) + 1, "url": "b.test/x.png", "sent_again": ["closed"]}
    other |= {
        "sent_ms": None,
        "connection": None,
        "first_byte_ms": None,
        "last_byte_ms": None,
        "cancelled": True,
        "status": None,
    }
    told.requests.append(other)
    assert Reason.PIPELINING_IGNORED in {failure.reason for failure in judged(told, plan)}


def test_a_host_that_wants_a_password_gets_no_pipelines_by_chromiums_rules() -> None:
    plan = in_turns(policy("chromium"))
    told = plan.told()
    told.requests[1] |= {"status": 401}
    assert Reason.PIPELINING_IGNORED not in {failure.reason for failure in judged(told, plan)}


def test_a_backup_stays_unused_where_the_arm_has_backups() -> None:
    for protocol in ("h2", "spdy/3.1"):
        for arm in (
            Arm.parse("with", {"via": "gateway", "protocol": protocol, "backup_connections": True}),
            Arm.parse("without", {"via": "gateway", "protocol": protocol}),
        ):
            plan = together(arm)
            told = plan.told()
            unused = {"connection": 2, "requests": 0, "backup": True, "local": "10.10.1.2:50000"}
            told.connections.append({**told.connections[0], **unused})
            silent = {"client_port": 50000, "payload_up": 0, "payload_down": 0, "data_us": None}
            told.captured.append(dataclasses.replace(told.captured[0], **silent))  # type: ignore[arg-type]
            found = judged(told, plan)
            assert [each.reason for each in found] == ([] if arm.backup_connections else [Reason.CONNECTIONS_EXCEEDED])


ICON = {"request": 4, "url": "a.test/favicon.ico", "status": None}  # wanted, and given up

CUT_OFF = {"local": "", "requests": 0, "alpn": None, "secured_ms": None, "error": "cancelled"}


def following(told: Told) -> Data:
    return {"connection": len(told.connections) + 1}


def given_up(told: Told) -> None:
    """The gateway was ended while it made a connection, whose SYN was on the link."""
    told.connections.append({**told.connections[0], **following(told), **CUT_OFF})
    silent = {"client_port": 50000, "payload_up": 0, "payload_down": 0, "data_us": None}
    told.captured.append(dataclasses.replace(told.captured[0], **silent))  # type: ignore[arg-type]


def icon_served(told: Told) -> Data:
    return {**told.served[0], "path": "/favicon.ico", "status": 404, "began_us": told.served[0]["began_us"] + 900_000}


@pytest.mark.parametrize(
    "harmless",
    [
        lambda told: told.requests.append({**told.requests[0], **ICON}),
        lambda told: told.requests.append({**told.requests[0], **ICON}) or told.served.append(icon_served(told)),
        lambda told: told.connections.append(
            {**told.connections[0], **following(told), "host": "b.test", "local": "", "connected_ms": None,
             "requests": 0, "protocol": "", "error": None}
        ),
        captured(0, alpn_offered=None, tls_version=None, tls_resumed=None),
        captured(0, spoken_up=None, spoken_down=None),
        lambda told: told.connections.append({**told.connections[0], **following(told), **CUT_OFF}),
        given_up,
    ],
    ids=["cancelled", "cancelled after it was served", "never connected", "a short snap length", "lost", "cut off",
         "given up"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["keepalive", "spdy/3.1", "https"])
def test_what_is_harmless_passes(harmless: Change, name: str) -> None:
    told = PLANS[name].told()
    harmless(told)
    assert judged(told, PLANS[name]) == []


def test_a_request_that_was_sent_again_elsewhere_may_be_served_twice() -> None:
    told = PLANS["keepalive"].told()
    told.requests[1] |= {"tries": 2}
    told.served.append({**told.served[1], "remote": "10.10.1.2:40002"})
    assert judged(told, PLANS["keepalive"]) == []


def test_keepalive_that_no_connection_has_is_found() -> None:
    exchanges = [Exchange(HTML, 1, 45, 100)]
    exchanges += [Exchange(image.url, 2 + n, 150 + 100 * n, 240 + 100 * n) for n, image in enumerate(IMAGES)]
    plan = Plan(TWO, exchanges, ended=True, site=MANY)
    (found,) = judged(plan.told(), plan)
    assert found.reason is Reason.KEEPALIVE_IGNORED
    assert "9 requests to a.test came by 9 connections, where 2 are enough" in found.detail


def test_why_the_gateway_got_no_answer_is_told() -> None:
    told = PLANS["spdy/3.1"].told()
    told.record["requests"][1]["status"] = 502
    told.requests[1] |= {"status": None, "error": "the server reset the stream", "sent_ms": None}
    told.served.pop(1)
    (found,) = judged(told, PLANS["spdy/3.1"])
    assert found == Failure(Reason.FAILED_OBJECT, "a.test/style.css?v=1 (status 502: the server reset the stream)")


def test_a_connection_that_broke_down_before_any_answer_spoke_something_else() -> None:
    told = PLANS["spdy/3.1"].told()
    told.connections[0] |= {"error": "what came is no SPDY frame", "requests": 1}
    for each in told.requests:
        each |= {"status": None, "error": "what came is no SPDY frame"}
    told.served.clear()
    found = {failure.reason: failure.detail for failure in judged(told, PLANS["spdy/3.1"])}
    assert "broke down before any answer: what came is no SPDY frame" in found[Reason.PROTOCOL_FALLBACK]


def test_a_gateway_that_failed_leaves_nothing_to_judge() -> None:
    told = PLANS["spdy/3.1"].told()
    told.record["failures"] = [{"reason": "gateway-failed", "detail": "killed"}]
    told.record["evidence"]["gateway"] |= {"connections": [], "requests": [], "dns": []}
    assert judged(told, PLANS["spdy/3.1"]) == [Failure(Reason.GATEWAY_FAILED, "killed")]


def test_resumption_is_judged_without_a_gateway_too() -> None:
    arm = Arm.parse("native", {"tls": "1.3", "tls_resumption": False})
    data = record(arm)
    assert judge(TrialRecord.from_json(data), expected(arm, SITE)) == []
    data["evidence"]["server"]["requests"][0]["tls_resumed"] = True
    (found,) = judge(TrialRecord.from_json(data), expected(arm, SITE))
    assert found.reason is Reason.RESUMPTION_IGNORED
