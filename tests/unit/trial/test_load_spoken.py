"""What others than the generator say of what was spoken in a load: each piece that is missing or false fails the trial
by name."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.packets import FlowSummary, PacketSummary
from lanelab.driver.record.evidence.server import LoggedRequest, ServedRequest
from lanelab.driver.record.evidence.spoken import Datagrams, NodeDatagrams, QuicWitness, SpokenEvidence
from lanelab.driver.record.reasons import FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.trial.datagrams import counted_since, counts_in
from lanelab.driver.trial.server_load.finish import finish
from lanelab.driver.trial.server_load.first_packets import packets_of
from lanelab.driver.trial.server_load.spoken import seconds_logged, served_by_protocol, spoken_flags
from lanelab.driver.trial.server_load.verdict import judge
from lanelab.driver.trial.server_load.wire import quic_witness
from lanelab.driver.trial.tolerances import Tolerances
from lanelab.driver.trial.workload import TrialContext
from tests.kit.quic_records import flow
from tests.kit.records import SITE, connection
from tests.unit.trial.test_load_verdict import EVIDENCE, EXPECTED, RECORD, REPORT, WIRE

H3 = Arm.parse("h3", {"server": "caddy", "protocol": "h3", "tls": "1.3"})
H2 = Arm.parse("h2", {"server": "caddy", "protocol": "h2", "tls": "1.3"})
LIMIT = packets_of(EXPECTED.settings)
QUIC = QuicWitness(6, 5, 0, 0, {"TLS 1.3": 6}, {"h3": 6}, {"h3": 5}, packets=LIMIT - 1)
SPOKEN = SpokenEvidence({"h3": 50}, Datagrams(10_000, 0), QUIC, tuple(range(10)), NodeDatagrams(5_000, 0, 0))
SERIES = {
    "requests_per_s": Series("requests/s", tuple((second * 1000, 9) for second in range(1, 11))),
    "request_ms": Series("ms", tuple((second * 1000, 5) for second in range(1, 11))),
}
NO_TCP = dataclasses.replace(WIRE, connections=0, spoken_up={}, spoken_down={}, tls={}, offered={})


class Rules:
    tolerances = Tolerances()
    recorders: Mapping[str, Coded] = {}


def record(spoken: SpokenEvidence | None = SPOKEN, arm: Arm = H3, **report: Any) -> TrialRecord:
    told = dataclasses.replace(REPORT, protocol=arm.protocol, **report)
    wire = NO_TCP if arm.protocol == "h3" else WIRE
    recordings = {**RECORD.recordings, **({"spoken": spoken} if spoken else {})}
    evidence = dataclasses.replace(EVIDENCE, generator=told, wire=wire)
    series = SERIES if arm.protocol == "h3" else {}
    return dataclasses.replace(RECORD, evidence=evidence, recordings=recordings, series=series)


def failures(record: TrialRecord, arm: Arm = H3) -> list[tuple[Reason, str]]:
    expected = dataclasses.replace(EXPECTED, arm=arm)
    return [(failure.reason, failure.detail) for failure in judge(record, expected)]


def changed(**changes: Any) -> SpokenEvidence:
    return dataclasses.replace(SPOKEN, **changes)


def over_quic(**changes: Any) -> SpokenEvidence:
    return changed(quic=dataclasses.replace(QUIC, **changes))


def test_a_load_by_http3_counts_where_all_agree() -> None:
    assert failures(record()) == []
    assert TrialRecord.from_json(record().to_json()) == record()


def test_what_the_generator_itself_says_is_heard_too() -> None:
    other = dataclasses.replace(EVIDENCE, generator=dataclasses.replace(REPORT, protocol="h2"), wire=NO_TCP)
    assert failures(dataclasses.replace(record(), evidence=other))[0][0] is Reason.PROTOCOL_FALLBACK


@pytest.mark.parametrize(
    ("spoken", "reason", "words"),
    [
        (None, Reason.EVIDENCE_MISSING, "recordings.spoken is missing"),
        (changed(served={}), Reason.EVIDENCE_MISSING, "spoken.served is missing"),
        (changed(served={"h3": 49, "h2": 1}), Reason.PROTOCOL_FALLBACK, "server's log 1 requests came by h2"),
        (changed(served={"unknown": 3}), Reason.PROTOCOL_FALLBACK, "3 requests came by unknown instead of h3"),
        (changed(datagrams=None), Reason.EVIDENCE_MISSING, "spoken.datagrams is missing"),
        (changed(datagrams=Datagrams(0, 0)), Reason.EVIDENCE_MISSING, "spoken.datagrams: no datagram came"),
        (changed(datagrams=Datagrams(9_980, 20)), Reason.GENERATOR_LIMITED, "of 10000 datagrams"),
        (changed(served_in_s=None), Reason.EVIDENCE_MISSING, "spoken.served_in_s is missing"),
        (changed(served_in_s=(0,)), Reason.EVIDENCE_MISSING, "logged requests in 1 seconds, and answers came in 10"),
        (changed(served_in_s=(0, 1, 2, 3)), Reason.EVIDENCE_MISSING, "logged requests in 4 seconds"),
        (changed(at_server=None), Reason.EVIDENCE_MISSING, "spoken.at_server is missing"),
        (changed(at_server=NodeDatagrams(0, 0, 0)), Reason.EVIDENCE_MISSING, "spoken.at_server: no datagram came"),
        (changed(quic=None), Reason.EVIDENCE_MISSING, "spoken.quic is missing"),
        (over_quic(packets=None), Reason.EVIDENCE_MISSING, "spoken.quic.packets is missing"),
        (over_quic(complete=1, begun=3), Reason.PROTOCOL_FALLBACK, "1 QUIC connections had a whole handshake, and 3"),
        (over_quic(begun=0, complete=0), Reason.PROTOCOL_FALLBACK, "no QUIC connection was begun"),
        (over_quic(complete=0), Reason.PROTOCOL_FALLBACK, "no handshake was complete"),
        (over_quic(complete=2, begun=2), Reason.PROTOCOL_FALLBACK, "and 6 were opened by the generator's word"),
        (over_quic(over_tcp=1), Reason.PROTOCOL_FALLBACK, "1 connections were asked for over TCP"),
        (over_quic(offered={"h3": 5, "h3-29": 1}), Reason.PROTOCOL_FALLBACK, "h3-29 was offered"),
        (over_quic(chosen={"hq-interop": 1}), Reason.PROTOCOL_FALLBACK, "hq-interop was chosen by the server"),
        (over_quic(chosen={}), Reason.EVIDENCE_MISSING, "offered and chosen by ALPN"),
        (over_quic(offered={}), Reason.EVIDENCE_MISSING, "offered and chosen by ALPN"),
        (over_quic(tls={"TLS 1.2": 6}), Reason.TLS_FALLBACK, "TLS 1.2 within QUIC"),
        (over_quic(early=2), Reason.EARLY_DATA_IGNORED, "2 QUIC connections began with early data"),
    ],
)
def test_what_is_missing_or_false_fails_the_trial(spoken: SpokenEvidence | None, reason: Reason, words: str) -> None:
    ((found, detail),) = failures(record(spoken))
    assert found is reason
    assert words in detail


def test_a_few_datagrams_may_be_dropped() -> None:
    assert failures(record(changed(datagrams=Datagrams(9_991, 9)))) == []


@pytest.mark.parametrize("seconds", [range(9), (0, 1, 2, 4, 5, 7, 8, 9), (0, 3, 6), (0, 2, 4, 6)])
def test_a_second_with_a_line_stands_for_those_that_its_requests_may_end_in(seconds: Sequence[int]) -> None:
    assert failures(record(changed(served_in_s=tuple(seconds)))) == []


def test_answers_that_take_long_come_seconds_after_the_server_logged_them() -> None:
    slow = {**SERIES, "request_ms": Series("ms", ((1000, 5), (2000, 5_400)))}
    burst = dataclasses.replace(record(changed(served_in_s=(0,))), series=slow)
    assert failures(burst) == []
    longer = Series("requests/s", tuple((each * 1000, 9) for each in range(1, 13)))
    ((reason, _),) = failures(dataclasses.replace(burst, series={**slow, "requests_per_s": longer}))
    assert reason is Reason.EVIDENCE_MISSING


def test_a_generator_that_does_not_tell_when_answers_came_is_missed() -> None:
    ((reason, detail),) = failures(dataclasses.replace(record(), series={}))
    assert reason is Reason.EVIDENCE_MISSING
    assert "series.requests_per_s is missing" in detail


def test_a_capture_that_ended_before_the_load_may_lack_handshakes() -> None:
    assert failures(record(over_quic(begun=600, complete=1, packets=LIMIT))) == []


@pytest.mark.parametrize(("dropped", "flagged"), [(0, False), (10, False), (11, True)])
def test_a_server_that_drops_datagrams_counts_and_is_flagged(dropped: int, *, flagged: bool) -> None:
    spoken = changed(at_server=NodeDatagrams(10_000 - dropped, dropped, dropped // 2))
    assert failures(record(spoken)) == []
    flags = spoken_flags(spoken)
    assert [flag.name for flag in flags] == [FlagName.SERVER_DROPPED] * flagged
    assert not flagged or "dropped 11, 5 of them since the server read too late" in flags[0].detail


def test_the_flag_is_in_the_record(tmp_path: Path) -> None:
    told = record(changed(at_server=NodeDatagrams(9_000, 1_000, 1_000)))
    context = TrialContext(H3, SITE, Link.parse({"rtt": "40ms"}), Rules(), tmp_path, EXPECTED.settings)
    finished = finish(told.to_json(), context)
    assert [flag.name for flag in finished.flags] == [FlagName.SERVER_DROPPED]
    assert finished.ok


def test_over_tcp_nobody_asks_what_the_server_dropped() -> None:
    assert spoken_flags(None) == spoken_flags(changed(at_server=None)) == ()


UDP = "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\nUdp: {} 5 {} 70 {} 0\n"


def test_the_kernels_table_is_read_and_the_load_is_the_difference() -> None:
    tcp = "Tcp: InErrs RcvbufErrors\nTcp: 9 9\n"
    before, after = (counts_in(tcp + UDP.format(*counts)) for counts in ((100, 2, 1), (400, 12, 8)))
    assert counted_since(before, after) == NodeDatagrams(300, 10, 7)


@pytest.mark.parametrize("table", ["", UDP.replace("InErrors", "Other"), UDP.partition("\n")[0]])
def test_a_kernel_that_does_not_count_is_no_zero(table: str) -> None:
    with pytest.raises(RecordError, match="of UDP"):
        counts_in(table.format(1, 2, 3))


@pytest.mark.parametrize(("where", "key"), [((), "served_in_s"), ((), "at_server"), (("quic",), "packets")])
def test_a_record_from_before_a_key_was_kept_is_read(where: Sequence[str], key: str) -> None:
    data = record().to_json()
    spoken = data["recordings"]["spoken"]
    for each in where:
        spoken = spoken[each]
    del spoken[key]
    read = TrialRecord.from_json(data).spoken
    assert read
    assert getattr(read.quic if where else read, key) is None


def test_where_nothing_was_answered_the_log_need_have_nothing() -> None:
    none = dataclasses.replace(REPORT.requests, begun=6, ended=0, failed=6, timed_out=6, unfinished=0, ms=None)
    found = failures(record(changed(served={}), requests=none, pages=none))
    assert Reason.EVIDENCE_MISSING not in {reason for reason, _ in found}
    assert Reason.FAILED_REQUESTS in {reason for reason, _ in found}


@pytest.mark.parametrize(
    ("spoken", "reasons"),
    [
        (SpokenEvidence({"h2": 9}, None, dataclasses.replace(QUIC, begun=0)), []),
        (SpokenEvidence({"h2": 9}, None, None), []),
        (SpokenEvidence({"h2": 9}, None, QUIC), [Reason.PROTOCOL_FALLBACK]),
        (SpokenEvidence({"http/1.1": 9}, None, None), [Reason.PROTOCOL_FALLBACK]),
        (SpokenEvidence({}, None, None), []),
        (None, []),
    ],
)
def test_other_protocols_need_no_such_witness_and_none_may_contradict(
    spoken: SpokenEvidence | None, reasons: list[Reason]
) -> None:
    assert [reason for reason, _ in failures(record(spoken, H2), H2)] == reasons


def test_quic_that_nobody_asked_for_is_seen_with_every_server() -> None:
    seen = dataclasses.replace(RECORD, recordings={**RECORD.recordings, "spoken": SpokenEvidence({}, None, QUIC)})
    assert [failure.reason for failure in judge(seen, EXPECTED)] == [Reason.PROTOCOL_FALLBACK]


def line(protocol: str | None) -> LoggedRequest:
    values: Mapping[str, Any] = {field.name: None for field in dataclasses.fields(LoggedRequest)}
    return LoggedRequest(**{**values, "protocol": protocol})


def test_the_servers_log_is_counted_by_protocol() -> None:
    lines = [line(name) for name in ("HTTP/3.0", "HTTP/3.0", "HTTP/2.0", "HTTP/1.1", "HTTP/1.0", None, "HTTP/9")]
    assert served_by_protocol(lines) == {"h3": 2, "h2": 1, "http/1.1": 2, "unknown": 1, "HTTP/9": 1}


def served(ended_us: int) -> ServedRequest:
    values: Mapping[str, Any] = {field.name: None for field in dataclasses.fields(ServedRequest)}
    return ServedRequest(**{**values, "began_us": ended_us - 400_000, "duration_us": 400_000})


def test_a_request_is_of_the_second_in_which_the_server_had_answered() -> None:
    ends_us = (1_790_000_000_999_999, 1_790_000_000_000_001, 1_790_000_003_000_000, 1_790_000_001_500_000)
    assert seconds_logged([served(each) for each in ends_us]) == (0, 1, 3)
    assert seconds_logged([line("HTTP/3.0")]) == seconds_logged([]) == ()


def summary(*flows: FlowSummary, tcp: int = 0) -> PacketSummary:
    return PacketSummary(
        packets=90, bytes=9000, bytes_down=8000, bytes_up=1000, other_packets=0, first_us=1, last_us=2, snaplen=1600,
        incomplete=None, by_connection=tuple(connection(40_000 + each, H2) for each in range(tcp)), by_udp_flow=flows,
    )  # fmt: skip


def test_the_packets_are_counted_by_what_they_show() -> None:
    seen = quic_witness(summary(flow(1), flow(2, alpn_chosen=None, short_down=0, early_packets=1), tcp=2))
    assert seen == QuicWitness(2, 1, 1, 2, {"TLS 1.3": 2}, {"h3": 2}, {"h3": 1}, 90)
    moved = flow(3, initials_up=0, initials_down=0, moved_from=1)
    assert quic_witness(summary(flow(1), moved)).begun == 1
    plain = dataclasses.replace(flow(4), quic=None)
    assert quic_witness(summary(plain)) == QuicWitness(0, 0, 0, 0, {}, {}, {}, 90)
