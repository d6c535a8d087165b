"""mod_spdy for long: connections after connections, a hundred streams on each, resets and slow clients among them.

Short by default. LANELAB_SOAK_CONNECTIONS=10000 says how many connections, 100 requests each, and LANELAB_SOAK_VERSION
which SPDY; LANELAB_TEST_SANITIZED=1 takes the sanitizers' build, LANELAB_SOAK_VALGRIND=1 runs httpd under valgrind
(some hundred connections at most: it is slow). With these two nothing is demanded of memory's size: they find what is
broken or lost.
"""

import json
import os
import re
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lanelab.driver.base.programs.building import apache_module
from lanelab.driver.base.programs.find_program import find

from .httpd import Httpd, Module, running, threads_of
from .spdy_client import INITIAL_WINDOW, SpdyClient, connect

CONNECTIONS = int(os.environ.get("LANELAB_SOAK_CONNECTIONS", "75"))
VERSION = os.environ.get("LANELAB_SOAK_VERSION", "3.1")
VALGRIND = os.environ.get("LANELAB_SOAK_VALGRIND") == "1"
SANITIZED = os.environ.get("LANELAB_TEST_SANITIZED") == "1"
STREAMS = 100
QUICK, DIFFICULT = 20, 5  # clients of a round of the soak
LONG_ROUNDS = 100  # from which on its memory is looked at: by then it has all that chance may ask for at once
THREADS = 40  # more than there are clients: httpd complains when all are busy
SMALL_WINDOW, RECEIVE_BUFFER, PAUSE_S = 2000, 8192, 0.05
THING = bytes(range(256)) * 40
# Rounds of the memory test. What is measured is lighter than what is before it: only a leak can add to that.
WARM_UP, WARM_UP_CLIENTS, MEASURED, MEASURED_CLIENTS = 8, 20, 10, 5
GROWTH_KB = {"live_kb": 64, "resident_kb": 1024}  # of the least: 13 live bytes for each request would be as much
# The C library has one arena, so figures are of all that it gave; and threads keep nothing for later, which would count
# as live and grows for a million requests.
MEMORY = {"MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
DIRECTIVES = f"""
SpdyEnabled on
SpdyCleartext {VERSION}
SpdyMinThreadsPerProcess 8
SpdyMaxThreadsPerProcess 8
MaxMemFree 1
<Location "/live-bytes">
    SetHandler live-bytes
</Location>
"""
VALGRIND_OPTIONS = (
    "--quiet",
    "--trace-children=yes",
    "--keep-debuginfo=yes",
    "--leak-check=full",
    "--show-leak-kinds=definite",
)


@pytest.fixture
def server(apache: Path, spdy_module: Module, tmp_path: Path) -> Iterator[Httpd]:
    with soaking(apache, spdy_module, live_bytes_module(tmp_path)) as httpd:
        yield httpd


def live_bytes_module(folder: Path) -> Path:
    made = folder / "mod_live_bytes.so"
    command = ["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *_apxs("CFLAGS"), *_apxs("EXTRA_CPPFLAGS")]
    command += ["-isystem", *_apxs("INCLUDEDIR"), "-isystem", *_apxs("APR_INCLUDEDIR")]
    subprocess.run([*command, "-o", made, Path(__file__).with_name("mod_live_bytes.c")], check=True)
    return made


def _apxs(name: str) -> list[str]:
    asked = [str(apache_module.apxs_program()), "-q", name]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()


@contextmanager
def soaking(apache: Path, module: Module, live_bytes: Path) -> Iterator[Httpd]:
    wrapper: tuple[str, ...] = ()
    folder = Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - where valgrind's words shall stay after a failure
    words = folder / f"wire-valgrind-{os.getpid()}"
    if VALGRIND:
        program = find("valgrind")
        if program is None:
            pytest.skip("missing: valgrind")
        wrapper = (str(program), *VALGRIND_OPTIONS, f"--log-file={words}.%p")
    module = replace(module, environment={**module.environment, **MEMORY})
    loaded = f"LoadModule live_bytes_module {live_bytes}\n"
    with running(apache, module, loaded + DIRECTIVES, wrapper=wrapper, threads=THREADS) as httpd:
        httpd.put("thing", THING)
        yield httpd
    logs = list(folder.glob(f"{words.name}.*"))
    assert bool(logs) == VALGRIND
    for log in logs:
        said = log.read_text(errors="replace")
        assert not re.search(r"\bm?spdy_\w+ \(", said), said  # our functions in a stack; httpd has leaks of its own
        log.unlink()


@dataclass(frozen=True, slots=True)
class State:
    """What httpd has while nobody is connected."""

    child: int
    threads: int
    descriptors: int
    live_kb: int  # from the C library
    resident_kb: int  # this, what pools have, and stacks


def idle_state(httpd: Httpd) -> State:
    httpd.wait(lambda: not httpd.connections())
    with urllib.request.urlopen(f"http://127.0.0.1:{httpd.port}/live-bytes", timeout=60) as response:
        live_kb = int(response.read()) // 1024
    httpd.wait(lambda: not httpd.connections())
    (child,) = httpd.children()
    here = Path(f"/proc/{child}")
    resident = re.search(r"^RssAnon:\s+(\d+) kB$", (here / "status").read_text(), re.MULTILINE)
    assert resident is not None
    return State(child, threads_of(child), len(list((here / "fd").iterdir())), live_kb, int(resident[1]))


def assert_flat(before: Sequence[State], after: Sequence[State]) -> None:
    if VALGRIND or SANITIZED:
        return
    for figure, growth_kb in GROWTH_KB.items():
        least = [min(getattr(state, figure) for state in part) for part in (before, after)]
        assert least[1] <= least[0] + growth_kb, (figure, [getattr(state, figure) for state in (*before, *after)])


def load(spdy_load: Path, httpd: Httpd, clients: int, *, tls: bool = False) -> None:
    """A hundred requests of each client; every body has its length."""
    url = f"https://127.0.0.1:{httpd.tls_port}/thing" if tls else f"http://127.0.0.1:{httpd.port}/thing"
    requests = clients * STREAMS
    command = [str(spdy_load), "-protocol", f"spdy/{VERSION}", "-clients", str(clients), "-streams", str(STREAMS)]
    command += ["-requests", str(requests), "-json", "-timeout", "10m", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert (said["succeeded"], said["failed"], said["body_bytes"]) == (requests, 0, requests * len(THING)), said


def be_difficult(httpd: Httpd, *, tls: bool) -> int:
    """A client with a small window and a small buffer, which does not read for a while. A quarter of its streams it
    resets at once, a quarter when data have come, and the others must be whole. How many these were."""
    port = httpd.tls_port if tls else httpd.port
    client = connect(port, VERSION, tls=tls, receive_buffer_bytes=RECEIVE_BUFFER)
    client.set({INITIAL_WINDOW: SMALL_WINDOW})
    streams = [client.request("/thing") for _ in range(STREAMS)]
    for stream in streams[::4]:
        client.reset(stream)
    time.sleep(PAUSE_S)  # the client that does not read
    for stream in streams[1::4]:
        _reset_under_way(client, stream)
    whole = [*streams[2::4], *streams[3::4]]
    for stream in whole:
        response = client.response(stream)
        assert (response.reset, response.status[:3], response.body == THING) == (None, "200", True), response.headers
    client.close()
    return len(whole)


def _reset_under_way(client: SpdyClient, stream: int) -> None:
    response = client.responses[stream]
    client.until(lambda: bool(response.body))
    client.reset(stream)


def test_memory_is_flat_over_many_connections(server: Httpd, spdy_load: Path) -> None:
    for _ in range(WARM_UP):
        load(spdy_load, server, WARM_UP_CLIENTS)
    states = []
    for _ in range(2 * MEASURED):
        load(spdy_load, server, MEASURED_CLIENTS)
        states.append(idle_state(server))
    assert_flat(states[:MEASURED], states[MEASURED:])


@pytest.mark.timeout(0)
def test_resets_and_slow_readers_leave_nothing_behind(server: Httpd, spdy_load: Path) -> None:
    rounds = max(2, CONNECTIONS // (QUICK + DIFFICULT))
    states: list[State] = []
    logged: Counter[int] = Counter()
    whole = 0
    with ThreadPoolExecutor(DIFFICULT) as clients:
        for number in range(rounds):
            tls = number % 2 == 1
            difficult = [clients.submit(be_difficult, server, tls=tls) for _ in range(DIFFICULT)]
            load(spdy_load, server, QUICK, tls=tls)
            whole += QUICK * STREAMS + sum(each.result() for each in difficult)
            states.append(idle_state(server))
            logged += Counter(line["status"] for line in server.access() if line["spdy"] != "-")
            os.truncate(server.folder / "access.log", 0)  # httpd appends
            if (number + 1) % LONG_ROUNDS == 0:
                print(f"\n{number + 1} of {rounds} rounds: {states[-1]}", flush=True)
    first, last = states[1], states[-1]  # in the second round all threads are there
    print(
        f"\n{rounds} rounds, {rounds * (QUICK + DIFFICULT) * STREAMS} requests, {whole} answers whole; logged: {logged}"
    )
    print(f"{first}\n{last}\nlive, kB: {[each.live_kb for each in states]}")
    assert set(logged) == {200}
    assert logged[200] >= whole
    assert (last.child, last.threads) == (first.child, first.threads)
    # The system forgets a connection that both ends have ended, while httpd may be about to close its descriptor.
    server.wait(lambda: idle_state(server).descriptors <= first.descriptors)
    if rounds >= LONG_ROUNDS:
        tenth, middle = rounds // 10, rounds * 11 // 20
        assert_flat(states[tenth:middle], states[middle:])
