"""`lanelab bench replay`: what Apache's mod_replay serves, against the same Apache with plain files.

Both run side by side and have their turns in each round, so that whatever the machine does hits both alike.
"""

import re
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import BedError
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.site.site import Site, SiteObject
from tools.bench.figures import Figure
from tools.bench.replay_large import measure_large
from tools.bench.replay_servers import REPLAY, STATIC, Server, both, made_site
from tools.bench.rounds import Round, compared

Tell = Callable[[str], None]

SIZES = ((20, 4), (3_000, 300))  # objects, hosts
ROUNDS, QUICK_ROUNDS = 7, 2
ROUND_S, QUICK_ROUND_S = 3, 1
FIRST_BYTES, QUICK_FIRST_BYTES = 3_000, 300
CONNECTIONS, STREAMS = 16, 10
MOST_LATER_MS = 0.1
HOST_OF_H2 = "h0.test"  # h2load names one host in all requests
# Requests in random order, made before the load begins.
WRK_SCRIPT = """
local requests = {}
init = function()
%s
end
request = function() return requests[math.random(#requests)] end
"""


@dataclass(frozen=True, slots=True)
class Load:
    protocol: str
    program: str
    rate: Callable[[Server, Site, Path, int], float]  # requests per second


def measure_replay(*, quick: bool, tell: Tell) -> list[Figure]:
    """Measure how many requests per second each server answers, and how much later the first byte comes."""
    figures: list[Figure] = []
    for load in LOADS:
        if find(load.program) is None:
            tell(f"{load.program} is not installed: requests over {load.protocol} are not counted")
            continue
        figures += [figure for size in SIZES for figure in _rates(load, *size, quick=quick)]
    figures += measure_large(quick=quick)
    return figures + [_first_byte(*size, quick=quick) for size in SIZES]


def _rates(load: Load, objects: int, hosts: int, *, quick: bool) -> list[Figure]:
    seconds = QUICK_ROUND_S if quick else ROUND_S
    scratch = Path(tempfile.mkdtemp(prefix="lanelab-replay-"))
    scratch.chmod(0o755)
    try:
        site = made_site(scratch, objects, hosts)
        with both(scratch, site, load.protocol) as servers:
            rounds: dict[str, list[Round]] = {server.name: [] for server in servers}
            for number in range(QUICK_ROUNDS if quick else ROUNDS):
                for server in servers if number % 2 else reversed(servers):
                    rounds[server.name].append(_round(load, server, site, scratch, seconds))
    finally:
        shutil.rmtree(scratch)
    ours, files = (rounds[server.name] for server in servers)
    what = f"{load.protocol}, {objects:,} objects on {hosts} hosts, by {load.program}"
    return compared(what, (REPLAY, STATIC), ours, files)


def _round(load: Load, server: Server, site: Site, scratch: Path, seconds: int) -> Round:
    before = server.processor_s()
    rate = load.rate(server, site, scratch, seconds)
    return Round(rate, (server.processor_s() - before) / (rate * seconds) * 1e6)


def _wrk(server: Server, site: Site, scratch: Path, seconds: int) -> float:
    argv_of_wrk = (
        f'requests[#requests + 1] = wrk.format("GET", "{each.path}", {{Host = "{each.host}"}})' for each in site.objects
    )
    script = scratch / "requests.lua"
    script.write_text(WRK_SCRIPT % "\n".join(argv_of_wrk))
    argv = ["-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), f"http://127.0.0.1:{server.port}/"]
    output = _said("wrk", argv)
    if "Non-2xx" in output or "Socket errors" in output:
        raise BedError(f"{server.name} did not answer every request:\n{output}")
    return _number(r"Requests/sec:\s+([\d.]+)", output)


def _h2load(server: Server, site: Site, scratch: Path, seconds: int) -> float:
    urls = scratch / "urls"
    paths = [each.path for each in site.objects if each.host == HOST_OF_H2]
    urls.write_text("".join(f"http://127.0.0.1:{server.port}{path}\n" for path in paths))
    argv = ["-t1", f"-c{CONNECTIONS}", f"-m{STREAMS}", f"-D{seconds}", "-i", str(urls)]
    output = _said("h2load", [*argv, "-H", f":authority: {HOST_OF_H2}"])
    if not re.search(r"\b0 4xx, 0 5xx", output):
        raise BedError(f"{server.name} did not answer every request:\n{output}")
    return _number(r"finished in [^,]+, ([\d.]+) req/s", output)


LOADS = (Load("http/1.1", "wrk", _wrk), Load("h2", "h2load", _h2load))


def _said(program: str, argv: Sequence[str]) -> str:
    path = find(program)
    done = subprocess.run([str(path), *argv], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise BedError(f"{program} ended with status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def _number(pattern: str, said: str) -> float:
    match = re.search(pattern, said)
    if not match:
        raise BedError(f"a client that loads a server said what lanelab does not know:\n{said}")
    return float(match[1])


# ---- the first byte ----


def _first_byte(objects: int, hosts: int, *, quick: bool) -> Figure:
    """Measure the first byte. Each server has one connection, and they take turns, one request at a time."""
    scratch = Path(tempfile.mkdtemp(prefix="lanelab-replay-"))
    scratch.chmod(0o755)
    try:
        site = made_site(scratch, objects, hosts)
        with both(scratch, site, "http/1.1") as servers:
            times = _times(servers, site, QUICK_FIRST_BYTES if quick else FIRST_BYTES)
    finally:
        shutil.rmtree(scratch)
    ours, files = (statistics.median(times[server.name]) for server in servers)
    figure = f"{ours - files:+.3f} ms ({ours:.3f} and {files:.3f} ms)"
    what = f"first byte, {objects:,} objects on {hosts} hosts: mod_replay later than files"
    differences = tuple(one - other for one, other in zip(*times.values(), strict=True))
    return Figure(what, figure, f"<= {MOST_LATER_MS} ms", ours - files <= MOST_LATER_MS, differences)


def _times(servers: Sequence[Server], site: Site, count: int) -> dict[str, list[float]]:
    """Return times in milliseconds, by the server's name."""
    lines = {server.name: socket.create_connection(("127.0.0.1", server.port), 10) for server in servers}
    times: dict[str, list[float]] = {name: [] for name in lines}
    for number in range(count):
        each = site.objects[number * 7 % len(site.objects)]
        for name in lines if number % 2 else reversed(lines):
            times[name].append(_ask(lines[name], each))
    for line in lines.values():
        line.close()
    return times


def _ask(line: socket.socket, each: SiteObject) -> float:
    """Read a whole answer. Returns the milliseconds from the request to the first byte."""
    request = f"GET {each.path} HTTP/1.1\r\nHost: {each.host}\r\n\r\n".encode()
    began = time.perf_counter()
    line.sendall(request)
    data = line.recv(65536)
    took = time.perf_counter() - began
    while data.partition(b"\r\n\r\n")[1] == b"" or len(data.partition(b"\r\n\r\n")[2]) < each.size:
        more = line.recv(65536)
        if not more:
            raise BedError("a server ended the connection while its first bytes were timed")
        data += more
    if not data.startswith(b"HTTP/1.1 200"):
        raise BedError(f"a server answered {data[:20]!r} while its first bytes were timed")
    return took * 1000
