"""Large objects, of mod_replay and of plain files, over SPDY and HTTP/2 in clear, loaded by one generator: what each
handler costs each protocol, and what the protocols are against each other with each handler."""

import contextlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from lanelab.driver.base.errors import BedError
from lanelab.driver.base.programs.building.gateway import gateway_program
from lanelab.driver.site.site import Site
from lanelab.driver.trial.server_load.generators.spdy_load import NAME as SPDY_LOAD
from lanelab.driver.trial.server_load.generators.spdy_load import Summary
from tools.bench.figures import Figure
from tools.bench.replay_servers import REPLAY, STATIC, Server, both, made_site
from tools.bench.rounds import Round, compared

LARGE_BYTES = 4_000_000
STREAMS, CONNECTIONS = (1, 8, 100), 4
ROUNDS, QUICK_ROUNDS = 7, 2
REQUESTS, QUICK_REQUESTS = 800, 100
SPDY, HTTP2 = "spdy/3.1", "h2"
MODULES = {SPDY: "mod_spdy", HTTP2: "mod_http2"}

Key = tuple[str, str]  # protocol and handler


def measure_large(*, quick: bool) -> list[Figure]:
    """Measure large objects. All four servers run at once, and take turns in each round."""
    program = gateway_program(SPDY_LOAD)
    scratch = Path(tempfile.mkdtemp(prefix="lanelab-replay-"))
    scratch.chmod(0o755)
    try:
        site = made_site(scratch, 1, 1, LARGE_BYTES)
        with contextlib.ExitStack() as stack:
            servers: dict[Key, Server] = {}
            for protocol, module in MODULES.items():
                folder = scratch / module
                folder.mkdir(mode=0o755)
                for server in stack.enter_context(both(folder, site, protocol)):
                    servers[protocol, server.name] = server
            return [
                figure for streams in STREAMS for figure in _of_streams(program, servers, site, streams, quick=quick)
            ]
    finally:
        shutil.rmtree(scratch)


def _of_streams(program: Path, servers: dict[Key, Server], site: Site, streams: int, *, quick: bool) -> list[Figure]:
    rounds: dict[Key, list[Round]] = {key: [] for key in servers}
    for number in range(QUICK_ROUNDS if quick else ROUNDS):
        for key in servers if number % 2 else reversed(servers):
            requests = max(QUICK_REQUESTS if quick else REQUESTS, CONNECTIONS * streams)
            rounds[key].append(_round(program, key[0], servers[key], site, (streams, requests)))
    what = f"one object of {LARGE_BYTES:,} bytes, streams: {streams}"
    figures: list[Figure] = []
    for handler in (REPLAY, STATIC):
        names = (MODULES[SPDY], MODULES[HTTP2])
        figures += compared(f"{what}, {handler}", names, rounds[SPDY, handler], rounds[HTTP2, handler])
    for protocol, module in MODULES.items():
        figures += compared(f"{what}, {module}", (REPLAY, STATIC), rounds[protocol, REPLAY], rounds[protocol, STATIC])
    return figures


def _round(program: Path, protocol: str, server: Server, site: Site, load: tuple[int, int]) -> Round:
    streams, requests = load
    each = site.objects[0]
    argv = [str(program), "-json", "-protocol", protocol, "-clients", str(CONNECTIONS), "-streams", str(streams)]
    argv += ["-requests", str(requests), "-connect", f"127.0.0.1:{server.port}", f"http://{each.host}{each.path}"]
    before = server.processor_s()
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    took = server.processor_s() - before
    if done.returncode:
        raise BedError(f"{server.name} did not answer every request of {SPDY_LOAD}:\n{done.stdout}{done.stderr}")
    summary = Summary.from_json(json.loads(done.stdout))
    return Round(summary.requests_per_second, took / requests * 1e6)
