"""What trials and self-tests of a run that was made up look like."""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import PageTimes, Request, Timings
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from tests.kit.records import record as sound_record

ROUND_TRIPS = {"http": 10.4, "http keepalive": 6.2, "https": 7.4, "h2": 4.1}
PAGE_BYTES = 1_128_000
FILES: Mapping[str, bytes] = {
    "page.har.gz": gzip.compress(json.dumps({"log": {"version": "1.2", "entries": []}}).encode(), mtime=0)
}
SERIES: Mapping[str, Series] = {"load": Series("processes", ((0.0, 0.5), (100.0, 0.5)))}
_SOUND = PageLoadEvidence.from_json(sound_record(Arm.parse("http", {}))["evidence"])


@dataclass(frozen=True)
class MadeLoad:
    """What decides how long a page takes."""

    link: Link
    arm: str
    page_bytes: float
    factor: float  # how much longer than expected everything takes


def record_of(load: MadeLoad, started_utc: str, rng: random.Random, *, with_requests: bool) -> TrialRecord:
    """A trial that counts."""
    rate = load.link.down.rate.bps if load.link.down.rate else 1e9
    rtt = load.link.rtt.milliseconds
    bound = rtt * 2 + load.page_bytes * 8.4 / rate * 1000
    plt = (bound * 1.02 + ROUND_TRIPS.get(load.arm, 5.0) * rtt + 45) * load.factor
    requests = made_requests(rng, plt, load.arm) if with_requests else []
    connections = 1 if load.arm == "h2" else 24 if load.arm == "http" else 6
    times = {
        "plt_ms": plt, "plt_navigation_ms": plt - 6, "ttfb_ms": 2.1 * rtt + 3, "dcl_ms": plt * 0.4,
        "first_paint_ms": plt * 0.35, "fcp_ms": plt * 0.35, "lcp_ms": plt * 0.9,
    }  # fmt: skip
    measures = {
        **times, "bound_ms": bound, "connections": connections, "bytes_down": int(load.page_bytes * 1.043),
        "bytes_up": 41_000 + 900 * connections, "retransmissions": rng.choice((0, 0, 0, 2)),
    }  # fmt: skip
    return TrialRecord(
        workload="page_load", started_utc=started_utc, measures=measures, series=SERIES,
        requests=tuple(map(_request, requests)), failures=(), artifacts=tuple(FILES),
        marks={"prepare_s": 0.31, "navigate_s": plt / 1000, "collect_s": 0.12}, evidence=_evidence(PageTimes(**times)),
    )  # fmt: skip


def _request(data: Mapping[str, Any]) -> Request:
    """As Request.from_json, which checks every value, and a run has thousands."""
    headers = {name: tuple(map(tuple, data[name])) for name in ("request_headers", "response_headers")}
    return Request(**{**data, **headers, "timings": Timings(**data["timings"])})


def _evidence(times: PageTimes) -> PageLoadEvidence:
    browser = _SOUND.browser
    assert browser is not None
    facts = replace(browser.facts, product="Chromium/140.0", flags=("--headless=new",))
    return replace(_SOUND, browser=replace(browser, console=(), facts=facts, times=times), packets={})


def loaded(requests: Sequence[Mapping[str, Any]], **measures: float) -> TrialRecord:
    """A page load of which nothing else is known."""
    asked = tuple(Request.from_json(each) for each in requests)
    return TrialRecord("page_load", "2026-01-01T00:00:00Z", measures, {}, asked, (), (), {}, None)


def made_requests(rng: random.Random, plt: float, arm: str) -> list[dict[str, Any]]:
    """One page, three style sheets, twenty images, as the arm would fetch them."""
    names = ["/", *(f"/s{i}.css" for i in range(1, 4)), *(f"/i{i:02}.png" for i in range(1, 21))]
    scheme, protocol = ("https" if arm in ("https", "h2") else "http"), ("h2" if arm == "h2" else "http/1.1")
    lanes = 20 if arm == "h2" else 6
    free = [plt * 0.12] * lanes
    found = []
    for i, name in enumerate(names):
        lane = min(range(lanes), key=lambda n: free[n]) if i else 0
        began = plt * 0.12 if i else 0.0
        took = plt * 0.11 if i == 0 else plt * (0.84 if arm == "h2" else 0.2) * rng.uniform(0.85, 1.02)
        ended = min(plt * 0.985, max(free[lane], began) + took)
        fresh = i == 0 or (arm == "http") or (free[lane] == plt * 0.12 and arm != "h2")
        blocked = max(0.0, free[lane] - began) if i else 0.4
        free[lane] = ended
        left = max(1.0, ended - began - blocked)
        timings = {
            "blocked": blocked, "dns": 0.2 if i == 0 else -1, "connect": left * 0.2 if fresh else -1,
            "ssl": left * 0.1 if fresh and scheme == "https" else -1, "send": 0.1, "wait": left * 0.25,
            "receive": left * 0.5,
        }  # fmt: skip
        found.append({
            "url": f"{scheme}://dummy.test{name}", "method": "GET", "status": 200,
            "type": "Document" if i == 0 else "Image" if i > 3 else "Stylesheet", "mime": "image/png",
            "protocol": protocol, "connection": lane + 1, "reused": not fresh,
            "priority": "VeryHigh" if i < 4 else "Low", "remote": "10.10.2.2:443", "from_cache": False,
            "started_ms": began, "ended_ms": ended, "timings": timings, "body_bytes": 55_000 if i > 3 else 440,
            "wire_bytes": 55_310 if i > 3 else 760, "request_headers": [["Accept", "*/*"]],
            "response_headers": [["Content-Type", "image/png"]], "error": None, "tls": None, "initiator": "parser",
            "before_load": True, "request_header_bytes": 400, "response_header_bytes": 250, "wire": None,
            "link_preload": False, "early_links": None, "by_early_links": False,
        })  # fmt: skip
    return found


def self_test(settings: Mapping[str, str]) -> dict[str, Any]:
    link = Link.parse(settings)
    rtt = link.rtt.milliseconds
    results = [
        {"name": "rtt", "unit": "ms", "target": rtt, "achieved": rtt + 0.11, "low": rtt - 0.5, "high": rtt + 0.5,
         "verdict": "ok", "note": "median of 40"},
        {"name": "rtt deviation", "unit": "ms", "target": None, "achieved": 0.05, "low": None, "high": None,
         "verdict": "shown", "note": ""},
    ]  # fmt: skip
    if link.down.rate:
        goodput = link.down.rate.mbit * 0.957
        results.append(
            {"name": "rate down", "unit": "Mbit/s", "target": goodput, "achieved": goodput * 0.998,
             "low": goodput * 0.98, "high": goodput * 1.02, "verdict": "ok", "note": "TCP goodput over 2.0 s"}
        )  # fmt: skip
    return {"passed": True, "took_s": 1.8, "failures": [], "results": results}
