"""`lanelab bench servers`: what Apache's mod_spdy serves, against what its mod_http2 does, by one client in one node.

Client and server share the server node's loopback: no link is in between. Where h2load is installed it loads mod_http2
too, so that one sees how much of a figure is the client's.
"""

from __future__ import annotations

import contextlib
import json
import re
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver.bed.node import Command, Stdio
from driver.bed.substrate import BedSettings
from driver.bench.dummy import dummy_trial
from driver.bench.figures import Figure
from driver.channel.client import Bed
from driver.experiment.arm import Arm
from driver.host.build.gateway import gateway_program
from driver.host.build.mod_spdy import module
from driver.host.find_program import find
from driver.servers.apache import PORTS
from model import paths
from model.errors import BedError
from model.site.site import SiteObject, load_site

Tell = Callable[[str], None]

CLIENTS, STREAMS = 8, 16
ROUNDS, QUICK_ROUNDS = 7, 2
MB = 1_000_000
_H2LOAD_RATE = re.compile(r"finished in [\d.]+m?s, ([\d.]+) req/s")
_H2LOAD_FAILED = re.compile(r"(\d+) failed, (\d+) errored")


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked for: how often, and which of the site's objects."""

    what: str
    object: SiteObject
    requests: int
    unit: str

    def figure(self, requests_per_s: float) -> float:
        return requests_per_s if self.unit == "requests/s" else requests_per_s * self.object.size / MB


@dataclass(frozen=True, slots=True)
class Contender:
    """One server's protocol, and who loads it."""

    name: str
    arm: Arm
    client: str


def measure_servers(*, quick: bool, tell: Tell) -> list[Figure]:
    """Every round loads each of them once, so that whatever the machine does hits all alike."""
    program, spdy = gateway_program("spdy-load"), module()
    loads = _loads(1 if quick else 5)
    rates: dict[tuple[str, str], list[float]] = {}
    with (
        paths.bed_folder() as folder,
        tempfile.TemporaryDirectory(prefix="lanelab-bench-", dir=paths.build_folder()) as scratch,
        Bed(BedSettings(folder=folder)) as bed,
    ):
        rounds = QUICK_ROUNDS if quick else ROUNDS
        for number in range(1, rounds + 1):
            for each in _contenders():
                served = dummy_trial(Path(scratch), each.arm, {"mod_spdy": spdy})
                bed.serve_site(served.to_json())
                for load in loads:
                    rate = _rate(bed, each, load, program, Path(scratch))
                    rates.setdefault((each.name, load.what), []).append(load.figure(rate))
            tell(f"round {number} of {rounds}")
    return [_figure(load, tls, client, rates) for load in loads for tls in ("clear", "TLS") for client in _clients()]


def _loads(times: int) -> list[Load]:
    objects = sorted(load_site("dummy").objects, key=lambda each: each.size)
    return [
        Load("small answers", objects[0], 4000 * times, "requests/s"),
        Load("large answers", objects[-1], 400 * times, "MB/s"),
    ]


def _clients() -> list[str]:
    return ["spdy-load", *(["h2load"] if find("h2load") else [])]


def _contenders() -> list[Contender]:
    contenders = []
    for place, tls in (("clear", "off"), ("TLS", "1.3")):
        common = {"via": "gateway", "tls": tls, "mpm": "event"}
        spdy = Arm.parse("spdy", {**common, "protocol": "spdy/3.1"})
        http2 = Arm.parse("h2", {**common, "protocol": "h2"})
        contenders.append(Contender(f"mod_spdy {place}", spdy, "spdy-load"))
        contenders += [Contender(f"mod_http2 {place} {client}", http2, client) for client in _clients()]
    return contenders


def _rate(bed: Bed, each: Contender, load: Load, program: Path, scratch: Path) -> float:
    """Requests per second."""
    port = PORTS[each.arm.scheme]
    url = f"{each.arm.scheme}://{load.object.host}{load.object.path}"
    argv = [str(program), "-json", "-protocol", each.arm.protocol, "-clients", str(CLIENTS), "-streams", str(STREAMS)]
    argv += ["-requests", str(load.requests), "-connect", f"127.0.0.1:{port}", url]
    if each.client == "h2load":
        argv = [str(find("h2load")), "-n", str(load.requests), "-c", str(CLIENTS), "-m", str(STREAMS), "-t", "1"]
        argv += [f"--connect-to=127.0.0.1:{port}", url]
    out = scratch / "load"
    with out.open("wb") as output:
        process = bed.exec("server", Command(argv), Stdio(None, output.fileno(), output.fileno()))
        status = process.wait()
    text = out.read_text(errors="replace")
    rate = _told_by_h2load(text) if each.client == "h2load" else _told_by_ours(text)
    if status != 0 or rate is None:
        last = "; ".join(text.strip().splitlines()[-3:])
        raise BedError(f"loading {each.name} with {load.what} ended with status {status}: {last}", "Is it installed?")
    return rate


def _told_by_ours(text: str) -> float | None:
    with contextlib.suppress(ValueError):
        result: dict[str, Any] = json.loads(text)
        return float(result["requests_per_second"]) if not result["failed"] else None
    return None


def _told_by_h2load(text: str) -> float | None:
    rate, failed = _H2LOAD_RATE.search(text), _H2LOAD_FAILED.search(text)
    return float(rate[1]) if rate and failed and failed[1] == failed[2] == "0" else None


def _figure(load: Load, place: str, client: str, rates: dict[tuple[str, str], list[float]]) -> Figure:
    spdy, http2 = rates[f"mod_spdy {place}", load.what], rates[f"mod_http2 {place} {client}", load.what]
    ratios = [ours / theirs for ours, theirs in zip(spdy, http2, strict=True)]
    ratio = statistics.median(ratios)
    figure = f"{ratio:.2f} ({statistics.median(spdy):,.0f} and {statistics.median(http2):,.0f} {load.unit})"
    what = f"{load.what} of {load.object.size:,} bytes in {place}: mod_spdy / mod_http2 loaded by {client}"
    return Figure(what, figure, "", None, tuple(ratios))
