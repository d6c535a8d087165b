"""The probe's programs on this machine, without a link between them."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.node import Command, LocalProcess, Node, Process, Stdio, Terminal
from lanelab.driver.link.selftest import traffic
from lanelab.driver.link.selftest.plan import Pings, Train

LOOPBACK = "127.0.0.1"


class Here(Node):
    """This machine as a node."""

    python = (sys.executable, "-I", "-S")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.started: list[subprocess.Popen[bytes]] = []

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        assert stdio
        assert terminal is None
        popen = subprocess.Popen(
            command.argv, stdin=stdio.stdin, stdout=stdio.stdout, stderr=stdio.stderr, start_new_session=True
        )
        self.started.append(popen)
        return LocalProcess(popen)

    def put(self, source: Path, target: str, mode: int = 0o644) -> None:
        raise NotImplementedError

    def get(self, source: str, target: Path) -> None:
        raise NotImplementedError

    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(autouse=True)
def own_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of a bed, nor of another test run."""
    for name in ("ECHO_PORT", "SINK_PORT", "FILL_PORT"):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM if name == "FILL_PORT" else socket.SOCK_DGRAM) as free:
            free.bind((LOOPBACK, 0))
            monkeypatch.setattr(traffic, name, free.getsockname()[1])


def test_pings_tell_both_ways_and_the_longest_packet() -> None:
    found = traffic.ping_ways(Here("client"), Here("server"), LOOPBACK, Pings(10, 2000), 1000)
    assert (found.sent, len(found.ways_ms)) == (10, 10)
    assert all(there > 0 and back > 0 for there, back in found.ways_ms)
    assert found.mtu == 1001  # loopback takes one byte more too: that would be out


def test_a_train_arrives_whole_and_in_order() -> None:
    seen = traffic.send(Here("client"), Here("server"), LOOPBACK, Train(50, 500.0, 60, catch_up=0), 0.05)
    assert [number for number, _, _ in seen.packets] == list(range(50))
    assert seen.took_s >= 0.0245


def test_a_transfer_tells_its_first_flight_and_its_round_trips() -> None:
    seen = traffic.fill(Here("client"), Here("server"), LOOPBACK, 0.1)
    assert seen.mss > 500
    assert seen.reads[0][0] == 0
    assert seen.reads[-1][1] > 100_000
    assert len(seen.samples) > 3
    assert 0 <= seen.samples[0][0] < seen.samples[-1][0]
    assert all(ms > 0 for _, ms, _ in seen.samples)


def test_a_transfer_whose_last_packet_is_lost_ends() -> None:
    """The sender breaks off with a packet that nobody sends again."""
    with traffic.Probe(Here("server"), "fill-sink", traffic.FILL_PORT, 0.2) as sink:
        sink.ready()
        with socket.create_connection((LOOPBACK, traffic.FILL_PORT)) as connection:
            connection.sendall(bytes(1000))
            assert sink.result()["marks"][-1][1] == 1000


def test_a_train_ends_where_nothing_more_comes_for_long() -> None:
    """On a slow link the word that there is no more comes less often than the sink lingers."""
    seen = traffic.send(Here("client"), Here("server"), LOOPBACK, Train(3, 300_000.0, 60), 0.05)
    assert [number for number, _, _ in seen.packets] == [0, 1, 2]


def test_a_probe_that_fails_says_so_in_one_line_and_leaves_nothing() -> None:
    client, server = Here("client"), Here("server")
    before = open_files()
    with pytest.raises(NodeError) as caught:
        traffic.send(client, server, "not an address", Train(5, 500.0, 60), 0.05)
    assert "gaierror" in caught.value.what
    assert "Traceback" not in caught.value.what
    with pytest.raises(NodeError):
        traffic.ping(client, server, "not an address", Pings(8, 2000))
    assert open_files() == before
    assert all(process.poll() is not None for process in client.started + server.started)
