"""The programs that put a server under load: their command lines, and what their output means. Pure.

spdy-load is ours. Where h2load is installed it loads a server of HTTP/2 too: so one sees how much of a figure is the
client's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from driver.experiment.model import ServerLoadSettings
from model.evidence.server_load import LoadReport, SecondReport
from model.site.site import Site, SiteObject

SPDY_LOAD, H2LOAD = "spdy-load", "h2load"
ALL = "/*"  # as a site's entry: every object of that host, in turn
_H2LOAD_RATE = re.compile(r"finished in [\d.]+[mu]?s, ([\d.]+) req/s")
_H2LOAD_FAILED = re.compile(r"(\d+) failed, (\d+) errored")


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked for, and where."""

    urls: tuple[str, ...]  # in turn
    connect: str  # address:port
    protocol: str
    requests: int


def requests(load: ServerLoadSettings, sizes: Sequence[int]) -> int:
    """How many: fewer where so many answers would be more bytes than wanted."""
    return max(1, min(load.requests, load.most * len(sizes) // max(1, sum(sizes))))


def body_bytes(asked: int, sizes: Sequence[int]) -> int:
    """Of so many answers, in turn."""
    rounds, rest = divmod(asked, len(sizes))
    return rounds * sum(sizes) + sum(sizes[:rest])


def spdy_load(program: str, load: ServerLoadSettings, target: Target) -> list[str]:
    words = ["-json", "-protocol", target.protocol, "-clients", str(load.clients), "-streams", str(load.streams)]
    return [program, *words, "-requests", str(target.requests), "-connect", target.connect, *target.urls]


def h2load(program: str, load: ServerLoadSettings, target: Target) -> list[str]:
    clients = min(load.clients, target.requests)  # it refuses more
    counts = ["-n", str(target.requests), "-c", str(clients), "-m", str(load.streams), "-t", "1"]
    return [program, *counts, f"--connect-to={target.connect}", *target.urls]


def read_spdy_load(text: str) -> LoadReport | None:
    """None where the program did not come to its report. Raises RecordError where the report is another one."""
    try:
        report = json.loads(text)
    except ValueError:
        return None
    if isinstance(report, dict):
        report.pop("reconnections", None)  # what these cost are requests that failed, and those are counted
    return LoadReport.from_json(report, "evidence.client")


def read_h2load(text: str) -> SecondReport | None:
    rate, failed = _H2LOAD_RATE.search(text), _H2LOAD_FAILED.search(text)
    return SecondReport(float(rate[1]), int(failed[1]) + int(failed[2])) if rate and failed else None


def objects(site: Site) -> list[SiteObject]:
    """What is asked for: the site's entry, or all that its host has."""
    ours = [
        each for each in site.objects if each.host == site.entry_host and each.method == "GET" and each.status < 400
    ]
    return ours if site.entry_path == ALL else [each for each in ours if each.path == site.entry_path]


def sizes(site: Site) -> list[int]:
    """Bytes of the answers."""
    return [each.size for each in objects(site)]
