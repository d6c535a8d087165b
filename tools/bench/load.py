"""`lanelab bench load`: what the load generator k6 costs and adds, against a server that does next to nothing, on this
machine's loopback; and its transport for HTTP/1.1 against the one that k6 has of its own, in interleaved rounds.

Server and generator have a processor each where there are two.
"""

import contextlib
import os
import re
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import BedError
from lanelab.driver.base.programs.building.load_generator import load_generator
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.record.evidence.load import LoadReport
from lanelab.driver.trial.load_settings import LoadSettings, Stage
from lanelab.driver.trial.server_load.generator import Invocation, Output, Target
from lanelab.driver.trial.server_load.generators.k6 import SETTINGS, K6Generator
from tools.bench.figures import Figure

Tell = Callable[[str], None]

USERS = (1, 100, 1000)
ROUNDS, QUICK_ROUNDS = 7, 3
LASTS_S, QUICK_LASTS_S = 8.0, 4.0
WARM_UP_S = 2.0
COMPARED_USERS = 10
BODY_BYTES = 10_000
WITHIN = 0.95  # our transport's requests per second, of those of k6's own
CONFIGURATION = """\
daemon off;
pid {folder}/pid;
error_log stderr;
worker_processes 1;
worker_rlimit_nofile 20000;
events {{ worker_connections 10000; }}
http {{
  access_log off;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  keepalive_requests 1000000000;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {folder}/www;
    location = /status {{ stub_status; }}
  }}
}}
"""
PLAIN = """\
import http from 'k6/http';

export const options = {{
  vus: {users}, duration: '{seconds}s', discardResponseBodies: true, systemTags: ['scenario'], userAgent: 'lanelab',
  hosts: {{ 'www.bench.test': '127.0.0.1:{port}' }},
}};

const params = {{ headers: {{}}, timeout: '30000ms', redirects: 0 }};
const urls = ['http://www.bench.test/object'];
let next = 0;

export default function () {{
  http.get(urls[next], params);
  next = (next + 1) % urls.length;
}}
"""


@dataclass(frozen=True, slots=True)
class Server:
    """An nginx under load, which counts its requests itself."""

    port: int

    def requests(self) -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status") as answer:
            text = answer.read().decode()
        match = re.search(r"^\s*\d+ \d+ (\d+)\s*$", text, re.MULTILINE)
        if not match:
            raise BedError(f"nginx says nothing of its requests: {text[:200]}")
        return int(match.group(1))


def measure_load(*, quick: bool, tell: Tell) -> list[Figure]:
    program = load_generator()
    lasts = QUICK_LASTS_S if quick else LASTS_S
    with tempfile.TemporaryDirectory(prefix="lanelab-bench-") as name, _server(Path(name)) as server:
        compared = _compared(program, server, Path(name), QUICK_ROUNDS if quick else ROUNDS, lasts)
        tell("k6's own transport and ours were compared")
        costs = [figure for users in USERS for figure in _cost(program, server, Path(name), users, lasts)]
    return [*compared, *costs]


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[Server]:
    nginx = find("nginx")
    if not nginx:
        raise BedError("nginx is missing", "Install it: apt-get install nginx-light")
    (folder / "www").mkdir()
    (folder / "www" / "object").write_bytes(os.urandom(BODY_BYTES))
    folder.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port))
    log = folder / "nginx.log"
    with log.open("wb") as errors:
        argv = [str(nginx), "-e", "stderr", "-c", str(folder / "nginx.conf")]
        process = subprocess.Popen(_placed(argv, 1), stderr=errors, stdin=subprocess.DEVNULL)
    try:
        _await(port, process, log)
        yield Server(port)
    finally:
        process.terminate()
        process.wait()


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise BedError(f"nginx does not listen: {log.read_text(errors='replace')[-300:]}")


def _placed(argv: Sequence[str], place: int) -> list[str]:
    """Place a command on a processor of its own, where there are two."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        return list(argv)
    return ["taskset", "-c", str(processors[place]), *argv]


@dataclass(frozen=True, slots=True)
class Ran:
    requests_per_s: float
    cpu_us: float  # of each request


def _compared(program: Path, server: Server, folder: Path, rounds: int, lasts: float) -> list[Figure]:
    """Compare both transports. Every round runs both, and they change places from round to round."""
    transport = folder / "own"
    transport.mkdir()
    (transport / "main.js").write_text(PLAIN.format(users=COMPARED_USERS, seconds=lasts, port=server.port))
    target = _target(program, server, folder / "ours", COMPARED_USERS, lasts)
    invocation = K6Generator().invocation(target)
    _write(folder / "ours", invocation.files)
    argv = [
        *invocation.argv[:2],
        "--quiet",
        "--address=",
        "--no-usage-report",
        "--summary-mode=disabled",
        "--no-thresholds",
    ]
    sides: Mapping[str, tuple[Path, Invocation]] = {
        "k6's own": (transport, Invocation([*argv, "main.js"], invocation.environment, {})),
        "ours": (folder / "ours", invocation),
    }
    runs_of: dict[str, list[Ran]] = {name: [] for name in sides}
    (transport / SETTINGS).write_bytes(invocation.files[SETTINGS])
    for number in range(rounds):
        for name in sorted(sides, reverse=bool(number % 2)):
            runs_of[name].append(_ran(server, *sides[name], lasts))
    pairs = list(zip(runs_of["ours"], runs_of["k6's own"], strict=True))
    speed = [ours.requests_per_s / theirs.requests_per_s for ours, theirs in pairs]
    cost = [ours.cpu_us / theirs.cpu_us for ours, theirs in pairs]
    what = (
        f"k6 with our transport and figures against k6 alone, {COMPARED_USERS} users without a pause, {rounds} rounds"
    )
    rate = statistics.median(ours.requests_per_s for ours in runs_of["ours"])
    return [
        Figure(f"{what}: requests per second", f"{statistics.median(speed):.3f} ({rate:,.0f} requests/s)",
               f">= {WITHIN}", statistics.median(speed) >= WITHIN, tuple(speed)),
        Figure(f"{what}: processor time of a request", f"{statistics.median(cost):.3f}", "", None, tuple(cost)),
    ]  # fmt: skip


def _ran(server: Server, folder: Path, made: Invocation, lasts: float) -> Ran:
    before = server.requests()
    process = subprocess.Popen(
        _placed(made.argv, 0), cwd=folder, env={**os.environ, **made.environment}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise BedError(f"k6 ended with status {process.returncode}")
    requests = server.requests() - before - 1  # ours asked for the count
    return Ran(requests / lasts, (used.ru_utime + used.ru_stime) * 1e6 / requests)


def _cost(program: Path, server: Server, folder: Path, users: int, lasts: float) -> list[Figure]:
    """Measure what a request costs the generator. Each user sends one a second, so the server is idle."""
    report = _report(_target(program, server, folder / f"cost-{users}", users, lasts, 1.0))
    if report.use is None or report.requests.ms is None:
        raise BedError("k6 says nothing of itself")
    use, ms = report.use, report.requests.ms
    cpu, share = use.cpu_s * 1e6 / report.requests.ended, use.cpu_s / use.seconds
    what = f"{users} users, a request each second"
    return [
        Figure(f"{what}: latency, median (99%)", f"{ms.p50:.2f} ({ms.p99:.2f}) ms", "", None, (ms.p50, ms.p99)),
        Figure(f"{what}: processor time of a request, share of one processor", f"{cpu:.0f} µs, {share:.1%}", "", None,
               (cpu, share)),
        Figure(f"{what}: memory", f"{use.memory_bytes_most / 1e6:.0f} MB", "", None, (use.memory_bytes_most / 1e6,)),
    ]  # fmt: skip


def _report(target: Target) -> LoadReport:
    generator, folder = K6Generator(), Path(target.folder)
    invocation = generator.invocation(target)
    _write(folder, invocation.files)
    environment = {**os.environ, **invocation.environment}
    argv = _placed(invocation.argv, 0)
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    files = {name: (folder / name).read_bytes() for name in generator.results if (folder / name).exists()}
    results = generator.read(target, Output(done.returncode, done.stdout, done.stderr, files))
    if results.report is None or results.report.requests.failed:
        raise BedError(f"k6 did not load the server: {results.problem or results.report}")
    return results.report


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def _target(program: Path, server: Server, folder: Path, users: int, lasts: float, think_s: float = 0.0) -> Target:
    steady = Stage(users, lasts)
    # Who thinks comes one after the other: else all would ask in the same moment of each second.
    stages = (Stage(0.0, 0.0), Stage(users, WARM_UP_S), steady) if think_s else (Stage(users, 0.0), steady)
    settings = LoadSettings(
        generator="k6", script="object", script_text="", users=stages, arrivals=(),
        think_s=think_s, limit_ms=3000, warm_up_s=WARM_UP_S if think_s else 0.0, request_timeout_s=30, parameters=(),
        thresholds=(), connections=1, streams=1, requests=1, lasts_s=0.0, most_bytes=1,
    )  # fmt: skip
    return Target(
        settings=settings, arm=Arm.parse("HTTP", {}), urls=("http://www.bench.test/object",), body_sizes=(BODY_BYTES,),
        address="127.0.0.1", port=server.port, authority="", folder=str(folder), program=str(program), seed=1,
        script=b"",
    )  # fmt: skip
