"""A server that reads requests late, or works long on a small answer, and a resolver that answers late: flagged."""

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.timeline import Packet, Stream, Timeline
from lanelab.driver.trial.page_load.judges.slow import Slow
from tests.kit.records import LINK, Data, record

HTTP, H2 = Arm.parse("http", {}), Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
NAMES = Arm.parse("names", {"dns": "resolver"})
FLOW = {
    "client_port": 50000, "server": "10.10.2.2", "server_port": 53, "packets_up": 1, "packets_down": 1,
    "bytes_up": 70, "bytes_down": 90, "quic": None,
}  # fmt: skip


def sent(data: Data) -> Timeline:
    """Each request 21 ms before the server read it: 20 of them are the way."""
    timeline = Timeline()
    for line in data["evidence"]["server"]["requests"]:
        at_ns = (line["began_us"] - 21_000) * 1000
        packet = Packet(1, at_ns, True, 500, 0, 0, 434, 16, 500, 0, None, None, False)
        (client, port), (server, server_port) = (line[end].split(":") for end in ("remote", "local"))
        timeline.streams.append(Stream((client, int(port)), (server, int(server_port)), [packet]))
    return timeline


def flags(data: Data, timeline: Timeline, arm: Arm = HTTP, link: Link = LINK) -> list[str]:
    evidence = TrialRecord.from_json(data).page_load
    assert isinstance(evidence, PageLoadEvidence)
    return [f"{flag.name}: {flag.detail}" for flag in Slow(arm, link, evidence, timeline).flags()]


def test_a_server_that_reads_at_once_is_not_slow_whatever_its_clock_says() -> None:
    data = record(HTTP)
    timeline = sent(data)
    assert flags(data, timeline) == []
    for line in data["evidence"]["server"]["requests"]:
        line["began_us"] += 3_000_000  # another machine's clock
    assert flags(data, timeline) == []


def test_a_request_that_waits_to_be_read_is_flagged() -> None:
    data = record(HTTP)
    timeline = sent(data)
    data["evidence"]["server"]["requests"][1]["began_us"] += 400_000
    (said,) = flags(data, timeline)
    assert said == "server-slow: a.test/style.css?v=1 waited 400 ms to be read"


def test_a_small_answer_that_takes_long_is_flagged_and_a_large_one_is_not() -> None:
    data = record(HTTP)
    timeline = sent(data)
    line = data["evidence"]["server"]["requests"][1] | {"duration_us": 90_000}
    data["evidence"]["server"]["requests"][1] = line
    assert flags(data, timeline) == ["server-slow: a.test/style.css?v=1 took the server 90 ms"]
    line["sent_bytes"] = 500_000  # it waits for the client to take it
    assert flags(data, timeline) == []


def test_where_requests_wait_for_each_other_nothing_is_said() -> None:
    data = record(H2)
    data["evidence"]["server"]["requests"][1]["duration_us"] = 90_000
    assert flags(data, sent(data), H2) == []


def paused(wait_ms: float, part: str = "wait") -> Data:
    data = record(H2)
    stretches = [{"part": part, "from_ms": 300.0, "to_ms": 300.0 + wait_ms, "detail": ""}]
    data["evidence"]["parts"] = {"stretches": stretches, "absent": None}
    return data


def test_a_pause_that_no_round_trip_explains_is_the_servers_whatever_the_protocol() -> None:
    data = paused(300)
    assert flags(data, sent(data), H2) == ["server-slow: an answer paused for 300 ms"]
    assert flags(paused(160), sent(data), H2) == []  # a round trip, and what a machine with other work takes
    assert flags(paused(300, "slow_start"), sent(data), H2) == []
    lossy = Link.parse({"rtt": "40ms", "rate": "10mbit", "loss": "1%"})
    assert flags(data, sent(data), H2, lossy) == []  # the request may have been lost
    gateway = Arm.parse("gateway", {"protocol": "h2", "tls": "1.3", "via": "gateway"})
    assert flags(data, sent(data), gateway) == []
    data["evidence"]["link"]["losses_up"]["lost"] = 1
    assert flags(data, sent(data), H2) == []


def test_a_look_up_that_has_the_link_for_itself_is_timed() -> None:
    data = record(NAMES)
    timeline, packets = sent(data), data["evidence"]["packets"]["client"]
    first_us = min(each["first_us"] for each in packets["by_connection"])
    for took_us, says in ((42_000, []), (640_000, ["dns-slow: a look-up took 640 ms"])):
        packets["by_udp_flow"] = [{**FLOW, "first_us": first_us - 700_000, "last_us": first_us - 700_000 + took_us}]
        assert flags(data, timeline, NAMES) == says
    lossy = Link.parse({"rtt": "40ms", "rate": "10mbit", "loss": "1%"})
    assert flags(data, timeline, NAMES, lossy) == []
