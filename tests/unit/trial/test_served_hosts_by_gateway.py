"""Trials through the gateway in which hosts have servers of their own: each server's connections are judged by what is
to be spoken with its hosts, and a false word of any one witness is found."""

import dataclasses
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.page_load.served_hosts import by_server, names_of_all
from tests.kit.gateway_records import Exchange, Plan, Told
from tests.kit.quic_records import flow
from tests.kit.records import HASH
from tests.kit.wire_plans import LINK, Change, captured, expected

ARM = Arm.parse(
    "own host by SPDY",
    {
        "protocol": "spdy/3.1", "tls": "1.3", "tls_resumption": False, "addresses": "per-origin",
        "connections_per_host": 2, "origins": {"b.test": {"server": "nginx", "protocol": "http/1.1"}},
    },
)  # fmt: skip
HTML, STYLE, *IMAGES = "a.test/index.html", "a.test/style.css", *(f"b.test/{number}.png" for number in range(4))
KINDS = {"html": "text/html", "css": "text/css", "png": "image/png"}
OBJECTS = tuple(
    SiteObject("a.test" if url.startswith("a.") else "b.test", url[6:], 1000, KINDS[url.rpartition(".")[2]], HASH)
    for url in (HTML, STYLE, *IMAGES)
)
SITE = Site("two", "Two hosts", "a.test", "/index.html", OBJECTS, Path("/nowhere"))
OWN, OTHER = "10.10.16.1", "10.10.16.2"
BY_SPDY = [Exchange(HTML, 1, 45, 100), Exchange(STYLE, 1, 101, 160)]
BY_HTTP = [Exchange(url, 2 + place % 2, 145 + 60 * (place // 2), 204 + 60 * (place // 2), 101)
           for place, url in enumerate(IMAGES)]  # fmt: skip
# Places in the lists of connections and of requests.
SPDY, HTTP = 0, 1
OF_SPDY, OF_HTTP = 1, 3


def sound() -> Told:
    """The page's own host by SPDY on one connection, the other by HTTP/1.1 on two."""
    own, other = (
        Plan(arm, exchanges, site=SITE).told() for arm, exchanges in zip(ARM.by_server, (BY_SPDY, BY_HTTP), strict=True)
    )
    for told, address in ((own, OWN), (other, OTHER)):
        for each in told.connections:
            each["remote"] = f"{address}:443"
        for each in told.served:
            each["local"] = f"{address}:443"
        told.captured[:] = [dataclasses.replace(each, server=address) for each in told.captured]
    for number, each in enumerate(other.requests, len(own.requests) + 1):
        each["request"] = number
    for each in other.served:  # nginx does not say these
        each |= {"connection": None, "match": None}
    own.connections.extend(other.connections)
    own.requests.extend(other.requests)
    own.served.extend(other.served)
    own.captured.extend(other.captured)
    return own


def failures(told: Told) -> list[Failure]:
    return judge(told.trial(), expected(ARM, SITE))


def test_a_sound_trial_counts() -> None:
    assert failures(sound()) == []


def request(index: int, **values: object) -> Change:
    return lambda told: told.requests[index].update(values)


def connection(index: int, **values: object) -> Change:
    return lambda told: told.connections[index].update(values)


def served(index: int, **values: object) -> Change:
    return lambda told: told.served[index].update(values)


def one_more(index: int, **values: object) -> Change:
    """A connection like one that there is, at the same time."""

    def change(told: Told) -> None:
        more = {"connection": 4, "local": "10.10.1.2:40004", **values}
        told.connections.append({**told.connections[index], **more})
        told.captured.append(dataclasses.replace(told.captured[index], client_port=40004))

    return change


def streams(told: Told) -> None:
    told.connections[SPDY]["streams"]["told"]["initial_window_size"] = 65536


def in_turns(told: Told) -> None:
    """Each image of the other host on a connection of its own, one after the other."""
    for number, each in enumerate(told.served[2:]):
        each["remote"] = f"10.10.1.2:{40010 + number}"


FALLBACK, TLS, RESUMED = Reason.PROTOCOL_FALLBACK, Reason.TLS_FALLBACK, Reason.RESUMPTION_IGNORED
CROWD, MISMATCH = Reason.CONNECTIONS_EXCEEDED, Reason.WIRE_MISMATCH
CASES: list[tuple[Reason, Change, str]] = [
    # the protocol, by each who can know, of either server
    (FALLBACK, request(OF_HTTP, protocol="spdy/3.1"), "1 of 4 requests used spdy/3.1 instead of http/1.1"),
    (FALLBACK, request(OF_SPDY, protocol="http/1.1"), "1 of 2 requests used http/1.1 instead of spdy/3.1"),
    (FALLBACK, connection(HTTP, protocol="spdy/3.1"), "connection 2 to b.test spoke spdy/3.1 instead of http/1.1"),
    (FALLBACK, connection(SPDY, protocol="http/1.1"), "connection 1 to a.test spoke http/1.1 instead of spdy/3.1"),
    (FALLBACK, connection(HTTP, alpn="spdy/3.1"), "the server chose spdy/3.1 by ALPN instead of http/1.1"),
    (FALLBACK, connection(SPDY, alpn="http/1.1"), "the server chose http/1.1 by ALPN instead of spdy/3.1"),
    (FALLBACK, served(OF_HTTP, spdy="3.1"), "by the server's log 1 of 4 requests used spdy/3.1, not http/1.1"),
    (FALLBACK, served(OF_HTTP, protocol="HTTP/2.0"), "by the server's log 1 of 4 requests used HTTP/2.0"),
    (FALLBACK, served(OF_SPDY, spdy=None), "by the server's log 1 of 2 requests used HTTP/1.1, not spdy/3.1"),
    (FALLBACK, captured(HTTP, alpn_offered=("spdy/3.1",)), "by the capture spdy/3.1 was offered by ALPN"),
    (FALLBACK, captured(SPDY, alpn_offered=("http/1.1",)), "by the capture http/1.1 was offered by ALPN"),
    (FALLBACK, captured(HTTP, spoken_up="http/1.1"), "by the capture the client began with http/1.1 instead of tls"),
    # TLS
    (TLS, connection(HTTP, tls="TLS 1.2"), "by the gateway there was TLS 1.2 instead of TLS 1.3"),
    (TLS, served(OF_HTTP, tls="TLSv1.2"), "by the server's log there was TLSv1.2 instead of TLS 1.3"),
    (TLS, captured(SPDY, tls_version="TLS 1.2"), "by the capture there was TLS 1.2 instead of TLS 1.3"),
    (RESUMED, connection(HTTP, tls_resumed=True), "by the gateway 1 of 2"),
    (RESUMED, served(OF_HTTP, tls_resumed=True), "by the server's log 1 of 4"),
    (RESUMED, captured(HTTP, tls_resumed=True), "by the capture 1 of 2"),
    (RESUMED, captured(SPDY, tls_resumed=True), "by the capture 1 of 1"),
    # connections: one by SPDY, two by HTTP/1.1
    (CROWD, one_more(HTTP), "by the gateway 3 connections to b.test were open at once, more than 2"),
    (CROWD, one_more(SPDY), "requests to a.test went by 2 connections at the same time instead of one"),
    (Reason.KEEPALIVE_IGNORED, in_turns, "4 requests to b.test came by 4 connections, where 2 are enough"),
    (Reason.PIPELINING_IGNORED, request(OF_HTTP, in_flight=2), "a connection had 2 requests without an answer"),
    (Reason.STREAM_SETTINGS, streams, "the server was told initial_window_size 65536 instead of 6291456"),
    # whether all say the same
    (
        MISMATCH,
        connection(HTTP, hosts=["b.test", "a.test"]),
        "connection 2 to 10.10.16.2:443 was for a.test, for which",
    ),
    (MISMATCH, connection(HTTP, remote=f"{OWN}:443"), "connection 2 to 10.10.16.1:443 was for b.test, for which"),
    (MISMATCH, connection(HTTP, host="a.test"), "was for a.test, for which another server answers"),
    (MISMATCH, request(OF_HTTP, connection=1), "lacks b.test/1.png (200, port None)"),
    (MISMATCH, served(OF_HTTP, local=f"{OWN}:443"), "lacks b.test/1.png (200, port 40003)"),
    (MISMATCH, captured(HTTP, server=OWN), "1 connections of the capture are not the gateway's: port 40002"),
    (MISMATCH, captured(HTTP, server=OWN), "1 of the gateway's connections are not in the capture: port 40002"),
    (MISMATCH, lambda told: told.served.pop(OF_HTTP), "the server's log lacks b.test/1.png"),
    (MISMATCH, lambda told: told.requests.pop(OF_HTTP), "the gateway does not tell of b.test/1.png"),
    (MISMATCH, lambda told: told.captured.pop(HTTP), "1 of the gateway's connections are not in the capture"),
]


@pytest.mark.parametrize(("reason", "change", "says"), CASES, ids=lambda value: str(getattr(value, "name", ""))[:40])
def test_each_witness_alone_is_enough(reason: Reason, change: Change, says: str) -> None:
    told = sound()
    change(told)
    found = {each.reason: each.detail for each in failures(told)}
    assert reason in found, found
    assert says in found[reason]


def test_a_gap_in_the_log_is_said_once() -> None:
    told = sound()
    told.record["evidence"]["gateway"]["unread_lines"] = 1
    (found,) = failures(told)
    assert found.detail == "1 of the lines of the gateway's log cannot be read"


def test_quic_beside_the_gateway_is_found() -> None:
    told = sound()
    packets = dataclasses.replace(told.packets, by_udp_flow=(dataclasses.replace(flow(), server=OTHER),))
    data = told.trial().to_json()
    data["evidence"]["packets"]["client"] = packets.to_json()
    found = {each.reason: each.detail for each in judge(TrialRecord.from_json(data), expected(ARM, SITE))}
    assert "1 QUIC connections were begun" in found[FALLBACK]


def test_what_the_gateway_says_goes_by_address_and_host() -> None:
    told = sound()
    told.connections[HTTP]["remote"] = ""  # its address was not known yet
    evidence = told.trial().page_load
    assert evidence
    own, other = by_server(evidence, ARM, SITE, LINK)
    assert [each.connection for each in own.witnesses.connections] == [1]
    assert [each.connection for each in other.witnesses.connections] == [2, 3]
    assert [each.url for each in other.witnesses.requests] == IMAGES
    assert names_of_all([own, other]).protocol == ("gateway", "server", "capture")
