"""How many connections a multiplexed protocol had, by the gateway's log and by the capture; what is missing in the log;
and who could say what was on the link."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.witnesses import Witnesses
from tests.kit.gateway_records import Exchange, Plan, Told
from tests.kit.wire_plans import H2, HTML, IMAGES, KEEPALIVE, LOGO, PLANS, SPDY, SPDY_TLS, STYLE, judged

CROWD, SHARED, MISMATCH = Reason.CONNECTIONS_EXCEEDED, Reason.COALESCING_IGNORED, Reason.WIRE_MISMATCH
LOOK_UP = {"host": "b.test", "began_ms": 1.0, "ended_ms": 41.0, "addresses": ["10.10.2.2"], "error": None}
Change = Callable[[Told], object]
ONE_ORIGIN = Site("many", "", "a.test", "/0.png", IMAGES[:4], Path("/n"))


def of_one_origin(*connections: int) -> Plan:
    """Images of one host, each by this connection."""
    exchanges = [Exchange(IMAGES[n].url, number, 145 + n, 300, in_flight=2) for n, number in enumerate(connections)]
    return Plan(SPDY, exchanges, site=ONE_ORIGIN)


def of_two_hosts(arm: Arm = SPDY) -> Plan:
    """What a.test has by one connection, and then what b.test has by another."""
    return Plan(arm, [Exchange(HTML, 1, 45, 100), Exchange(STYLE, 1, 101, 160), Exchange(LOGO, 2, 250, 300)])


@pytest.mark.parametrize("connections", [(1, 2, 1, 2), (1, 1, 2, 2), (1, 1, 1, 2)], ids=str)
def test_an_origin_with_two_connections_at_once_is_found(connections: tuple[int, ...]) -> None:
    plan = of_one_origin(*connections)
    (found,) = judged(plan.told(), plan)
    assert found == Failure(CROWD, "requests to a.test went by 2 connections at the same time instead of one")


@pytest.mark.parametrize("arm", [SPDY, SPDY_TLS, H2], ids=lambda arm: arm.name)
def test_hosts_that_do_not_share_are_found_although_they_took_turns(arm: Arm) -> None:
    plan = of_two_hosts(arm)
    port = 80 if arm.tls == "off" else 443
    (found,) = judged(plan.told(), plan)
    what = f"hosts at 10.10.2.2:{port} had 2 connections at the same time instead of sharing one"
    assert found == Failure(SHARED, what)


def test_a_connection_without_a_request_counts_too() -> None:
    told = PLANS["spdy/3.1"].told()
    told.connections.append({**told.connections[0], "connection": 2, "local": "10.10.1.2:40002", "requests": 0})
    told.captured.append(dataclasses.replace(told.captured[0], client_port=40002, payload_up=0, payload_down=0))
    (found,) = [failure for failure in judged(told, PLANS["spdy/3.1"]) if failure.reason is CROWD]
    assert "requests to a.test went by 2 connections at the same time" in found.detail


@pytest.mark.parametrize(
    "first",
    [
        {"closed_ms": 170.0, "ended_by": "server"},
        {"closed_ms": 255.0, "ended_by": "server"},  # it had said that it would, and still answered
        {"closed_ms": 255.0, "ended_by": "error", "error": "connection reset by peer"},
    ],
    ids=["the server closed", "the server was about to close", "it broke down"],
)
@pytest.mark.parametrize("plan", [of_two_hosts(), of_one_origin(1, 1, 1, 2)], ids=["two hosts", "one origin"])
def test_a_connection_may_follow_another(first: dict[str, Any], plan: Plan) -> None:
    """A server may end a connection that carries everything; requests then go on with the next."""
    told = plan.told()
    told.connections[0] |= first
    assert judged(told, plan) == []


def test_a_connection_that_the_capture_shows_alive_is_found() -> None:
    """The gateway says that it had closed the first before it began the second; but data went on to come."""
    plan = of_two_hosts()
    told = plan.told()
    told.connections[0] |= {"closed_ms": 170.0, "ended_by": "gateway"}
    assert judged(told, plan) == []
    told.captured[0] = dataclasses.replace(told.captured[0], data_us=told.captured[1].data_us)
    (found,) = judged(told, plan)
    assert found.reason is SHARED


def test_a_host_that_the_server_does_not_serve_there_is_no_fault_of_one_origin() -> None:
    """It was asked for on another's connection, and the server said 421: hosts did not share one, and this is why."""
    plan = of_two_hosts()
    told = plan.told()
    told.requests[2] |= {"tries": 2}
    told.connections[0]["hosts"] = ["a.test", "b.test"]
    told.served.append({**told.served[2], "status": 421, "remote": told.served[0]["remote"]})
    (found,) = judged(told, plan)
    assert found.reason is SHARED
    assert found.detail.endswith("instead of sharing one; the server answered 421 to b.test")


# --- gaps in the log


def gateway_log(**values: object) -> Change:
    return lambda told: told.record["evidence"]["gateway"].update(values)


@pytest.mark.parametrize(
    ("changing", "says"),
    [
        (gateway_log(unread_lines=2), "2 of the lines of the gateway's log cannot be read"),
        (gateway_log(started_unix_us=None), "the gateway's log lacks its first line"),
        (lambda told: told.requests[2].update(request=5), "the gateway's log lacks 2 of requests: number 3, 4"),
        (lambda told: told.requests[2].update(request=10**15), "requests: number 3, 4, 5"),
        (
            lambda told: told.requests[2].update(request=2),
            "has 1 of requests more than once: number 2",
        ),
        (lambda told: told.connections.append(told.connections[1]), "has 1 of connections more than once: number 2"),
        (lambda told: told.connections[1].update(connection=3), "the gateway's log lacks 1 of connections: number 2"),
        (lambda told: told.connections.pop(0), "the gateway's log lacks 1 of connections: number 1"),
    ],
)
def test_what_the_log_lacks_is_found(changing: Change, says: str) -> None:
    told = PLANS["keepalive"].told()
    changing(told)
    found = {failure.reason: failure.detail for failure in judged(told, PLANS["keepalive"])}
    assert says in found[MISMATCH]


def test_a_trial_without_a_log_is_found() -> None:
    told = PLANS["keepalive"].told()
    told.record["evidence"]["gateway"] = None
    found = {failure.reason: failure.detail for failure in judged(told, PLANS["keepalive"])}
    assert "the gateway's log lacks its first line" in found[MISMATCH]


def test_a_connection_whose_name_was_not_found_has_a_number_and_no_line() -> None:
    told = PLANS["keepalive"].told()
    told.connections[1]["connection"] = 3
    told.requests[2]["connection"] = 3
    told.record["evidence"]["gateway"]["dns"] = [{**LOOK_UP, "error": "no answer"}]
    assert judged(told, PLANS["keepalive"]) == []
    told.record["evidence"]["gateway"]["dns"] = [LOOK_UP]
    assert [failure.reason for failure in judged(told, PLANS["keepalive"])] == [MISMATCH]


# --- who was heard

ALL = ["gateway", "server", "capture"]
BLIND = ["gateway", "server"]


def heard(told: Told, arm: Arm, *, captured: bool = True) -> dict[str, list[str]]:
    evidence = told.trial(captured=captured).page_load
    assert evidence
    return Witnesses.of(evidence, arm).names().to_json()


@pytest.mark.parametrize("name", PLANS)
def test_all_three_are_heard(name: str) -> None:
    plan = PLANS[name]
    assert heard(plan.told(), plan.arm) == {"protocol": ALL, "tls": ALL, "connections": ALL}
    assert heard(plan.told(), plan.arm, captured=False) == {"protocol": BLIND, "tls": BLIND, "connections": BLIND}


@pytest.mark.parametrize(
    ("arm", "unseen", "silent_on"),
    [
        (SPDY_TLS, {"alpn_offered": None}, {"protocol"}),
        (SPDY_TLS, {"tls_version": None}, {"tls"}),
        (SPDY_TLS, {"alpn_offered": None, "tls_version": None}, {"protocol", "tls"}),
        (SPDY, {"spoken_down": None}, {"protocol", "tls"}),
        (KEEPALIVE, {"spoken_up": None}, {"protocol", "tls"}),
    ],
)
def test_a_capture_that_did_not_show_it_is_not_heard(arm: Arm, unseen: dict[str, Any], silent_on: set[str]) -> None:
    told = PLANS[arm.name].told()
    told.captured[0] = dataclasses.replace(told.captured[0], **unseen)
    found = heard(told, arm)
    assert {what for what, who in found.items() if who == BLIND} == silent_on
    assert {what for what, who in found.items() if who == ALL} == set(found) - silent_on


def test_a_connection_that_carried_nothing_need_not_be_seen() -> None:
    told = PLANS["spdy/3.1"].told()
    told.captured.append(dataclasses.replace(told.captured[0], client_port=50000, spoken_up=None, spoken_down=None))
    assert heard(told, SPDY)["protocol"] == ALL


def test_a_server_that_logged_nothing_is_not_heard() -> None:
    told = PLANS["spdy/3.1"].told()
    told.served.clear()
    assert heard(told, SPDY)["protocol"] == ["gateway", "capture"]
