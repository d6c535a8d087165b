"""What a connection's first packets say of the initial window: a right one counts, whatever made its packets late."""

import functools
from dataclasses import replace

import pytest

from lanelab.driver.record.evidence.link import Windows
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.packets.link_evidence import link_evidence
from lanelab.driver.trial.packets.timeline import ACK, SYN, Packet, Stream, Timeline
from lanelab.driver.trial.page_load.judges.link import LinkVerdict
from tests.kit.simulated_link import MS, Load
from tests.unit.trial.test_link_verdict import STARVED, TRIAL, link, stalls, verdict


def test_a_load_whose_round_trips_were_all_late_has_no_larger_initial_window() -> None:
    load = Load(link(rate="50mbit"), stalls=stalls(3, 15, 15))
    found = verdict(load, load.link, both=False, flags=STARVED)
    assert Reason.INITIAL_WINDOW not in {failure.reason for failure in found.failures()}


def of_one_answer(rtt_ms: int, timestamps: str, kept_ms: float = 0.0, window: int | None = None) -> Load:
    """An answer of 14 packets. The router keeps the tenth of them for so long."""
    asked = link(rate="50mbit", rtt=f"{rtt_ms}ms", timestamps=timestamps)
    begin = 2 * rtt_ms * MS + int(12.3 * MS)  # between the ninth and the tenth
    kept = [(begin, begin + int(kept_ms * MS))] if kept_ms else []
    return Load(asked, sizes=(20_000,), stalls=kept, window=window)


def test_a_starved_router_that_keeps_the_tenth_packet_for_a_round_trip_is_no_smaller_initial_window() -> None:
    """Without timestamps nothing tells it from an answer to the first acknowledgement."""
    load = of_one_answer(20, "false", kept_ms=18.2)
    found = verdict(load, load.link, both=False, flags=STARVED)
    assert found.seen is not None
    assert found.seen.window_down == Windows(9, 9, 1), "else it would not look like one"
    assert list(found.failures()) == []
    (failure,) = verdict(load, load.link, both=False).failures()  # a machine that had time explains nothing
    assert failure.reason == Reason.INITIAL_WINDOW


@pytest.mark.parametrize(("rtt_ms", "kept_ms", "timestamps"), [
    (100, 92.7, "true"), (100, 92.7, "false"),  # for less than a round trip
    (20, 18.2, "true"), (100, 99.0, "true"),  # for as long as an answer to the first acknowledgement takes
])  # fmt: skip
def test_a_first_flight_whose_last_packet_is_late_is_no_smaller_initial_window(
    rtt_ms: int, kept_ms: float, timestamps: str
) -> None:
    load = of_one_answer(rtt_ms, timestamps, kept_ms)
    found = verdict(load, load.link, both=False)
    assert found.seen is not None
    assert found.seen.window_down == Windows(9, None, 1), "the tenth was to come late"
    assert Reason.INITIAL_WINDOW not in {failure.reason for failure in found.failures()}


@pytest.mark.parametrize("timestamps", ["true", "false"])
@pytest.mark.parametrize("rtt_ms", [20, 100])
@pytest.mark.parametrize("window", [3, 4, 9])
def test_a_server_that_waits_for_an_acknowledgement_sooner_has_a_smaller_initial_window(
    window: int, rtt_ms: int, timestamps: str
) -> None:
    load = of_one_answer(rtt_ms, timestamps, window=window)
    found = verdict(load, load.link, both=False)
    assert found.seen is not None
    assert found.seen.window_down == Windows(window, window, 1)
    (failure,) = found.failures()
    assert failure.reason == Reason.INITIAL_WINDOW
    assert f"stopped after {window} packets" in failure.detail


def test_a_smaller_window_is_known_where_its_answer_is_the_quickest_of_all_trips() -> None:
    """Without timestamps, where a connection's first packets were a little late both ways."""
    asked = link(rate="50mbit", timestamps="false")
    load = Load(asked, sizes=(20_000,), window=4, late=lambda number, _up: MS // 2 if number <= 4 else 0)
    assert link_evidence(load.client, None, asked).window_down == Windows(4, 4, 1)


@pytest.mark.parametrize(("rtt_ms", "stopped"), [(1, None), (2, 4)])
def test_a_program_that_pauses_for_a_short_round_trip_has_no_smaller_initial_window(
    rtt_ms: int, stopped: int | None
) -> None:
    """On links without emulation each pause of the server is as long as a round trip."""
    load = of_one_answer(rtt_ms, "true", window=4)
    assert link_evidence(load.client, None, load.link).window_down.stopped == stopped


def test_a_program_that_goes_on_later_has_no_smaller_initial_window() -> None:
    """It wrote nine packets, stood still for a moment, and went on a little after the first acknowledgement had come:
    what it sent then echoes a later one."""
    load = of_one_answer(100, "true", window=9)
    (stream,) = load.client.streams
    for number, packet in enumerate(stream.packets):
        if not packet.up and packet.seq > 9 * 1448:
            assert packet.timestamp is not None
            value, echo = packet.timestamp
            stream.packets[number] = packet._replace(at_ns=packet.at_ns + 3 * MS, timestamp=(value + 3, echo + 3))
    assert link_evidence(load.client, None, load.link).window_down.stopped is None


@pytest.mark.parametrize(("said_again", "stopped"), [("", 1), ("SYN", None), ("answer", None)])
def test_a_connection_whose_beginning_was_said_again_may_begin_with_one_packet(
    said_again: str, stopped: int | None
) -> None:
    """Linux does so where its answer to the SYN was sent more than once, as when that or the SYN was lost."""
    asked = link(rate="50mbit")
    load = Load(asked, sizes=(20_000,), window=1, lost=lambda number, _up: number == 1 and said_again == "SYN")
    (stream,) = load.client.streams
    if said_again == "answer":
        place, answer = next((at, each) for at, each in enumerate(stream.packets) if not each.up)
        stream.packets.insert(place + 1, answer)
    found = verdict(load, load.link, both=False)
    assert found.seen is not None
    assert found.seen.window_down == Windows(1, stopped, 1)
    assert [each.reason for each in found.failures()] == [Reason.INITIAL_WINDOW] * (stopped is not None)


def append(stream: Stream, at_ns: int, up: bool, seq: int, payload: int = 0, *, flags: int = ACK, ack: int = 1,
           sacks: bool = False) -> None:  # fmt: skip
    number, mss = len(stream.packets) + 1, 1460 if flags & SYN else None
    sizes = 66 + payload, seq, ack, payload
    stream.packets.append(Packet(number, at_ns, up, *sizes, flags, 500, number, (at_ns // MS, 0), mss, sacks=sacks))


def opened() -> Stream:
    """A connection with its handshake, over a round trip of 20 ms."""
    stream = Stream(("10.10.1.2", 40_000), ("10.10.2.2", 80))
    append(stream, 0, True, 0, flags=SYN, ack=0)
    append(stream, 20 * MS, False, 0, flags=SYN | ACK)
    append(stream, 20 * MS, True, 1)
    return stream


def without_its_first(count: int, lost: int) -> Timeline:
    """A connection whose server sent `count` packets with data, as its client saw it, but for the first of them: for
    each that came the client told of the gap, and the server sent one more."""
    stream = opened()
    rtt, add = 20 * MS, functools.partial(append, stream)
    add(rtt, True, 1, 400)
    for number in range(lost, count):
        at_ns = (2 + number // 10) * rtt + number * MS
        add(at_ns, False, 1 + number * 1448, 1448, ack=401)
        add(at_ns, True, 401, ack=1 if lost else 1 + (number + 1) * 1448)
    return Timeline([stream])


@pytest.mark.parametrize(("lost", "window"), [(0, Windows(10, None, 1)), (1, Windows(0, None, 0))])
def test_a_first_packet_that_was_lost_makes_no_larger_initial_window(lost: int, window: Windows) -> None:
    """What comes behind it is acknowledged by no number, but by selective acknowledgements, so that more may follow."""
    client = without_its_first(10 if not lost else 18, lost)
    seen = link_evidence(client, None, link())
    assert seen.window_down == window
    assert TRIAL.page_load is not None
    found = LinkVerdict(TRIAL, replace(TRIAL.page_load, link=seen, emulation=None), link())
    assert Reason.INITIAL_WINDOW not in {each.reason for each in found.failures()}


def of_requests(lost: int, window: int, sack: bool) -> Timeline:
    """A client with much to ask, as its own capture has it: slow start by an acknowledgement for each packet that came,
    until the one that was lost; from then on each answer lets more out."""
    stream = opened()
    rtt, add = 20 * MS, functools.partial(append, stream)
    sent = 0
    for heard in range(21):
        behind = heard > lost
        if heard:
            add(rtt * 2 + heard * MS, False, 1, ack=1 + min(heard, lost) * 1448, sacks=behind and sack)
        for _ in range(window if not heard else 4 if behind else 2):  # the number stands still, and more is sent
            add(rtt * (1 + bool(heard)) + heard * MS, True, 1 + sent * 1448, 1448)
            sent += 1
    return Timeline([stream])


@pytest.mark.parametrize("sack", [True, False])
@pytest.mark.parametrize("window", [3, 9])
def test_requests_that_go_on_behind_a_lost_one_make_no_larger_initial_window(window: int, sack: bool) -> None:
    assert link_evidence(of_requests(6, window, sack), None, link()).window_up.least == window
