"""mod_spdy for long: connections after connections, a hundred streams at once on each, and memory that stays as it was.

Short by default. LANELAB_SOAK_CONNECTIONS=1000 says how many connections, LANELAB_SOAK_VERSION which SPDY;
LANELAB_TEST_SANITIZED=1 takes the sanitizers' build, LANELAB_SOAK_VALGRIND=1 runs httpd under valgrind (some hundred
connections at most: it is slow). With these two nothing is demanded of memory's size: they find what is broken or lost.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from driver.host.find_program import find

from .httpd import Httpd, Module, running

CONNECTIONS = int(os.environ.get("LANELAB_SOAK_CONNECTIONS", "90"))
VERSION = os.environ.get("LANELAB_SOAK_VERSION", "3.1")
VALGRIND = os.environ.get("LANELAB_SOAK_VALGRIND") == "1"
SANITIZED = os.environ.get("LANELAB_TEST_SANITIZED") == "1"
AT_ONCE, STREAMS = 10, 100
GROWTH_KB = 4 * 1024  # of the least in a third of the connections to that of the next; in between it goes up and down
VALGRIND_OPTIONS = (
    "--quiet",
    "--trace-children=yes",
    "--keep-debuginfo=yes",
    "--leak-check=full",
    "--show-leak-kinds=definite",
)


@pytest.fixture
def server(apache: Path, spdy_module: Module) -> Iterator[Httpd]:
    with soaking(apache, spdy_module) as httpd:
        yield httpd


@contextmanager
def soaking(apache: Path, module: Module) -> Iterator[Httpd]:
    wrapper: tuple[str, ...] = ()
    folder = Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - where valgrind's words shall stay after a failure
    words = folder / f"wire-valgrind-{os.getpid()}"
    if VALGRIND:
        program = find("valgrind")
        if program is None:
            pytest.skip("missing: valgrind")
        wrapper = (str(program), *VALGRIND_OPTIONS, f"--log-file={words}.%p")
    # One arena of the C library's memory: several grow and shrink by chance.
    module = replace(module, environment={**module.environment, "MALLOC_ARENA_MAX": "1"})
    with running(apache, module, f"SpdyCleartext {VERSION}", wrapper=wrapper, threads=25) as httpd:
        httpd.put("thing", bytes(range(256)) * 40)
        yield httpd
    logs = list(folder.glob(f"{words.name}.*"))
    assert bool(logs) == VALGRIND
    for log in logs:
        said = log.read_text(errors="replace")
        assert not re.search(r"\bm?spdy_\w+ \(", said), said  # our functions in a stack; httpd has leaks of its own
        log.unlink()


def memory_kb(httpd: Httpd) -> int:
    """Of all processes that serve: what is in memory and theirs alone."""
    total = 0
    for pid in httpd.children():
        status = Path(f"/proc/{pid}/status").read_text()
        found = re.search(r"^RssAnon:\s+(\d+) kB$", status, re.MULTILINE)
        assert found is not None
        total += int(found.group(1))
    return total


def load(spdy_load: Path, httpd: Httpd, connections: int) -> None:
    command = [str(spdy_load), "-protocol", f"spdy/{VERSION}", "-clients", str(connections), "-streams", str(STREAMS)]
    command += ["-requests", str(connections * STREAMS), "-json", "-timeout", "10m"]
    done = subprocess.run(
        [*command, f"http://127.0.0.1:{httpd.port}/thing"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["failed"] == 0


def test_memory_is_flat_over_many_connections(server: Httpd, spdy_load: Path) -> None:
    rounds = max(9, CONNECTIONS // AT_ONCE)
    kb = []
    for _ in range(rounds):
        load(spdy_load, server, AT_ONCE)
        kb.append(memory_kb(server))
    print(f"\nmemory of httpd in kB after each {AT_ONCE} connections of {STREAMS} streams: {kb}")
    assert len(server.access(rounds * AT_ONCE * STREAMS)) == rounds * AT_ONCE * STREAMS
    if not (VALGRIND or SANITIZED):
        third = rounds // 3
        assert min(kb[-third:]) <= min(kb[third : 2 * third]) + GROWTH_KB, kb
