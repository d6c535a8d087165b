"""Loads by k6 for tests: settings, targets, and what the generator writes."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.trial.load_settings import LoadSettings, Stage
from lanelab.driver.trial.server_load.generator import Target


def k6_settings(**changes: Any) -> LoadSettings:
    """As JSON has them; stages are pairs."""
    usual: dict[str, Any] = {
        "generator": "k6", "script": "page", "script_text": "", "users": [[2, 0], [2, 10]], "arrivals": [],
        "think_s": 0.0,
        "limit_ms": 3000.0, "warm_up_s": 0.0, "request_timeout_s": 60.0, "parameters": [], "thresholds": [],
        "connections": 1, "streams": 1, "requests": 1000, "lasts_s": 0.0, "most_bytes": 1_000_000,
    }  # fmt: skip
    values = {**usual, **changes}
    for name in ("users", "arrivals"):
        values[name] = tuple(Stage(float(target), float(over)) for target, over in values[name])
    for name in ("parameters", "thresholds"):
        values[name] = tuple(tuple(pair) for pair in values[name])
    return LoadSettings(**values)


def k6_target(settings: LoadSettings, arm: Arm, script: bytes = b"") -> Target:
    urls = tuple(f"{arm.scheme}://www.site.test/{name}" for name in ("index.html", "a.png", "b.png"))
    return Target(
        settings=settings,
        arm=arm,
        urls=urls,
        body_sizes=(1000, 2000, None),
        address="10.10.2.2",
        port=443 if arm.tls != "off" else 80,
        authority="/run/bed/authority.pem" if arm.tls != "off" else "",
        folder="/run/bed/generator",
        program="/run/bed/lanelab-k6",
        seed=7,
        script=script,
    )


BEGIN: dict[str, Any] = {"kind": "begin", "generator": "k6 1.8.1", "monotonic_s": 100.25}
TALLY: dict[str, Any] = {
    "begun": 2, "ended": 1, "failed": 1, "timed_out": 0, "unfinished": 0, "unfinished_longest_ms": 0.0,
    "ms": {"count": 1, "min": 1.0, "mean": 1.0, "p50": 1.0, "p90": 1.0, "p95": 1.0, "p99": 1.0, "p99_9": 1.0,
           "max": 1.0, "histogram": [[1.0, 1]]},
    "ended_after_warm_up": 1,
}  # fmt: skip
REPORT: dict[str, Any] = {
    "generator": "k6 1.8.1", "protocol": "http/1.1", "tls": "off", "seconds": 10.0, "requests": TALLY, "pages": TALLY,
    "parts_ms": {"wait": {**TALLY["ms"], "histogram": []}},
    "errors": {"refused": {"count": 1, "p50_ms": 1.0, "max_ms": 1.0}}, "statuses": {"200": 1}, "body_bytes": 5,
    "connections": 1, "dropped": 0,
    "use": {
        "cpu_s": 0.1, "seconds": 10.0, "processors": 2, "lag_50_ms": 0.1, "lag_99_ms": 0.2, "lag_max_ms": 0.3,
        "files_most": 9, "files_allowed": 1024, "ports_allowed": 28232, "memory_bytes_most": 50_000_000,
    },
    "stopped": "", "crossed": "", "script": [], "script_left_out": False,
}  # fmt: skip


def second(ms: float, **values: float) -> dict[str, Any]:
    return {"kind": "second", "ms": ms, "values": values, "script": {}}


def written(*lines: Mapping[str, Any]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def whole(
    report: Mapping[str, Any] = REPORT,
    seconds: Sequence[Mapping[str, Any]] = (),
    datagrams: Mapping[str, Any] | None = None,
) -> bytes:
    report_line = {"kind": "report", "report": report, "datagrams": datagrams}
    return written(BEGIN, *(seconds or [second(1000, users=2, pages_per_s=1)]), report_line)


PAGES_OF_K6 = LoadSettings(
    generator="k6", script="page", script_text="", users=(Stage(1, 0), Stage(10, 10)), arrivals=(), think_s=1,
    limit_ms=3000, warm_up_s=0, request_timeout_s=60, parameters=(), thresholds=(), connections=1, streams=1,
    requests=0, lasts_s=0, most_bytes=0,
)  # fmt: skip
