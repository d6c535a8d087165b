"""A page load as it went over the link: which connection carried what, and when, on one clock."""

import copy

import pytest

from lanelab.analysis.results.load_parts import LoadView
from lanelab.analysis.results.load_view import chunks, load_view, round_step
from lanelab.analysis.results.packets_over_time import of_stream
from lanelab.analysis.results.report.part_strip import part_strip
from lanelab.analysis.results.report.sequence import sequence
from lanelab.analysis.results.report.waterfall import Scale, waterfall
from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.ends import Ends
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.timeline import Timeline, read_timeline
from tests.kit import records
from tests.kit.frames import ACK, CLIENT, SERVER, Recorder, Talk
from tests.kit.gateway_records import Exchange, Plan, port
from tests.kit.records import BEGAN_US, Data

HTTP, SPDY = Arm.parse("http", {}), Arm.parse("spdy", {"via": "gateway", "protocol": "spdy/3.1"})
CLOCK = {"asked": BEGAN_US, "navigation": BEGAN_US + 4000, "first_request": BEGAN_US + 5000}


def http() -> Data:
    """Three objects over a connection each. Requests begin 5 ms after the page was asked for."""
    data = records.record(HTTP)
    data["evidence"]["browser"]["clock"] = dict(CLOCK)
    data["measures"]["dcl_ms"] = 300.0
    return data


def captured() -> Timeline:
    """The first request's connection: opened from 5 ms on, 20 kB from 100 ms on, with a pause; and an idle one."""
    recorder = Recorder(now_us=BEGAN_US)
    talk = Talk(recorder, port=40010)
    recorder.wait(5 - 0.1)
    talk.open()
    talk.say("up", b"GET / HTTP/1.1\r\n\r\n")
    recorder.wait(54.6)
    for payload in range(20):
        talk.say("down", bytes(1000), after_ms=60 if payload == 10 else 0.1)
    Talk(recorder, port=40099).open()
    return read_timeline(recorder.pcap(), CLIENT)


def view(data: Data | None = None, timeline: Timeline | None = None) -> LoadView:
    return load_view(TrialRecord.from_json(data or http()), timeline or captured(), 10.0)


def ports(found: LoadView) -> list[int | None]:
    return [row.ends.client_port if row.ends else None for row in found.rows]


def test_requests_are_drawn_from_the_moment_the_page_was_asked_for() -> None:
    first, second, _ = view().rows
    assert [(bar.phase, round(bar.start, 1), round(bar.end, 1)) for bar in first.bars] == [
        ("blocked", 5.0, 6.0),
        ("connect", 6.0, 46.0),
        ("send", 46.0, 46.1),
        ("wait", 46.1, 86.1),
        ("receive", 86.1, 95.1),
    ]
    assert second.bars[0].start == 55
    assert dict(view().events)["DOMContentLoaded"] == 304  # 300 after the navigation began


def test_each_request_has_the_connection_that_the_server_saw() -> None:
    found = view()
    assert ports(found) == [40010, 40011, 40012]
    assert [(lane.ends.client_port, lane.requests) for lane in found.lanes] == [(40010, 1), (40099, 0)]
    lane = found.lanes[0]
    assert lane.payload == 20_000
    assert lane.bars[0].phase == "connect"
    assert (lane.bars[0].start, lane.bars[0].end) == pytest.approx((5.0, 45.0), abs=0.2)


def test_a_request_without_a_connection_has_none_of_another() -> None:
    data = http()
    for request in data["requests"]:
        request["connection"] = None
    data["requests"][2] |= {"from_cache": True}
    assert ports(view(data)) == [40010, 40011, None]


def test_the_same_address_asked_for_twice_is_told_apart_by_order() -> None:
    data = http()
    again = copy.deepcopy(data["requests"][0]) | {"started_ms": 400.0, "connection": 77}
    records.ask(data, again, HTTP)
    assert ports(view(data)) == [40010, 40011, 40012, 40077]


def test_bytes_belong_to_the_request_that_alone_waited_for_some() -> None:
    data = http()
    data["requests"][0] |= {"timings": data["requests"][0]["timings"] | {"receive": 200.0}}
    first, second, _ = view(data).rows
    assert sum(chunk.bytes for chunk in first.chunks) == 20_000
    assert len(first.chunks) == 2, "the pause is seen"
    assert second.chunks == (), "its connection is not in the capture"
    shared = copy.deepcopy(data)
    shared["evidence"]["server"]["requests"][1]["remote"] = "10.10.1.2:40010"
    assert view(shared).rows[0].chunks == (), "whose bytes they were, the capture alone does not tell"


@pytest.mark.parametrize("known", [True, False], ids=["address", "port alone"])
def test_two_connections_of_one_port_are_two(*, known: bool) -> None:
    """To two servers at the same time. What a log without the server's address tells of is drawn at both."""
    recorder, other = Recorder(now_us=BEGAN_US), "10.10.16.2"
    for server, size in ((SERVER, 1000), (other, 700)):
        talk = Talk(recorder, port=40010, server=server)
        talk.open()
        talk.say("up", b"GET / HTTP/1.1\r\n\r\n")
        recorder.wait(40)
        talk.say("down", bytes(size))
    data = http()
    lines = data["evidence"]["server"]["requests"]
    lines[1] |= {"remote": lines[0]["remote"], "local": f"{other}:80"}
    for line in lines if not known else ():
        line["local"] = ":80"
    found = view(data, read_timeline(recorder.pcap(), CLIENT))
    assert [lane.ends for lane in found.lanes] == [Ends(40010, SERVER, 80), Ends(40010, other, 80)]
    assert [lane.requests for lane in found.lanes] == ([1, 1] if known else [2, 2])


def test_throughput_is_that_of_the_capture() -> None:
    found = view()
    speed = found.throughput
    assert speed is not None
    down = [packet for stream in captured().streams for packet in stream.down]
    until = found.end * 1_000_000
    frames = sum(packet.frame_bytes for packet in down if packet.at_ns - BEGAN_US * 1000 <= until)
    assert sum(speed.mbit) * speed.window_ms * 1000 / 8 == pytest.approx(frames)
    assert speed.rate == 10.0


def test_without_a_capture_or_a_clock_there_are_requests_alone() -> None:
    bare = load_view(TrialRecord.from_json(http()), None, 10.0)
    assert (len(bare.rows), bare.lanes, bare.throughput) == (3, (), None)
    data = http()
    data["evidence"]["browser"]["clock"] = None
    assert load_view(TrialRecord.from_json(data), captured(), 10.0).lanes == ()
    assert waterfall(bare, bare.end) is not None


def test_with_the_gateway_it_is_what_was_on_the_link() -> None:
    """Not what was between browser and gateway, which the browser's own timings are of."""
    exchanges = [
        Exchange("a.test/index.html", 1, sent_ms=52, last_ms=170, queued_ms=8),
        Exchange("a.test/style.css?v=1", 1, sent_ms=175, last_ms=260),
        Exchange("b.test/logo.png", 1, sent_ms=176, last_ms=300),
    ]
    data = Plan(SPDY, exchanges).told().trial().to_json()
    data["evidence"]["browser"]["clock"] = {**CLOCK, "asked": BEGAN_US - 3000, "first_request": BEGAN_US}
    found = load_view(TrialRecord.from_json(data), None, None)
    assert found.by_gateway
    first, second, _ = found.rows
    assert [(bar.phase, bar.start, bar.end) for bar in first.bars] == [
        ("blocked", 3, 14),
        ("connect", 14, 54),
        ("blocked", 54, 55),
        ("wait", 55, 172),
        ("receive", 172, 173),
    ]
    assert [bar.phase for bar in second.bars] == ["blocked", "wait", "receive"]
    assert set(ports(found)) == {port(1)}


def test_a_log_of_the_gateway_that_lacks_a_key_is_refused() -> None:
    data = Plan(SPDY, [Exchange("http://a.test/", 1, 45, 100)]).told().trial().to_json()
    data["evidence"]["browser"]["clock"] = dict(CLOCK)
    assert load_view(TrialRecord.from_json(data), None, None)
    del data["evidence"]["gateway"]["connections"][0]["host"]
    with pytest.raises(RecordError, match="host is missing"):
        load_view(TrialRecord.from_json(data), None, None)


def test_stretches_are_on_the_same_scale() -> None:
    data = http()
    data["evidence"]["parts"] = {
        "stretches": [
            {"part": "connect", "from_ms": -5.0, "to_ms": 45.0, "detail": "two"},
            {"part": "transmission", "from_ms": 45.0, "to_ms": 95.0, "detail": ""},
        ],
        "absent": None,
    }
    found = view(data)
    assert [(each.from_ms, each.to_ms) for each in found.stretches] == [(0, 50), (50, 100)]
    drawn = part_strip(found.stretches, 100.0)
    assert drawn is not None
    assert "connections, 50.0 ms (0 to 50 ms): two" in drawn
    assert part_strip((), 100.0) is None


def test_places_are_shares_of_one_scale() -> None:
    scale = Scale(1000)
    assert (scale.at(0), scale.at(510), scale.at(-9), scale.at(9999)) == ("0.00%", "50.00%", "0.00%", "100.00%")
    assert scale.ticks() == [0, 200, 400, 600, 800, 1000]
    assert [round_step(least) for least in (0.11, 1, 1.1, 8, 12, 99, 101)] == [0.2, 1, 2, 10, 20, 100, 200]


def test_arrivals_without_a_pause_are_one_chunk() -> None:
    found = chunks([(0, 10), (1, 10), (5, 10), (5.5, 10)], 2)
    assert [(each.start, each.end, each.bytes) for each in found] == [(0, 1, 20), (5, 5.5, 20)]


def test_packets_over_time_tell_what_came_late() -> None:
    """The second of four is lost; the client asks for it, and it comes after the fourth. Numbers wrap on the way."""
    recorder = Recorder(now_us=BEGAN_US)
    talk = Talk(recorder, server_isn=0xFFFF_FFFF - 1500)
    talk.open()
    talk.say("down", bytes(1000), after_ms=10)
    lost = talk.say("down", bytes(1000), lost=True)
    talk.say("down", bytes(1000))
    talk.say("down", bytes(1000))
    talk.segment("up", talk.up, lost, ACK, after_ms=1)
    talk.repeat("down", lost, bytes(1000), after_ms=40)
    talk.segment("up", talk.up, talk.down, ACK, after_ms=1)
    (stream,) = read_timeline(recorder.pcap(), CLIENT).streams
    found = of_stream(stream, BEGAN_US * 1000, 1000)
    assert [(each.start, each.end, each.late) for each in found.segments] == [
        (0, 1000, False), (2000, 3000, False), (3000, 4000, False), (1000, 2000, True),
    ]  # fmt: skip
    assert [each.until for each in found.acknowledged] == [1000, 4000]
    assert (found.bytes, found.late) == (4000, 1)
    drawn = sequence([found], 3, 1000)
    assert drawn is not None
    assert "4 packets, 4,000 bytes, 1 late" in drawn
    assert "2 others are not drawn" in drawn
    assert of_stream(stream, BEGAN_US * 1000, 20).segments == (), "what came after the end is no part of it"
