"""The programs that put a server under load: their command lines, and what their output means. Pure.

spdy-load is ours. Where h2load is installed it loads a server of HTTP/2 too: so one sees how much of a figure is the
client's.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from driver.experiment.model import LoadSettings
from model.evidence.server_load import LoadReport, SecondReport
from model.site.site import Site

SPDY_LOAD, H2LOAD = "spdy-load", "h2load"
_H2LOAD_RATE = re.compile(r"finished in [\d.]+[mu]?s, ([\d.]+) req/s")
_H2LOAD_FAILED = re.compile(r"(\d+) failed, (\d+) errored")


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked for, and where."""

    url: str
    connect: str  # address:port
    protocol: str
    size: int  # bytes of the answer


def requests(load: LoadSettings, size: int) -> int:
    """How many: fewer where so many answers would be more bytes than wanted."""
    return max(1, min(load.requests, load.most // max(1, size)))


def spdy_load(program: str, load: LoadSettings, target: Target) -> list[str]:
    words = ["-json", "-protocol", target.protocol, "-clients", str(load.clients), "-streams", str(load.streams)]
    return [program, *words, "-requests", str(requests(load, target.size)), "-connect", target.connect, target.url]


def h2load(program: str, load: LoadSettings, target: Target) -> list[str]:
    counts = ["-n", str(requests(load, target.size)), "-c", str(load.clients), "-m", str(load.streams), "-t", "1"]
    return [program, *counts, f"--connect-to={target.connect}", target.url]


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


def entry_size(site: Site) -> int:
    """Bytes of what the site's entry answers with."""
    return next(each.size for each in site.objects if (each.host, each.path) == (site.entry_host, site.entry_path))
