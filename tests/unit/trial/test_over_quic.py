"""Trials over HTTP/3: a fallback never passes. Each witness removed fails the trial, and so does each falsified."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Flag, FlagName, Reason, timed_out
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.discovery import CLOCKS_MS, not_yet
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges import dropped as dropped_datagrams
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.judging import judged as judged_as
from tests.kit.quic_records import FIRST_US, by_tcp, flow, quic_record
from tests.kit.records import LINK, SITE, Data, record

FORCED = Arm.parse("h3", {"server": "caddy", "protocol": "h3", "tls": "1.3"})
TOLD = Arm.parse("told", {"server": "caddy", "protocol": "h3", "tls": "1.3", "h3_discovery": "alt-svc"})
WARM = Arm.parse("warm", {"server": "caddy", "protocol": "h3", "tls": "1.3", "start": "warm"})
H2 = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
HTTP = Arm.parse("http", {})
AGAIN = Arm.parse("again", {"server": "caddy", "protocol": "h3", "tls": "1.3", "start": "warm", "early_data": "true"})
FALLBACK, TLS, MISMATCH = Reason.PROTOCOL_FALLBACK, Reason.TLS_FALLBACK, Reason.WIRE_MISMATCH
EARLY, MISSING = Reason.EARLY_DATA_IGNORED, Reason.EVIDENCE_MISSING
Change = Callable[[Data], None]


def judged(arm: Arm, data: Data) -> dict[Reason, str]:
    return {each.reason: each.detail for each in judged_as(data, arm, agreed=False)}


@pytest.mark.parametrize("arm", [FORCED, TOLD, AGAIN], ids=lambda arm: arm.name)
def test_a_sound_trial_counts(arm: Arm) -> None:
    assert judged(arm, quic_record(arm)) == {}


# --- what is falsified: tests/bad/records/over-quic.yaml


def quic(**changed: Any) -> Change:
    def change(data: Data) -> None:
        data["evidence"]["packets"]["client"]["by_udp_flow"][0]["quic"] |= changed

    return change


def test_a_session_that_must_not_be_resumed_is_found() -> None:
    arm = Arm.parse("h3", {"server": "caddy", "protocol": "h3", "tls": "1.3", "tls_resumption": "false"})
    data = quic_record(FORCED)
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
    data = quic_record(FORCED)
    quic(**{name: None})(data)
    assert name in judged(FORCED, data)[MISSING]


def test_a_capture_that_cannot_see_into_handshakes_is_no_witness() -> None:
    data = quic_record(FORCED)
    data["evidence"]["packets"]["client"]["snaplen"] = 96
    quic(server_name=None, alpn_offered=None, alpn_chosen=None, tls_version=None, tls_resumed=None)(data)
    assert judged(FORCED, data) == {}


@pytest.mark.parametrize("arm", [FORCED, TOLD], ids=lambda arm: arm.name)
@pytest.mark.parametrize("piece", ["browser", "server", "packets", "link", "datagrams"])
def test_each_witness_that_is_not_there_fails_the_trial(arm: Arm, piece: str) -> None:
    data = quic_record(arm)
    data["evidence"][piece] = {} if piece == "packets" else None
    assert judged(arm, data)


@pytest.mark.parametrize("arm", [FORCED, TOLD], ids=lambda arm: arm.name)
def test_each_line_of_a_witness_is_missed(arm: Arm) -> None:
    for number in range(3):
        data = quic_record(arm)
        del data["evidence"]["server"]["requests"][number]
        assert judged(arm, data)


# --- what the client did not take


@pytest.mark.parametrize(("received", "dropped", "flagged"), [(9990, 10, False), (9989, 11, True), (0, 1, True)])
def test_what_the_clients_own_sockets_drop_is_a_reason_to_doubt(received: int, dropped: int, flagged: bool) -> None:
    """The connection slows down as if the link had lost these."""
    data = quic_record(FORCED)
    data["evidence"]["datagrams"] = {"received": received, "dropped": dropped, "without_room": dropped}
    assert judged(FORCED, data) == {}
    found = doubts(data)
    assert [each.name for each in found] == [FlagName.CLIENT_DROPPED] * flagged
    assert all(f"its sockets dropped {dropped}, {dropped} of them since the browser" in each.detail for each in found)


def test_a_kernel_that_counted_nothing_while_answers_came_is_not_the_clients() -> None:
    """That it dropped none says nothing then."""
    data = quic_record(FORCED)
    data["evidence"]["datagrams"] = {"received": 0, "dropped": 0, "without_room": 0}
    assert "evidence.datagrams.received" in judged(FORCED, data)[MISSING]


def test_a_record_from_before_datagrams_were_counted_is_read() -> None:
    data = quic_record(FORCED)
    del data["evidence"]["datagrams"]
    assert doubts(data) == []
    assert "evidence.datagrams" in judged(FORCED, data)[MISSING]


def doubts(data: Data) -> list[Flag]:
    trial = TrialRecord.from_json(data)
    assert trial.page_load is not None
    expected = Expected(FORCED, SITE, LINK, Tolerances(), {})
    return list(dropped_datagrams.JUDGE.flags(Case(trial, trial.page_load, expected)))


# --- a time that was over


def unfinished(data: Data) -> None:
    """The server has begun to answer; the handshake came to no end, and so nothing was asked for."""
    quic(short_up=0, short_down=0, alpn_chosen=None, ready_us=None)(data)
    data["requests"], data["evidence"]["server"]["requests"] = [], []


def out_of_time(data: Data) -> None:
    data["failures"] = [{"reason": "timeout", "detail": "3 s"}]
    data["evidence"]["browser"]["times"]["plt_ms"] = None


def test_a_handshake_that_had_not_ended_when_the_time_was_over_is_no_fallback() -> None:
    """Where its packets were lost; a load over TCP, whose SYN is lost as often, is no other failure either."""
    data = quic_record(FORCED)
    unfinished(data)
    assert FALLBACK in judged(FORCED, data)
    out_of_time(data)
    assert timed_out(judged(FORCED, data))
    data["evidence"]["packets"]["client"]["by_udp_flow"][0]["packets_down"] = 0  # nobody speaks QUIC there
    assert "nothing came back" in judged(FORCED, data)[FALLBACK]


@pytest.mark.parametrize("begun", [False, True])
def test_a_browser_that_was_told_when_the_time_was_nearly_over_is_no_fallback(begun: bool) -> None:
    """The page came by HTTP/2, as it has to, and nothing else was there. `begun`: so was a connection of QUIC."""
    data = quic_record(TOLD)
    quic(short_up=0, short_down=0, alpn_chosen=None, ready_us=None)(data)
    packets, log = data["evidence"]["packets"]["client"], data["evidence"]["server"]
    packets["by_udp_flow"] = packets["by_udp_flow"][: int(begun)]
    data["requests"], log["requests"] = data["requests"][:1], log["requests"][:1]
    assert FALLBACK in judged(TOLD, data)
    out_of_time(data)
    assert timed_out(judged(TOLD, data))
    assert FALLBACK in judged(FORCED, data)


def test_a_browser_that_was_told_and_asks_by_http2_falls_back_however_the_load_ends() -> None:
    data = quic_record(TOLD)
    for number in range(3):
        by_tcp(data, number)
    data["evidence"]["packets"]["client"]["by_udp_flow"] = []
    data["requests"][1]["started_ms"] = 900.0
    out_of_time(data)
    assert FALLBACK in judged(TOLD, data)
    data["requests"][1] |= {"status": None, "connection": None}  # nor does it help that this had no answer yet
    del data["evidence"]["server"]["requests"][1]
    assert FALLBACK in judged(TOLD, data)


# --- a load out of the browser's cache


def from_cache(data: Data) -> None:
    for each in data["requests"]:
        each |= {"from_cache": True, "status": 200, "connection": None}
    data["evidence"]["server"]["requests"] = []


@pytest.mark.parametrize("flows", [0, 1])
@pytest.mark.parametrize("answered", [0, 3])
def test_a_handshake_without_an_end_is_no_fallback_where_all_came_out_of_the_cache(flows: int, answered: int) -> None:
    """Nothing was asked for that could have fallen back. One request that is not in the cache is enough to judge."""
    data = quic_record(WARM)
    quic(short_up=0, short_down=0, alpn_chosen=None, ready_us=None)(data)
    packets = data["evidence"]["packets"]["client"]
    packets["by_udp_flow"][0]["packets_down"] = answered
    packets["by_udp_flow"] = packets["by_udp_flow"][:flows]
    assert FALLBACK in judged(WARM, data)
    from_cache(data)
    assert FALLBACK not in judged(WARM, data)
    data["requests"][1]["from_cache"] = False
    assert FALLBACK in judged(WARM, data)


def test_without_any_request_a_handshake_without_an_end_is_still_told() -> None:
    data = quic_record(WARM)
    unfinished(data)
    assert FALLBACK in judged(WARM, data)


# --- the rule of what may be HTTP/2


def asked(url: str, started_ms: float, protocol: str = "h2", wait_ms: float = 40.0) -> Request:
    data = record(H2)["requests"][0]
    times = {"blocked": 0.0, "dns": -1.0, "connect": -1.0, "ssl": -1.0, "send": 0.0, "wait": wait_ms, "receive": 5.0}
    changed = {"url": f"https://{url}", "started_ms": started_ms, "protocol": protocol, "timings": times}
    return Request.from_json(json_of(data) | changed)


def json_of(data: Data) -> Data:
    return copy.deepcopy(data)


READY_MS = 45.0  # of the made flow


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
