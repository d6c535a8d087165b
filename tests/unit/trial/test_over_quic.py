"""Trials over HTTP/3: a fallback never passes. Each witness removed fails the trial, and so does each falsified."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.packets import FlowSummary, QuicSummary
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.discovery import CLOCKS_MS, not_yet
from lanelab.driver.trial.page_load.expected import Expected
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.records import BEGAN_US, SITE, Data, connection, record

LINK = Link.parse({"rtt": "40ms", "rate": "10mbit"})
FORCED = Arm.parse("h3", {"server": "caddy", "protocol": "h3", "tls": "1.3"})
TOLD = Arm.parse("told", {"server": "caddy", "protocol": "h3", "tls": "1.3", "h3_discovery": "alt-svc"})
H2 = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
HTTP = Arm.parse("http", {})
AGAIN = Arm.parse("again", {"server": "caddy", "protocol": "h3", "tls": "1.3", "start": "warm", "early_data": "true"})
FALLBACK, TLS, MISMATCH = Reason.PROTOCOL_FALLBACK, Reason.TLS_FALLBACK, Reason.WIRE_MISMATCH
EARLY, MISSING = Reason.EARLY_DATA_IGNORED, Reason.EVIDENCE_MISSING
PORT, TCP_PORT = 50010, 40010
FIRST_US = 1790000000005000  # of the made record: the first request
Change = Callable[[Data], None]


def flow(port: int = PORT, **more: Any) -> FlowSummary:
    values: dict[str, Any] = {
        "version": "1", "first_server_id": "8394c8f03e515708", "client_id": "", "server_id": "f067a550",
        "initials_up": 2, "initials_down": 1, "retry": False, "version_negotiation": False,
        "handshake_rtt_us": 40_100, "spin_rtt_us": None, "spins": 0, "server_name": "a.test", "alpn_offered": ("h3",),
        "alpn_chosen": "h3", "tls_version": "TLS 1.3", "tls_resumed": False, "early_data_offered": False,
        "early_data_taken": False, "early_packets": 0, "short_up": 20, "short_down": 30, "ready_us": FIRST_US + 45_000,
        "moved_from": None,
    }  # fmt: skip
    return FlowSummary(
        client_port=port, server="10.10.2.2", server_port=443, first_us=BEGAN_US, last_us=BEGAN_US + 900_000,
        packets_up=25, packets_down=32, bytes_up=4000, bytes_down=40_000, quic=QuicSummary(**(values | more)),
    )  # fmt: skip


def good(arm: Arm) -> Data:
    """A sound trial of an arm with HTTP/3; of the one that is told of it, the page itself came by HTTP/2."""
    data = record(arm)
    summary = data["evidence"]["packets"]["client"]
    summary["by_connection"] = []
    warm = {"early_packets": 1, "early_data_offered": True, "early_data_taken": True, "tls_resumed": True}
    summary["by_udp_flow"] = [flow(**(warm if arm.early_data else {})).to_json()]
    data["evidence"]["link"] |= {"mss_down": [], "mss_up": []}
    for line, each in zip(data["evidence"]["server"]["requests"], data["requests"], strict=True):
        each["tls"] = "QUIC"
        line |= {"protocol": "HTTP/3.0", "remote": f"10.10.1.2:{PORT}", "tls": "TLSv1.3"}
    if arm is TOLD:
        by_tcp(data, 0)
    return copy.deepcopy(data)


def by_tcp(data: Data, number: int) -> None:
    """That request went by HTTP/2, as all say."""
    data["requests"][number] |= {"protocol": "h2", "tls": "TLS 1.3"}
    data["evidence"]["server"]["requests"][number] |= {"protocol": "HTTP/2.0", "remote": f"10.10.1.2:{TCP_PORT}"}
    data["evidence"]["packets"]["client"]["by_connection"] = [connection(TCP_PORT, H2).to_json()]


def judged(arm: Arm, data: Data) -> dict[Reason, str]:
    expected = Expected(arm, SITE, LINK, Tolerances(), {"capture": CaptureOptions()})
    return {each.reason: each.detail for each in judge(TrialRecord.from_json(data), expected)}


@pytest.mark.parametrize("arm", [FORCED, TOLD, AGAIN], ids=lambda arm: arm.name)
def test_a_sound_trial_counts(arm: Arm) -> None:
    assert judged(arm, good(arm)) == {}


# --- what is falsified


def quic(**changed: Any) -> Change:
    def change(data: Data) -> None:
        data["evidence"]["packets"]["client"]["by_udp_flow"][0]["quic"] |= changed

    return change


def request(number: int, **changed: Any) -> Change:
    return lambda data: data["requests"][number].update(changed)


def served(number: int, **changed: Any) -> Change:
    return lambda data: data["evidence"]["server"]["requests"][number].update(changed)


def no_quic(data: Data) -> None:
    data["evidence"]["packets"]["client"]["by_udp_flow"] = []


def with_flow(**changed: Any) -> Change:
    def change(data: Data) -> None:
        data["evidence"]["packets"]["client"]["by_udp_flow"].append(flow(**changed).to_json())

    return change


def without_beginning(data: Data) -> None:
    data["evidence"]["packets"]["client"]["by_udp_flow"].append({**flow(50_011).to_json(), "quic": None})


def unanswered(data: Data) -> None:
    quic(short_up=0, short_down=0, initials_down=0, tls_version=None, alpn_chosen=None, ready_us=None)(data)
    data["evidence"]["packets"]["client"]["by_udp_flow"][0]["packets_down"] = 0


def all_by_tcp(data: Data) -> None:
    """A silent fallback, of which all witnesses tell."""
    for number in range(len(data["requests"])):
        by_tcp(data, number)


def both(one: Change, other: Change) -> Change:
    def change(data: Data) -> None:
        one(data)
        other(data)

    return change


LATE_H2 = {"protocol": "h2", "tls": "TLS 1.3", "started_ms": 900.0, "ended_ms": 990.0}
CASES: list[tuple[Reason, Arm, Change, str]] = [
    # UDP is blocked; nobody told the browser; the server wants another protocol
    (FALLBACK, FORCED, all_by_tcp, "by the browser 3 of 3 requests used h2 instead of h3"),
    (FALLBACK, TOLD, all_by_tcp, "by the browser no request used h3"),
    (FALLBACK, TOLD, both(all_by_tcp, no_quic), "no QUIC connection was begun"),
    (FALLBACK, TOLD, both(all_by_tcp, unanswered), "and nothing came back"),
    (FALLBACK, FORCED, quic(alpn_offered=["hq-interop", "h3"]), "hq-interop, h3 was offered by ALPN within QUIC"),
    (FALLBACK, FORCED, quic(alpn_chosen="hq-interop"), "the server chose hq-interop by ALPN within QUIC"),
    # one witness alone
    (FALLBACK, FORCED, request(1, protocol="h2", tls="TLS 1.3"), "1 of 3 requests used h2 instead of h3"),
    (FALLBACK, FORCED, request(1, protocol=None), "1 of 3 requests used None instead of h3"),
    (FALLBACK, FORCED, served(2, protocol="HTTP/2.0"), "by the server's log 1 of 3 requests used HTTP/2.0, not h3"),
    (FALLBACK, FORCED, no_quic, "by the capture no QUIC connection was begun"),
    (FALLBACK, FORCED, unanswered, "by the capture 1 QUIC connections were begun, and nothing came back"),
    (FALLBACK, FORCED, quic(short_down=0), "no handshake was complete"),
    (FALLBACK, FORCED, quic(server_name="elsewhere.test"), "was for elsewhere.test, which is no host of the site"),
    (FALLBACK, FORCED, lambda data: by_tcp(data, 0), "1 TCP connections carried requests"),
    (FALLBACK, FORCED, served(0, remote="10.10.1.2:50099"), "1 QUIC connections of the server's log are not in"),
    (FALLBACK, FORCED, without_beginning, "UDP of port 50011 to the server's QUIC begins no connection"),
    (FALLBACK, TOLD, served(1, protocol="HTTP/2.0"), "browser and server's log name different protocols"),
    (
        FALLBACK,
        TOLD,
        request(1, **LATE_H2),
        "1 of 3 requests used h2 instead of h3",
    ),
    # arms without HTTP/3
    (FALLBACK, H2, with_flow(), "by the capture 1 QUIC connections were begun, port 50010"),
    (FALLBACK, HTTP, with_flow(short_up=0, short_down=0), "by the capture 1 QUIC connections were begun"),
    # TLS, sessions, early data, migration
    (TLS, FORCED, quic(tls_version="TLS 1.2"), "there was TLS 1.2 within QUIC instead of TLS 1.3"),
    (TLS, FORCED, request(0, tls=None), "1 of 3 requests used no TLS instead of TLS 1.3"),
    (EARLY, FORCED, quic(early_packets=2), "1 of 1 QUIC connections began with early data, which is off"),
    (EARLY, AGAIN, quic(early_packets=0), "the first QUIC connection sent no early data"),
    (EARLY, AGAIN, quic(early_data_taken=False), "the server refused the early data of 1 QUIC connections"),
    (MISMATCH, FORCED, with_flow(port=50_011, moved_from=PORT), "of port 50010 went on at port 50011"),
]


@pytest.mark.parametrize(("reason", "arm", "change", "says"), CASES, ids=range(len(CASES)))
def test_what_is_wrong_is_found(reason: Reason, arm: Arm, change: Change, says: str) -> None:
    data = good(arm) if arm.protocol == "h3" else record(arm)
    change(data)
    found = judged(arm, data)
    assert says in found.get(reason, ""), found


def test_a_session_that_must_not_be_resumed_is_found() -> None:
    arm = Arm.parse("h3", {"server": "caddy", "protocol": "h3", "tls": "1.3", "tls_resumption": "false"})
    data = good(FORCED)
    assert judged(arm, data) == {}
    quic(tls_resumed=True)(data)
    assert set(judged(arm, data)) == {Reason.RESUMPTION_IGNORED}


# --- what is missing


@pytest.mark.parametrize(
    "name",
    [
        *("server_name", "alpn_offered", "alpn_chosen", "tls_version", "tls_resumed", "early_data_offered"),
        *("early_data_taken", "ready_us"),
    ],
)
def test_what_a_handshake_should_have_told_is_missed(name: str) -> None:
    data = good(FORCED)
    quic(**{name: None})(data)
    assert name in judged(FORCED, data)[MISSING]


def test_a_capture_that_cannot_see_into_handshakes_is_no_witness() -> None:
    data = good(FORCED)
    data["evidence"]["packets"]["client"]["snaplen"] = 96
    quic(server_name=None, alpn_offered=None, alpn_chosen=None, tls_version=None, tls_resumed=None)(data)
    assert judged(FORCED, data) == {}


@pytest.mark.parametrize("arm", [FORCED, TOLD], ids=lambda arm: arm.name)
@pytest.mark.parametrize("piece", ["browser", "server", "packets", "link"])
def test_each_witness_that_is_not_there_fails_the_trial(arm: Arm, piece: str) -> None:
    data = good(arm)
    data["evidence"][piece] = {} if piece == "packets" else None
    assert judged(arm, data)


@pytest.mark.parametrize("arm", [FORCED, TOLD], ids=lambda arm: arm.name)
def test_each_line_of_a_witness_is_missed(arm: Arm) -> None:
    for number in range(3):
        data = good(arm)
        del data["evidence"]["server"]["requests"][number]
        assert judged(arm, data)


# --- the rule of what may be HTTP/2


def asked(url: str, started_ms: float, protocol: str = "h2", wait_ms: float = 40.0) -> Request:
    data = record(H2)["requests"][0]
    times = {"blocked": 0.0, "dns": -1.0, "connect": -1.0, "ssl": -1.0, "send": 0.0, "wait": wait_ms, "receive": 5.0}
    changed = {"url": f"https://{url}", "started_ms": started_ms, "protocol": protocol, "timings": times}
    return Request.from_json(json_of(data) | changed)


def json_of(data: Data) -> Data:
    return copy.deepcopy(data)


READY_MS = 45.0  # of the made flow
ANSWERED_MS = 40.0  # the first request's


@pytest.mark.parametrize(
    ("started_ms", "excused"),
    [(0.0, True), (44.0, True), (READY_MS + CLOCKS_MS, True), (READY_MS + CLOCKS_MS + 1, False), (900.0, False)],
)
def test_requests_may_be_h2_until_quic_could_carry_them(started_ms: float, excused: bool) -> None:
    requests = [asked("a.test/", 0.0), asked("a.test/x", started_ms)]
    found = not_yet(requests, [flow()], FIRST_US, "alt-svc")
    assert (requests[1] in found) is excused


def test_a_host_that_has_not_answered_has_not_told() -> None:
    """Its own first answer comes later than other hosts' QUIC."""
    requests = [asked("a.test/", 0.0), asked("b.test/", 300.0), asked("b.test/x", 320.0), asked("b.test/y", 400.0)]
    assert not_yet(requests, [flow()], FIRST_US, "alt-svc") == requests[:3]


def test_a_host_with_a_connection_of_its_own_waits_for_that() -> None:
    own = flow(50_011, server_name="b.test", ready_us=FIRST_US + 600_000)
    requests = [asked("b.test/", 0.0), asked("b.test/x", 550.0), asked("b.test/y", 700.0)]
    assert not_yet(requests, [flow(), own], FIRST_US, "alt-svc") == requests[:2]


def test_without_quic_all_of_them_could_not_know() -> None:
    """Another judge says that there was none."""
    requests = [asked("a.test/", 0.0), asked("a.test/x", 900.0)]
    assert not_yet(requests, [], FIRST_US, "alt-svc") == requests


@pytest.mark.parametrize("discovery", ["forced", "https-record"])
def test_who_was_told_before_has_no_excuse(discovery: str) -> None:
    assert not_yet([asked("a.test/", 0.0)], [flow()], FIRST_US, discovery) == []


def test_without_the_clock_nobody_is_excused() -> None:
    assert not_yet([asked("a.test/", 0.0)], [flow()], None, "alt-svc") == []
