"""Checks of the recorder `server_series` with real servers in a bed; test_server_series.py runs them."""

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any

from lanelab.driver.arm.servers.life import RunningServer
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.record.evidence.server_series import ServerSeriesEvidence
from lanelab.driver.trial.recorders.recorder import Context, Recording, Role
from lanelab.driver.trial.recorders.server_series import ServerSeries, ServerSeriesOptions
from tests.bed.serving import HERE, served, site
from tests.kit.inside import Check, InsideBed, main
from tests.kit.wait import wait_until

HELD = 7
WORKERS = 20
SEEN_WITHIN_S = 30
REQUEST = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"


@contextlib.contextmanager
def recording(bed: InsideBed, server: RunningServer) -> Iterator[ServerSeries]:
    recorder = ServerSeries(ServerSeriesOptions())
    nodes = {name: bed.substrate.node(name) for name in NODE_NAMES}
    roles = {"server": Role(server.folder, (80,))}
    try:
        recorder.start(Context(nodes, bed.substrate.machines(), bed.memory, bed.memory, roles=roles))
        recorder.load_begins()
        yield recorder
    finally:
        recorder.close()


@contextlib.contextmanager
def held(bed: InsideBed, count: int, says: bytes, answered: bool) -> Iterator[list[socket.socket]]:
    """Connections that have said something, and stay."""
    with contextlib.ExitStack() as stack:
        connections = []
        for _ in range(count):
            connection = stack.enter_context(bed.server.connect("127.0.0.1", 80, 10))
            connection.settimeout(scaled(SEEN_WITHIN_S))
            connection.sendall(says)
            if answered:
                answer = b""
                while b"<p>page</p>" * 500 not in answer:
                    answer += connection.recv(65536)
            connections.append(connection)
        yield connections


def until(recorder: ServerSeries, seen: Callable[[bytes], bool]) -> None:
    """A sample shows it."""
    wait_until(
        lambda: any(seen(line) for line in sampled(recorder)), scaled(SEEN_WITHIN_S), lambda: sampled(recorder)[-1:]
    )


def sampled(recorder: ServerSeries) -> list[bytes]:
    sampler = recorder._sampler
    return list(sampler.lines[2:]) if sampler else []


def ended(recorder: ServerSeries) -> Recording:
    recorder.load_ended()
    return recorder.stop()


def last(found: Recording, name: str) -> float:
    return found.series[name].points[-1][1]


def settings(mpm: str) -> dict[str, Any]:
    threads = {} if mpm == "prefork" else {"threads_per_child": 10}
    started = WORKERS if mpm == "prefork" else 2
    wide = {"mpm": mpm, "max_workers": WORKERS, "start_servers": started, **threads}
    return {"server": "apache", "keepalive": True, "keepalive_timeout": "60s", **wide}


def busy_of(mpm: str, says: bytes, state: str, answered: bool) -> Callable[[InsideBed], None]:
    def check(bed: InsideBed) -> None:
        site(bed)
        with (
            served(bed, **settings(mpm)) as server,
            recording(bed, server) as recorder,
            held(bed, HELD, says, answered),
        ):
            until(recorder, lambda line: f'"busy":{HELD},'.encode() in line)
            until(recorder, lambda line: f'"established":{HELD},'.encode() in line)
            found = ended(recorder)
        assert not found.failures, found.failures
        assert isinstance(found.evidence, ServerSeriesEvidence)
        assert found.evidence.most_workers == WORKERS
        assert last(found, "workers_busy") == HELD
        assert last(found, f"workers_{state}") == HELD
        # Of idle processes prefork keeps ten.
        assert 10 <= last(found, "workers_idle") <= WORKERS - HELD
        assert mpm == "prefork" or last(found, "workers_idle") == WORKERS - HELD
        assert last(found, "connections") == HELD
        assert last(found, "connections_waiting") == 0
        # The question whether the server is ready may not be over when the first sample is taken.
        assert HELD <= found.measures["workers_busy_most"] <= HELD + 1
        assert found.evidence.memory_before_bytes["server"] > 1e6
        assert "server_memory_used" in found.measures
        assert last(found, "server_threads") > HELD
        assert last(found, "server_memory_bytes") > 1e6
        assert last(found, "server_files") > HELD

    check.__name__ = f"{mpm}: exactly those that are held are {state}"
    return check


def when_all_are_busy_the_others_wait(bed: InsideBed) -> None:
    site(bed)
    with served(bed, **settings("worker")) as server, recording(bed, server) as recorder:
        until(recorder, lambda line: b'"busy":0,' in line)
        with held(bed, WORKERS, REQUEST, answered=True), held(bed, 5, REQUEST, answered=False):
            until(recorder, lambda line: f'"busy":{WORKERS},'.encode() in line)
            until(recorder, lambda line: f'"established":{WORKERS + 5},'.encode() in line)
            found = ended(recorder)
    assert not found.failures, found.failures
    assert found.measures["workers_busy_most"] == WORKERS
    assert last(found, "connections") == WORKERS + 5


def a_server_that_dies_leaves_its_series_until_then(bed: InsideBed) -> None:
    site(bed)
    with (
        served(bed, **settings("worker")) as server,
        recording(bed, server) as recorder,
        held(bed, HELD, REQUEST, answered=True),
    ):
        until(recorder, lambda line: f'"busy":{HELD},'.encode() in line)
        server._process.signal(signal.SIGKILL)
        until(recorder, lambda line: b'"processes":0,' in line)
        found = ended(recorder)
    assert not found.failures, found.failures
    assert last(found, "workers_busy") == HELD
    assert last(found, "server_processes") == 0
    assert found.series["server_processes"].points[-1][0] > found.series["workers_busy"].points[-1][0]


def a_sampler_that_dies_fails_the_trial_and_leaves_its_series(bed: InsideBed) -> None:
    site(bed)
    with served(bed, **settings("event")) as server, recording(bed, server) as recorder:
        until(recorder, lambda line: b'"busy":0,' in line)
        sampler = recorder._sampler
        assert sampler
        sampler._process.signal(signal.SIGKILL)
        sampler._process.wait(10)
        found = ended(recorder)
    assert "ended before the load" in found.failures[0].detail
    assert last(found, "workers_busy") == 0


def nginx_has_connections_and_no_workers(bed: InsideBed) -> None:
    site(bed)
    with (
        served(bed, server="nginx") as server,
        recording(bed, server) as recorder,
        held(bed, HELD, REQUEST, answered=True),
    ):
        until(recorder, lambda line: f'"established":{HELD},'.encode() in line)
        found = ended(recorder)
    assert not found.failures, found.failures
    assert last(found, "connections") == HELD
    assert not [name for name in found.series if name.startswith("workers")]
    assert isinstance(found.evidence, ServerSeriesEvidence)
    assert found.evidence.most_workers is None
    assert last(found, "server_processes") >= 2


CHECKS: dict[str, list[Check]] = {
    "apache": [
        busy_of("worker", REQUEST, "keepalive", answered=True),
        busy_of("prefork", REQUEST, "keepalive", answered=True),
        busy_of("event", REQUEST[:-2], "reading", answered=False),
        when_all_are_busy_the_others_wait,
        a_server_that_dies_leaves_its_series_until_then,
        a_sampler_that_dies_fails_the_trial_and_leaves_its_series,
    ],
    "nginx": [nginx_has_connections_and_no_workers],
}

if __name__ == "__main__":
    main(*(check for name in HERE if name in CHECKS for check in CHECKS[name]))
