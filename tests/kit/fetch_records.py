"""Records of fetches, made by hand: all witnesses say the same, until one is changed."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Flag
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.fetch.expectation import ExpectedFetch, as_fetched
from lanelab.driver.trial.fetch.judges import flags, judge
from lanelab.driver.trial.fetch.requests import requests_of
from lanelab.driver.trial.fetch.settings import FetchSettings
from lanelab.driver.trial.packets.quic_timeline import opening
from lanelab.driver.trial.packets.timeline import ACK, SYN, Datagram, Packet, Stream, Timeline
from tests.kit.gateway_records import Exchange, Plan, Told, port
from tests.kit.records import BEGAN_US, HASH, OBJECTS, SITE, Data
from tests.kit.wire_plans import expected

HTML, STYLE, LOGO = (each.url for each in OBJECTS)
SERIES = FetchSettings(("*",), 1, warm=False)
EARLY_MS, LATE_MS = 0.5, 0.2  # of the fetcher's report, against its log
REQUEST = 400  # bytes of one on the wire


@dataclass
class Fetched:
    """What is said of a fetch: what is on the wire, and the fetcher's report of it."""

    settings: FetchSettings
    arm: Arm
    told: Told
    report: Data
    timeline: Timeline  # what the client's capture has
    datagrams: Data | None  # that came for the client; None: over TCP

    @property
    def objects(self) -> list[Data]:
        found: list[Data] = self.report["objects"]
        return found

    def trial(self) -> TrialRecord:
        """The record as the judges have it."""
        data = copy.deepcopy(self.told.record)
        data |= {"workload": "fetch", "requests": []}
        evidence = data["evidence"]
        evidence |= {"browser": None, "fetch": copy.deepcopy(self.report), "packets": {}}
        evidence["datagrams"] = copy.deepcopy(self.datagrams)
        if self.told.captured or self.told.flows:
            evidence["packets"] = {"client": self.told.packets.to_json()}
        record = TrialRecord.from_json(data)
        assert record.fetch is not None
        return replace(record, requests=requests_of(record.fetch, self.arm.scheme))

    def expected(self, site: Site = SITE) -> ExpectedFetch:
        return ExpectedFetch(self.settings, expected(self.arm, site, captured=True))

    def judged(self) -> list[Failure]:
        return judge(self.trial(), self.expected(), lambda: self.timeline)

    def flags(self) -> list[Flag]:
        return flags(self.trial(), self.expected(), lambda: self.timeline)

    def stream(self, connection: int) -> Stream:
        return next(each for each in self.timeline.streams if each.client[1] == port(connection))


def fetched(arm: Arm, exchanges: list[Exchange], settings: FetchSettings = SERIES, before: int = 0) -> Fetched:
    """A fetch with these requests, of which so many were made before what is measured."""
    arm = as_fetched(arm, settings)
    told = Plan(arm, exchanges).told()
    objects = []
    for number, each in enumerate(told.requests, 1):
        each["queued_ms"] = max(0.0, _asked_ms(told, number))
        objects.append(
            {
                "request": number, "url": each["url"], "measured": number > before, "status": 200, "encoding": None,
                "body_bytes": each["response_body_bytes"], "sha256": HASH, "began_ms": each["queued_ms"],
                "ended_ms": each["last_byte_ms"] + LATE_MS, "error": None,
            }
        )  # fmt: skip
    measured = objects[before:]
    report = {
        "version": "1", "at_once": settings.at_once, "warm": settings.warm,
        "began_ms": min(each["began_ms"] for each in measured) - 0.1,
        "ended_ms": max(each["ended_ms"] for each in measured) + 0.1, "in_time": True, "objects": objects,
    }  # fmt: skip
    timeline = _over_quic(told, exchanges) if told.flows else _timeline(told, exchanges)
    datagrams = {"received": 4000, "dropped": 0, "without_room": 0} if told.flows else None
    return Fetched(settings, arm, told, report, timeline, datagrams)


def _timeline(told: Told, exchanges: Iterable[Exchange]) -> Timeline:
    """The packets that open connections, the requests, and of each answer its beginning and its end."""
    timeline = Timeline()
    for each in told.connections:
        server, server_port = each["remote"].split(":")
        stream = Stream(("10.10.1.2", port(each["connection"])), (server, int(server_port)))
        stream.packets.append(packet(each["began_ms"], up=True, flags=SYN))
        asked = answered = 1
        for one in sorted((e for e in exchanges if e.connection == each["connection"]), key=lambda e: e.sent_ms):
            stream.packets.append(packet(one.sent_ms, up=True, seq=asked, payload=REQUEST))
            for at_ms, size in ((one.last_ms - 1, 250), (one.last_ms, one.size)):
                stream.packets.append(packet(at_ms, up=False, seq=answered, payload=size))
                answered += size
            asked += REQUEST
        stream.packets.sort(key=lambda each: each.at_ns)
        timeline.streams.append(stream)
    return timeline


def _over_quic(told: Told, exchanges: Iterable[Exchange]) -> Timeline:
    """The same in datagrams."""
    timeline = Timeline()
    for each in told.connections:
        number = port(each["connection"])
        begin_quic(timeline, each["began_ms"], number)
        for one in (e for e in exchanges if e.connection == each["connection"]):
            timeline.datagrams.append(datagram(one.sent_ms, number, up=True, length=REQUEST))
            timeline.datagrams.append(datagram(one.last_ms - 1, number, up=False, length=250))
            timeline.datagrams.append(datagram(one.last_ms, number, up=False, length=one.size))
    timeline.datagrams.sort(key=lambda each: each.at_ns)
    return timeline


def begin_quic(timeline: Timeline, at_ms: float, client_port: int) -> None:
    first = datagram(at_ms, client_port, up=True, length=1280)
    timeline.datagrams.append(first)
    connection = opening(("10.10.1.2", client_port), (first.server, first.server_port), {})
    connection.stream.packets.append(packet(at_ms, up=True, payload=1280))
    timeline.quic.append(connection)


def datagram(at_ms: float, client_port: int, *, up: bool, length: int) -> Datagram:
    at_ns = BEGAN_US * 1000 + round(at_ms * 1_000_000)
    return Datagram(1, at_ns, up, 42 + length, client_port, "10.10.2.2", 443, 1, length, b"")


def packet(at_ms: float, *, up: bool, seq: int = 0, payload: int = 0, flags: int = ACK) -> Packet:
    """One at a moment of the fetcher's log."""
    at_ns = BEGAN_US * 1000 + round(at_ms * 1_000_000)
    return Packet(1, at_ns, up, 66 + payload, seq, 1, payload, flags, 500, 1, (1, 1), None, sacks=False)


def _asked_ms(told: Told, number: int) -> float:
    """When it was asked for: when its connection was begun, where it is the first on it; else when it was sent."""
    each = told.requests[number - 1]
    if each["reused"]:
        return float(each["sent_ms"]) - EARLY_MS
    connection = next(one for one in told.connections if one["connection"] == each["connection"])
    return float(connection["began_ms"]) - EARLY_MS


def exchange(url: str, connection: int, sent_ms: float, last_ms: float) -> Exchange:
    size = next(each.size for each in OBJECTS if each.url == url)
    return Exchange(url, connection, sent_ms, last_ms, size=size)


def in_series(arm: Arm) -> Fetched:
    """One after the other; each host has its connection."""
    one = not arm.multiplexed
    exchanges = [exchange(HTML, 1, 90, 150), exchange(STYLE, 1, 151, 210)]
    last = exchange(LOGO, 2, 260, 320) if one else exchange(LOGO, 1, 211, 270)
    return fetched(arm, [*exchanges, last])


def warm(arm: Arm) -> Fetched:
    """Twice over one connection."""
    urls = (HTML, STYLE, LOGO)
    exchanges = [exchange(url, 1, 90 + 61 * place, 150 + 61 * place) for place, url in enumerate((*urls, *urls))]
    return fetched(arm, exchanges, FetchSettings(("*",), 1, warm=True), before=len(urls))


def much_too_quick(made: Fetched) -> None:
    """Everybody at the client says that it took a tenth of the time."""
    for each in made.objects:
        each |= {"began_ms": each["began_ms"] / 10, "ended_ms": each["ended_ms"] / 10}
    for each in made.told.requests:
        each |= {key: each[key] / 10 for key in ("queued_ms", "sent_ms", "first_byte_ms", "last_byte_ms")}
    made.report |= {key: made.report[key] / 10 for key in ("began_ms", "ended_ms")}


def out_of_time(made: Fetched, asked: int) -> None:
    """The last of so many objects was on its way when the time was over, and no other had been asked for."""
    del made.objects[asked:], made.told.requests[asked:], made.told.served[asked:]
    made.objects[-1] |= {"sha256": None, "ended_ms": None, "body_bytes": 100, "error": "context deadline exceeded"}
    made.told.requests[-1] |= {"last_byte_ms": None, "response_body_bytes": 100, "cancelled": True}
    made.report |= {"in_time": False, "ended_ms": made.report["began_ms"] + 5000}
