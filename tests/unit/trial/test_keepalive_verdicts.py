"""Connections that were kept, or not, against what the arm asks for."""

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.falsified import HTTP, NO_KEEPALIVE, connections, judged
from tests.kit.records import BEGAN_US, Data, ask, record, request


def test_fewer_connections_than_requests_are_found_on_the_wire() -> None:
    data = record(NO_KEEPALIVE)
    for line in data["evidence"]["server"]["requests"][1:]:
        line |= {"remote": "10.10.1.2:40011"}
    (found,) = judged(data, NO_KEEPALIVE, packets=connections(2))
    assert found.reason is Reason.KEEPALIVE_IGNORED
    assert "by the server's log a connection carried 2 requests" in found.detail
    assert "there were 2 connections in the capture for 3 requests" in found.detail


def many(arm: Arm, connections: int, requests: int = 20, **line: object) -> Data:
    """A trial with so many requests more, on so many connections; one every 100 ms."""
    data = record(arm)
    for number in range(requests):
        carried, place = divmod(number, connections)
        each = request(f"a.test/{number}", number, arm) | {"connection": 100 + place, "reused": carried > 0}
        ask(data, each, arm)
        own = {"keepalives": carried, "began_us": BEGAN_US + 1_000_000 + 100_000 * number}
        data["evidence"]["server"]["requests"][-1] |= own | line
    return data


def keepalive_faults(data: Data, arm: Arm) -> list[str]:
    found = judged(data, arm, allowed=Tolerances(extra=20))
    return [failure.detail for failure in found if failure.reason is Reason.KEEPALIVE_IGNORED]


@pytest.mark.parametrize(("connections", "right"), [(4, True), (5, False), (19, False), (20, False)])
def test_one_connection_more_than_a_browser_needs_is_found(connections: int, right: bool) -> None:
    """The page and its style sheet came by two others. One reuse among many requests is not enough."""
    faults = keepalive_faults(many(HTTP, connections), HTTP)
    assert faults == [] if right else f"by {connections + 2} connections, where 6 are enough" in faults[0]


@pytest.mark.parametrize(("ended", "right"), [({"rst_up": True}, True), ({"fin_up": True}, False)], ids=str)
def test_another_connection_may_follow_one_that_the_browser_reset(ended: dict[str, bool], right: bool) -> None:
    """It stopped reading an answer that was no image. What it has read to its end it ends in order."""
    data = many(HTTP, 5)
    data["evidence"]["packets"]["client"]["by_connection"][0] |= ended
    assert (keepalive_faults(data, HTTP) == []) == right


@pytest.mark.parametrize(("said_of", "right"), [(2, True), (1, False)])
def test_apache_says_of_the_last_but_one_that_it_is_the_last(said_of: int, right: bool) -> None:
    """MaxKeepAliveRequests 2: each connection carries three requests, and the log has - for the second and third."""
    data = many(HTTP, 5)
    lines = data["evidence"]["server"]["requests"]
    by_port: dict[str, int] = {}
    for line in sorted(lines, key=lambda each: each["began_us"]):
        by_port[line["remote"]] = number = by_port.get(line["remote"], 0) + 1
        line |= {"keepalives": number - 1, "connection": "-" if number >= said_of else "+"}
    faults = keepalive_faults(data, Arm.parse("short", {"keepalive_requests": 2}))
    assert any("it closed the connection after" in each for each in faults) is not right


def test_connections_that_may_end_make_room_for_others() -> None:
    data = many(HTTP, 20)
    for settings in ({"keepalive_requests": 1}, {"keepalive_timeout": "100ms"}):
        arm = Arm.parse("short", settings)
        faults = keepalive_faults(data, arm)
        assert bool(faults) == ("keepalive_requests" in settings)  # each carried one request of two
    carried_two = many(Arm.parse("short", {"keepalive_requests": 1}), 10)
    assert keepalive_faults(carried_two, Arm.parse("short", {"keepalive_requests": 1})) == []
    for line in data["evidence"]["server"]["requests"]:
        line["status"] = 503  # after which Apache closes
    assert [each for each in judged(data) if each.reason is Reason.KEEPALIVE_IGNORED] != []
    for each in data["requests"][3:]:
        each["status"] = 503
    assert keepalive_faults(data, HTTP) == []


def test_requests_that_browsers_keep_apart_have_connections_of_their_own() -> None:
    data = many(HTTP, 8)
    assert keepalive_faults(data, HTTP) != []
    data["requests"][-1]["request_headers"] = [["Origin", "http://a.test"]]
    assert keepalive_faults(data, HTTP) == []


def test_a_server_that_closes_although_keepalive_is_on_is_found() -> None:
    data = many(HTTP, 3)
    data["evidence"]["server"]["requests"][5]["connection"] = "-"
    (fault,) = keepalive_faults(data, HTTP)
    assert fault.startswith("keepalive is on, but by the server's log it closed the connection after 1 of 23 requests")


def test_a_server_that_keeps_connections_although_keepalive_is_off_is_found() -> None:
    data = record(NO_KEEPALIVE)
    data["evidence"]["server"]["requests"][0]["connection"] = "+"
    assert keepalive_faults(data, NO_KEEPALIVE) == ["keepalive is off, but by the server's log 1 connections were kept"]
