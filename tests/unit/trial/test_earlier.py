"""What connections of QUIC from before a trial send into its capture: it is not the load's, and a good-bye harms
nobody."""

from collections.abc import Sequence

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.page_load.answer_bytes import captured_bytes
from lanelab.driver.trial.page_load.earlier import earlier_flows
from lanelab.driver.trial.page_load.witnesses import Witnesses
from tests.kit.frames import CLIENT, SERVER, Recorder, Talk, udp
from tests.kit.judging import judged
from tests.kit.quic_records import FIRST_US, PORT, flow, quic_record
from tests.kit.records import record

HTTP = Arm.parse("http", {})
FORCED = Arm.parse("h3", {"server": "caddy", "protocol": "h3", "tls": "1.3"})
EARLIER_PORT, QUIC_PORT = 39000, 443
READY_US = FIRST_US + 45_000  # of the made flow
ANSWER = b"HTTP/1.1 200 OK\r\n".ljust(1000, b"z")
Way = tuple[str, int]  # of a datagram, and how many bytes it carries


def captured(datagrams: Sequence[Way], *, port: int = QUIC_PORT, answer: bytes = b"") -> PacketSummary:
    """Two connections of the load, and datagrams that begin no connection: each has a short header."""
    recorder = Recorder()
    for number in range(2):
        talk = Talk(recorder, port=40000 + number)
        talk.open()
        if answer:
            talk.say("down", answer)
    for way, size in datagrams:
        ends = (CLIENT, EARLIER_PORT, SERVER, port) if way == "up" else (SERVER, port, CLIENT, EARLIER_PORT)
        recorder.add(udp(*ends, b"\x40".ljust(size, b"z")))
    return summarise(recorder.pcap())


@pytest.mark.parametrize(
    "datagrams",
    [[("up", 60)], [("up", 40), ("up", 60), ("down", 43)], [("down", 100)], [("up", 1200)] * 4],
    ids=["a close", "and its answer", "the server's", "much, which nobody waits for"],
)
def test_a_late_good_bye_fails_no_trial(datagrams: list[Way]) -> None:
    assert judged(record(HTTP), HTTP, packets=captured(datagrams)) == []


@pytest.mark.parametrize("sizes", [[101], [60, 60]], ids=["one datagram", "two"])
def test_what_it_brings_more_is_stray(sizes: list[int]) -> None:
    found = judged(record(HTTP), HTTP, packets=captured([("down", size) for size in sizes]))
    said = f"of connections from before the trial: {sum(sizes)} bytes to port {EARLIER_PORT}"
    assert found == [Failure(Reason.STRAY_PACKETS, said)]


def test_what_takes_the_links_time_is_counted() -> None:
    found = judged(record(HTTP), HTTP, packets=captured([("up", 1200)] * 5))
    said = f"{5 * (1200 + 42)} bytes of connections from before the trial"
    assert found == [Failure(Reason.CROSS_TRAFFIC, said)]


def test_datagrams_to_another_port_are_no_good_bye() -> None:
    found = judged(record(HTTP), HTTP, packets=captured([("up", 60)], port=8443))
    assert found == [Failure(Reason.CROSS_TRAFFIC, "102 bytes to port 8443")]


def test_what_an_earlier_connection_brings_is_no_answer() -> None:
    alone, beside = captured([], answer=ANSWER), captured([("down", 90)], answer=ANSWER)
    assert captured_bytes(alone) == captured_bytes(beside) == 2 * len(ANSWER)


@pytest.mark.parametrize(
    ("first_us", "size", "is_earlier"),
    [
        (READY_US - 1, 5000, True),  # no connection was far enough to go on elsewhere
        (READY_US, 5000, False),
        (READY_US, 301, False),
        (READY_US, 300, True),  # too little for a connection that goes on
    ],
)
def test_what_may_be_a_connection_that_moved_is_the_loads(first_us: int, size: int, is_earlier: bool) -> None:
    """Under an id that both ends agreed on in secret: it is judged with the others, and fails the trial."""
    data = quic_record(FORCED)
    other = flow(EARLIER_PORT, first_us=first_us, bytes_up=size, bytes_down=0, packets_down=0).to_json()
    data["evidence"]["packets"]["client"]["by_udp_flow"].append(other | {"quic": None})
    evidence = TrialRecord.from_json(data).page_load
    assert evidence is not None
    flows = Witnesses.of(evidence, FORCED).quic
    assert flows is not None
    assert [each.client_port for each in flows] == [PORT, *([] if is_earlier else [EARLIER_PORT])]
    earlier = earlier_flows(evidence.packets["client"])
    assert [each.client_port for each in earlier] == [EARLIER_PORT] * is_earlier
    of_protocol = [each for each in judged(data, FORCED, agreed=False) if each.reason is Reason.PROTOCOL_FALLBACK]
    assert len(of_protocol) == (not is_earlier)
