"""Connections from one port of the client: to two servers at the same time, as kernels make them, and one after the
other. Judges and the parts of a load time keep them apart."""

import dataclasses
from collections.abc import Callable, Mapping

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.packets.timeline import Stream
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.parts.decompose import Loaded, decompose
from lanelab.driver.trial.parts.exchanges import exchanges_of
from tests.kit.gateway_records import Exchange, Plan, Told
from tests.kit.judging import judged
from tests.kit.records import SITE, Data, connection, record, served
from tests.kit.tcp_simulation import CLIENT, SERVER, Page, Simulation
from tests.kit.wire_plans import HTML, LOGO, STYLE, expected

OWN, OTHER = "10.10.16.1", "10.10.16.2"
PER_ORIGIN = {"addresses": "per-origin"}
BY_GATEWAY = Arm.parse("by gateway", {"via": "gateway", **PER_ORIGIN})
CLOSING = Arm.parse("closing", {"keepalive": False, **PER_ORIGIN})
PORT = 40001
MISMATCH = Reason.WIRE_MISMATCH


# --- through the gateway


def told_of(logo_ms: float = 130) -> Told:
    """Two connections of one port. On the second the server is asked 29 ms after it was on the first, of 40."""
    exchanges = [Exchange(HTML, 1, 45, 100), Exchange(STYLE, 1, 101, 160), Exchange(LOGO, 2, logo_ms, 260)]
    told = Plan(BY_GATEWAY, exchanges).told()
    for each in told.connections:
        each |= {"local": f"{CLIENT}:{PORT}", "remote": f"{OTHER if each['host'] == 'b.test' else OWN}:80"}
    for each in told.served:
        each |= {"remote": f"{CLIENT}:{PORT}", "local": f"{OTHER if each['host'] == 'b.test' else OWN}:80"}
    told.captured[:] = [
        dataclasses.replace(each, client_port=PORT, server=server)
        for each, server in zip(told.captured, (OWN, OTHER), strict=True)
    ]
    return told


def failures(told: Told) -> list[Failure]:
    return judge(told.trial(), expected(BY_GATEWAY, SITE))


def test_requests_to_two_servers_within_a_round_trip_are_no_pipeline() -> None:
    assert failures(told_of()) == []


def test_requests_on_one_of_them_within_a_round_trip_are() -> None:
    told = told_of()
    told.served[1]["began_us"] = told.served[0]["began_us"] + 1000
    (found,) = failures(told)
    assert found.detail == "by the server's log a connection had 2 requests without an answer, more than 1"


def test_without_servers_addresses_a_log_is_compared_by_the_clients_port() -> None:
    """As Caddy and lighttpd write it: then nobody knows better."""
    told, close = told_of(logo_ms=150), told_of()
    for each in (*told.served, *close.served):
        each["local"] = ":80"
    assert failures(told) == []
    assert [each.reason for each in failures(close)] == [Reason.PIPELINING_IGNORED]
    told.captured.pop(1)
    assert MISMATCH in {each.reason for each in failures(told)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda told: told.captured.pop(1), "are not in the capture: port 40001 to 10.10.16.2:80"),
        (lambda told: told.connections.pop(1), "are not the gateway's: port 40001 to 10.10.16.2:80"),
        (lambda told: told.served[2].update(local=f"{OWN}:80"), "log lacks b.test/logo.png (200, port 40001)"),
        (lambda told: told.connections[1].update(remote=f"{OWN}:80"), "log lacks b.test/logo.png (200, port 40001)"),
    ],
    ids=["capture", "gateway's log", "server's log", "address"],
)
def test_what_is_false_of_one_of_them_is_found(change: Callable[[Told], object], says: str) -> None:
    told = told_of()
    change(told)
    found = {each.reason: each.detail for each in failures(told)}
    assert says in found[MISMATCH]


# --- without one


def native() -> Data:
    """The host's style sheet and the other host's picture came on connections of one port, each by its own."""
    data = record(CLOSING)
    captured = []
    for number, each in enumerate(data["requests"]):
        server, port = (OTHER if "//b.test/" in each["url"] else OWN), PORT + (number == 0)
        each["remote"] = f"{server}:80"
        data["evidence"]["server"]["requests"][number] |= {"remote": f"{CLIENT}:{port}", "local": f"{server}:80"}
        captured.append(connection(port, CLOSING, server=server).to_json())
    data["evidence"]["packets"]["client"]["by_connection"] = captured
    return data


def test_no_connection_of_a_browser_carried_two_requests() -> None:
    assert judged(native(), CLOSING, agreed=False) == []


def test_a_connection_that_carried_two_is_found() -> None:
    data = native()
    lines = data["evidence"]["server"]["requests"]
    lines.append(served(data["requests"][2], CLOSING) | {end: lines[2][end] for end in ("remote", "local")})
    found = {each.reason: each.detail for each in judged(data, CLOSING, agreed=False)}
    assert "by the server's log a connection carried 2 requests" in found[Reason.KEEPALIVE_IGNORED]


def test_one_that_is_not_in_the_capture_is_named_with_its_server() -> None:
    data = native()
    data["evidence"]["packets"]["client"]["by_connection"].pop(2)
    found = {each.reason: each.detail for each in judged(data, CLOSING, agreed=False)}
    assert "the server's log are not in the capture: port 40001 to 10.10.16.2:80" in found[MISMATCH]


# --- the parts of a load time


def at_one_port(loaded: Loaded, servers: Mapping[int, str]) -> Loaded:
    """The same load, with one port for all connections. `servers`: by the port that each had."""
    log = loaded.evidence.server
    assert log is not None
    streams = [Stream((CLIENT, PORT), (servers[each.client[1]], 80), each.packets) for each in loaded.timeline.streams]
    lines = tuple(
        dataclasses.replace(line, remote=f"{CLIENT}:{PORT}", local=f"{servers[line.ends.client_port]}:80")
        for line in log.requests
    )
    evidence = dataclasses.replace(loaded.evidence, server=dataclasses.replace(log, requests=lines))
    timeline = dataclasses.replace(loaded.timeline, streams=streams)
    return dataclasses.replace(loaded, timeline=timeline, evidence=evidence)


def test_parts_are_those_of_two_connections() -> None:
    loaded = Simulation(Page(sizes=(14_000, *[30_000] * 8), connections=2, server_ms=30)).load()
    assert len(loaded.timeline.streams) == 2
    found = decompose(at_one_port(loaded, {40_000: OWN, 40_001: OTHER}), one_at_a_time=True)
    assert found == decompose(loaded, one_at_a_time=True)
    assert found.parts.absent is None


def test_connections_with_the_same_ends_one_after_the_other_are_several() -> None:
    loaded = Simulation(Page(sizes=(14_000, 10_000, 10_000, 10_000), keepalive=False)).load()
    ports = [each.client[1] for each in loaded.timeline.streams]
    assert len(ports) == 4
    found = decompose(at_one_port(loaded, dict.fromkeys(ports, SERVER)))
    assert found == decompose(loaded)
    assert found.parts.absent is None


def test_the_gateway_tells_which_connection_carried_a_request() -> None:
    evidence = told_of().trial().page_load
    assert evidence
    own, other = (Stream((CLIENT, PORT), (server, 80)) for server in (OWN, OTHER))
    found = exchanges_of((), 0, [own, other], (), evidence.gateway)
    assert [each.stream for each in found] == [own, own, other]
