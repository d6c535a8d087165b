"""Trials in which hosts have servers of their own: each is judged by what its own server is to speak."""

from collections.abc import Callable

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Reason, timed_out
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.served_hosts import by_server, names_of_all
from tests.kit.judging import LINK, judged
from tests.kit.quic_records import flow, quic_record
from tests.kit.records import SITE, Data, connection, record, served

BESIDE = {"b.test": {"server": "nginx", "protocol": "http/1.1"}}
ARM = Arm.parse("both", {"protocol": "h2", "tls": "1.3", "addresses": "per-origin", "origins": BESIDE})
OLD = Arm.parse("old", {"server": "nginx", "tls": "1.3", "addresses": "per-origin"})
OWN, OTHER = "10.10.16.1", "10.10.16.2"
OLD_PORT = 40500


def sound() -> Data:
    """The page's own host by HTTP/2, the other by HTTP/1.1 from nginx."""
    data = record(ARM)
    lines, captured = [], []
    for each in data["requests"]:
        old = "//b.test/" in each["url"]
        each |= {"protocol": "http/1.1" if old else "h2", "remote": f"{OTHER if old else OWN}:443"}
        line = served(each, OLD if old else ARM)
        lines.append(line | {"local": f"{OTHER if old else OWN}:443"})
        if old:
            lines[-1] |= {"remote": f"10.10.1.2:{OLD_PORT}", "connection": None, "match": None}
    captured = [connection(40010, ARM, server=OWN), connection(OLD_PORT, OLD, server=OTHER)]
    data["evidence"]["server"]["requests"] = lines
    data["evidence"]["packets"]["client"]["by_connection"] = [each.to_json() for each in captured]
    return data


def failures(data: Data) -> dict[Reason, str]:
    return {each.reason: each.detail for each in judged(data, ARM, agreed=False)}


def test_a_sound_trial_counts() -> None:
    assert failures(sound()) == {}


def line(host: str, **changed: object) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        for each in data["evidence"]["server"]["requests"]:
            each.update(changed if each["host"] == host else {})

    return change


def asked(host: str, **changed: object) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        for each in data["requests"]:
            each.update(changed if f"//{host}/" in each["url"] else {})

    return change


def seen(number: int, **changed: object) -> Callable[[Data], None]:
    return lambda data: data["evidence"]["packets"]["client"]["by_connection"][number].update(changed)


def by_quic(data: Data) -> None:
    data["evidence"]["packets"]["client"]["by_udp_flow"].append(flow().to_json() | {"server": OTHER})


FALLBACK, MISMATCH = Reason.PROTOCOL_FALLBACK, Reason.WIRE_MISMATCH


@pytest.mark.parametrize(
    ("change", "reason", "says"),
    [
        (asked("b.test", protocol="h2"), FALLBACK, "by the browser 1 of 1 requests used h2 instead of http/1.1"),
        (asked("a.test", protocol="http/1.1"), FALLBACK, "by the browser 2 of 2 requests used http/1.1 instead of h2"),
        (line("b.test", protocol="HTTP/2.0"), FALLBACK, "1 of 1 requests used HTTP/2.0, not http/1.1"),
        (line("a.test", protocol="HTTP/1.1"), FALLBACK, "2 of 2 requests used HTTP/1.1, not h2"),
        (seen(0, alpn_offered=("http/1.1",)), FALLBACK, "http/1.1 was offered by ALPN"),
        (seen(1, spoken_up="http/1.1"), FALLBACK, "began with http/1.1 instead of tls"),
        (by_quic, FALLBACK, "1 QUIC connections were begun"),
        (seen(1, tls_version="TLS 1.2"), Reason.TLS_FALLBACK, "by the capture there was TLS 1.2"),
        (line("b.test", tls="TLSv1.2"), Reason.TLS_FALLBACK, "by the server's log there was TLSv1.2"),
        (line("b.test", local=f"{OWN}:443"), MISMATCH, "the server's log lacks b.test/logo.png"),
        (seen(1, server=OWN), MISMATCH, "1 connections of the server's log are not in the capture"),
    ],
)
def test_each_witness_alone_is_enough(change: Callable[[Data], None], reason: Reason, says: str) -> None:
    data = sound()
    change(data)
    assert says in failures(data)[reason]


def test_tls_of_what_another_servers_redirect_led_to_is_the_servers_word() -> None:
    """Chromium does not say it, and the redirect is of a host for which another server answers."""
    data = sound()
    asked("b.test", tls=None)(data)
    assert Reason.TLS_FALLBACK in failures(data)
    logo = data["requests"][2]["url"]
    data["requests"][1] |= {"status": 302, "response_headers": [["Location", logo]]}
    assert Reason.TLS_FALLBACK not in failures(data)
    line("b.test", tls="TLSv1.2")(data)
    assert "by the browser 1 of 1 requests used TLS 1.2" in failures(data)[Reason.TLS_FALLBACK]


def test_connections_go_by_address_and_requests_by_that_or_their_host() -> None:
    data = sound()
    line("b.test", local=":443")(data)  # as Caddy and lighttpd say it
    evidence = TrialRecord.from_json(data).page_load
    assert evidence
    own, other = by_server(evidence, ARM, SITE, LINK)
    assert [each.site.hosts for each in (own, other)] == [("a.test",), ("b.test",)]
    assert {each.host for each in own.witnesses.served} == {"a.test"}
    assert {each.host for each in other.witnesses.served} == {"b.test"}
    assert [each.client_port for each in own.witnesses.captured or ()] == [40010]
    assert [each.client_port for each in other.witnesses.captured or ()] == [OLD_PORT]
    assert failures(data) == {}


def test_who_is_heard_could_tell_of_every_server() -> None:
    data = sound()
    evidence = TrialRecord.from_json(data).page_load
    assert evidence
    parts = by_server(evidence, ARM, SITE, LINK)
    assert names_of_all(parts).tls == ("browser", "server", "capture")
    data["evidence"]["server"]["requests"] = [
        each for each in data["evidence"]["server"]["requests"] if each["host"] == "a.test"
    ]
    evidence = TrialRecord.from_json(data).page_load
    assert evidence
    assert names_of_all(by_server(evidence, ARM, SITE, LINK)).tls == ("browser", "capture")


def test_a_host_that_was_not_asked_when_the_time_was_over_has_not_fallen_back() -> None:
    """Its own server speaks HTTP/3, and no connection of QUIC to it was begun."""
    by_quic = {"server": "caddy", "protocol": "h3", "tls": "1.3"}
    arm = Arm.parse("two", {**by_quic, "addresses": "per-origin", "origins": {"b.test": {"server": "caddy"}}})
    data = quic_record(arm)
    whole = [each | {"remote": f"{OWN}:443"} for each in data["requests"]]
    log = data["evidence"]["server"]
    log["requests"] = [each | {"local": f"{OWN}:443"} for each in log["requests"] if each["host"] != "b.test"]
    data["evidence"]["packets"]["client"]["by_udp_flow"][0]["server"] = OWN
    data["requests"] = whole[:2]
    assert FALLBACK in {each.reason for each in judged(data, arm, agreed=False)}
    data["failures"] = [{"reason": "timeout", "detail": "60 s"}]
    data["evidence"]["browser"]["times"]["plt_ms"] = None
    assert timed_out({each.reason for each in judged(data, arm, agreed=False)})
    data["requests"].append(whole[2] | {"status": None, "connection": None})  # asked, and not by QUIC
    assert FALLBACK in {each.reason for each in judged(data, arm, agreed=False)}
