"""The span that a fetch measures: by the fetcher's report, and by the packets of the client's capture."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.capture import CaptureCounts
from lanelab.driver.record.reasons import FlagName, Reason
from lanelab.driver.trial.fetch.judges import flags, judge
from lanelab.driver.trial.fetch.span import new_data
from lanelab.driver.trial.packets.timeline import ACK, FIN, RST, SYN, Datagram, Packet, Stream
from tests.kit.fetch_records import Fetched, in_series, packet, warm
from tests.kit.gateway_records import port
from tests.kit.records import BEGAN_US

HTTP = Arm.parse("http", {})
H2 = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
FIRST, LAST = 0, -1
Change = Callable[[Fetched], Any]


def mismatches(made: Fetched) -> str:
    """What is said of those who do not agree."""
    return "; ".join(each.detail for each in made.judged() if each.reason is Reason.WIRE_MISMATCH)


def end_later(made: Fetched, ms: float) -> None:
    """The report alone ends the last object, and the fetch, so much later."""
    made.objects[LAST]["ended_ms"] += ms
    made.report["ended_ms"] += ms


def end_earlier(made: Fetched, ms: float) -> None:
    """All that the fetcher says of its end is so much earlier."""
    end_later(made, -ms)
    for name in ("first_byte_ms", "last_byte_ms"):
        made.told.requests[LAST][name] -= ms


def late(made: Fetched, ms: float) -> None:
    """The fetcher had the end, and says that it came, so much later."""
    end_later(made, ms)
    made.told.requests[LAST]["last_byte_ms"] += ms


def begin_earlier(made: Fetched, ms: float) -> None:
    first = next(place for place, each in enumerate(made.objects) if each["measured"])
    made.objects[first]["began_ms"] -= ms
    made.told.requests[first]["queued_ms"] -= ms
    made.report["began_ms"] -= ms


def begin_later(made: Fetched, ms: float) -> None:
    """What was fetched before is said to have ended so much later, and the first measured request was sent then."""
    place = next(place for place, each in enumerate(made.objects) if each["measured"])
    made.objects[place - 1]["ended_ms"] += ms
    made.told.requests[place - 1]["last_byte_ms"] += ms
    made.objects[place]["began_ms"] += ms
    for name in ("queued_ms", "sent_ms"):
        made.told.requests[place][name] += ms
    made.report["began_ms"] += ms


def test_the_report_is_judged_without_a_capture() -> None:
    for values, words in (
        ({"ended_ms": 120.0}, "the fetch ended at 120.0 ms, and its last object at"),
        ({"ended_ms": 320.0}, "the fetch ended at 320.0 ms, and its last object at 320.2 ms"),
        ({"ended_ms": 9000.0}, "the fetch ended at 9000.0 ms, and its last object at"),
        ({"began_ms": 130.0}, "the fetch began at 130.0 ms, and its first request at"),
        ({"began_ms": 30.0}, "the fetch began at 30.0 ms, and its first request at"),
    ):
        made = in_series(HTTP)
        made.report.update(values)
        assert any(words in each.detail for each in judge(made.trial(), made.expected())), words


def test_a_measured_part_that_began_long_after_the_warm_one_is_found_without_a_capture() -> None:
    made = warm(H2)
    begin_later(made, 15)
    made.objects[2]["ended_ms"] -= 15
    made.told.requests[2]["last_byte_ms"] -= 15
    assert any("15.2 ms after what was fetched before" in each.detail for each in judge(made.trial(), made.expected()))


OTHERWISE: list[tuple[Callable[[Arm], Fetched], Change, str]] = [
    (in_series, lambda made: end_later(made, 51), "the last data came 51.3 ms before the fetch ended"),
    (warm, lambda made: end_later(made, 51), "the last data came 51.3 ms before the fetch ended"),
    (in_series, lambda made: end_earlier(made, 9), "data came until 8.7 ms after the fetch ended"),
    (in_series, lambda made: end_earlier(made, 5.5), "data came until 5.2 ms after the fetch ended"),
    (in_series, lambda made: begin_earlier(made, 9), "the first packet left 9.6 ms after the fetch began"),
    (warm, lambda made: begin_earlier(made, 9), "the first packet left 9.6 ms after the fetch began"),
    (warm, lambda made: begin_later(made, 15), "the first packet left 14.4 ms before the fetch began"),
]


@pytest.mark.parametrize(("make", "change", "words"), OTHERWISE, ids=[words for *_, words in OTHERWISE])
def test_a_span_that_the_packets_do_not_have_is_found(
    make: Callable[[Arm], Fetched], change: Change, words: str
) -> None:
    made = make(H2)
    assert made.judged() == []
    change(made)
    assert words in mismatches(made)


def test_without_packets_the_span_cannot_be_theirs() -> None:
    made = in_series(H2)
    made.timeline.streams.clear()
    assert "no packet with which the fetch begins" in mismatches(made)
    assert "no data that came before the fetch ended" in mismatches(made)


def longer(ms: int) -> Fetched:
    """Return one whose last answer came so much later, by all."""
    made, times = in_series(HTTP), ("first_byte_ms", "last_byte_ms", "ended_ms")
    for each in (made.objects[LAST], made.told.requests[LAST], made.report):
        each |= {name: value + ms for name, value in each.items() if name in times}
    last = made.stream(2).packets
    last[LAST] = last[LAST]._replace(at_ns=last[LAST].at_ns + ms * 1_000_000)
    return made


def test_some_milliseconds_and_two_hundredths_of_a_long_fetch_pass() -> None:
    made = in_series(H2)
    end_later(made, 4)
    assert made.judged() == []
    slow = longer(2000)
    end_earlier(slow, 30)
    assert slow.judged() == []
    end_earlier(slow, 18)
    assert "after the fetch ended" in mismatches(slow)


@pytest.mark.parametrize(("total_ms", "passes"), [(2000, 49), (4000, 75)])
def test_a_fetch_may_end_as_late_as_an_object_or_two_hundredths_of_it(total_ms: int, passes: int) -> None:
    """Its log is as late as its report: the capture is not."""
    made = longer(total_ms)
    late(made, passes)
    assert made.judged() == []
    (flag,) = made.flags()
    assert flag.detail == f"by the capture the last data came {passes}.3 ms before the fetch ended"
    late(made, 15)
    assert f"the last data came {passes + 15}.3 ms before the fetch ended" in mismatches(made)
    assert made.flags() == []


def test_a_report_may_end_as_late_after_its_last_object() -> None:
    made = in_series(H2)
    made.timeline.streams.clear()
    for ms, flagged in ((1.8, False), (2.2, True), (49, True)):
        made.report["ended_ms"] = made.objects[LAST]["ended_ms"] + ms
        assert judge(made.trial(), made.expected()) == []
        flag = (
            FlagName.FETCHER_LATE,
            f"by its own report the last object was there {ms:.1f} ms before the fetch ended",
        )
        assert [(each.name, each.detail) for each in flags(made.trial(), made.expected())] == [flag] * flagged
    made.report["ended_ms"] = made.objects[LAST]["ended_ms"] + 51
    assert [each.reason for each in judge(made.trial(), made.expected())] == [Reason.WIRE_MISMATCH]


def late_packet(made: Fetched, payload: int, *, again: bool = False, connection: int = 1) -> None:
    """One that comes 100 ms after the last."""
    stream = made.stream(connection)
    last = stream.packets[LAST]
    seq = last.seq if again else last.seq + last.payload
    stream.packets.append(last._replace(at_ns=last.at_ns + 100_000_000, seq=seq, payload=payload))


def test_what_comes_after_the_last_data_and_is_none_does_not_count() -> None:
    made = in_series(H2)
    late_packet(made, 5000, again=True)  # a tail that the server sent once more
    late_packet(made, 31)  # its last words
    assert made.judged() == []
    late_packet(made, 500)
    assert "data came until" in mismatches(made)


@pytest.mark.parametrize(("client_port", "server"), [(port(9), "10.10.2.2"), (port(1), "10.10.16.2")])
def test_a_connection_that_carried_nothing_may_still_be_opened_then(client_port: int, server: str) -> None:
    """Also at the port of one that carried something, to another server."""
    made = in_series(H2)
    stream = Stream(("10.10.1.2", client_port), (server, 443))
    stream.packets += [packet(250, up=True, flags=SYN), packet(400, up=False, seq=1, payload=2000)]
    made.timeline.streams.append(stream)
    assert made.judged() == []


def of_before(made: Fetched, *packets: Packet, client_port: int = port(9)) -> None:
    """A connection of the fetch before, which is not closed."""
    stream = Stream(("10.10.1.2", client_port), ("10.10.2.2", 443))
    stream.packets += packets
    made.timeline.streams.insert(0, stream)


@pytest.mark.parametrize(
    ("first", "begins"),
    [
        (packet(2, up=True, flags=FIN | ACK), False),
        (packet(2, up=True, payload=24), False),
        (packet(2, up=True, flags=RST), False),
        (packet(2, up=False, flags=FIN | ACK), False),
        (packet(2, up=False, flags=SYN), False),
        (packet(2, up=False, flags=SYN | ACK), False),
        (packet(2, up=True, flags=SYN | ACK), False),
        (packet(2, up=True, flags=SYN), True),
    ],
)
def test_a_fetch_begins_with_a_connection_and_not_with_the_end_of_one_before(first: Packet, *, begins: bool) -> None:
    made = in_series(H2)
    of_before(made, first, packet(4, up=True))
    assert ("ms before the fetch began" in mismatches(made)) is begins
    assert begins or made.judged() == []


def test_the_end_of_a_connection_before_is_no_begin_where_there_is_no_other() -> None:
    made = in_series(H2)
    made.timeline.streams.clear()
    of_before(made, packet(made.report["began_ms"], up=True, flags=FIN | ACK))
    assert "no packet with which the fetch begins" in mismatches(made)


def test_what_is_sent_on_a_connection_before_is_no_first_request_of_a_warm_fetch() -> None:
    made = warm(H2)
    of_before(made, packet(made.report["began_ms"] - 9, up=True, payload=24))
    assert made.judged() == []
    sent = made.stream(1).packets
    asked = [place for place, each in enumerate(sent) if each.up and each.payload][3]
    at_ns = sent.pop(asked).at_ns
    assert "the first packet left" in mismatches(made)
    of_before(made, sent[asked]._replace(at_ns=at_ns, up=True, payload=24))
    assert "the first packet left" in mismatches(made)


def test_data_on_a_connection_before_is_no_end_of_the_fetch() -> None:
    """It had the port of one of the fetch."""
    made = in_series(H2)
    of_before(made, packet(made.report["ended_ms"] + 100, up=False, payload=500), client_port=port(1))
    assert made.judged() == []


def test_a_fetch_begins_with_the_look_up_of_its_host() -> None:
    made = in_series(H2)
    begin_earlier(made, 40)
    asked_ns = BEGAN_US * 1000 + 9_000_000
    assert "the first packet left 40.6 ms after" in mismatches(made)
    made.timeline.datagrams.append(Datagram(1, asked_ns, True, 80, 5000, "10.10.2.3", 53, 1, 40, b""))
    assert "the first packet" not in mismatches(made)


def test_a_capture_that_lacks_packets_is_not_asked() -> None:
    """The trial does not count for another reason: its packets are those of other moments."""
    made = in_series(H2)
    made.timeline.streams.clear()
    trial = made.trial()
    assert trial.fetch is not None
    lossy = replace(trial.fetch, capture={"client": CaptureCounts("client.pcap", 90, 99, 9)})
    found = judge(replace(trial, evidence=lossy), made.expected(), lambda: made.timeline)
    assert [each.reason for each in found] == [Reason.CAPTURE_LOST_PACKETS]


def test_data_is_new_once_whatever_way_it_is_cut() -> None:
    pieces = [(100, 100), (300, 100), (100, 50), (200, 100), (150, 250), (350, 100), (440, 10), (0xFFFF_FF00 + 50, 10)]
    came = [packet(at, up=False, seq=seq, payload=size) for at, (seq, size) in enumerate(pieces)]
    assert [(each.seq, each.payload) for each in new_data(came)] == [
        *((100, 100), (300, 100), (200, 100), (350, 100), (0xFFFF_FF32, 10)),
    ]


@pytest.mark.parametrize(("late_ms", "flagged"), [(1.5, False), (2.5, True), (40, True)])
def test_a_fetcher_that_waited_is_flagged(late_ms: float, flagged: bool) -> None:
    made = in_series(H2)
    made.objects[1]["ended_ms"] = made.told.requests[1]["last_byte_ms"] + late_ms
    found = [each for each in made.flags() if each.name is FlagName.FETCHER_LATE]
    assert [each.detail for each in found] == [
        f"{made.objects[1]['url']} was told {late_ms:.1f} ms after its last byte"
    ] * flagged


def test_a_fetch_that_ended_some_milliseconds_after_its_last_data_is_flagged() -> None:
    """Its log may be as late as its report: the capture is not."""
    made = in_series(H2)
    late(made, 4)
    assert made.judged() == []
    (flag,) = made.flags()
    assert flag.name is FlagName.FETCHER_LATE
    assert flag.detail == "by the capture the last data came 4.3 ms before the fetch ended"


def test_lateness_before_what_is_measured_is_no_doubt() -> None:
    made = warm(H2)
    made.objects[0]["ended_ms"] += 10
    assert made.flags() == []
