"""Records of fetches, made by hand: all witnesses say the same, until one is changed."""

import copy
from dataclasses import dataclass, replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.fetch.expectation import ExpectedFetch, as_fetched
from lanelab.driver.trial.fetch.judges import judge
from lanelab.driver.trial.fetch.requests import requests_of
from lanelab.driver.trial.fetch.settings import FetchSettings
from tests.kit.gateway_records import Exchange, Plan, Told
from tests.kit.records import HASH, OBJECTS, SITE, Data
from tests.kit.wire_plans import expected

HTML, STYLE, LOGO = (each.url for each in OBJECTS)
SERIES = FetchSettings(("*",), 1, warm=False)
EARLY_MS, LATE_MS = 0.5, 0.2  # of the fetcher's report, against its log


@dataclass
class Fetched:
    """What is said of a fetch: what is on the wire, and the fetcher's report of it."""

    settings: FetchSettings
    arm: Arm
    told: Told
    report: Data

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
        if self.told.captured:
            evidence["packets"] = {"client": self.told.packets.to_json()}
        record = TrialRecord.from_json(data)
        assert record.fetch is not None
        return replace(record, requests=requests_of(record.fetch, self.arm.scheme))

    def expected(self, site: Site = SITE) -> ExpectedFetch:
        return ExpectedFetch(self.settings, expected(self.arm, site, captured=True))

    def judged(self) -> list[Failure]:
        return judge(self.trial(), self.expected())


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
    return Fetched(settings, arm, told, report)


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
