"""The probe's programs on this machine, without a link between them."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.errors import NodeError
from lanelab.driver.link.selftest import traffic
from lanelab.driver.link.selftest.plan import Flights, Pings, Train
from lanelab.driver.link.selftest.session import Session
from tests.kit.here import Here

LOOPBACK = "127.0.0.1"


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(autouse=True)
def own_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of a bed, nor of another test run."""
    monkeypatch.setattr(traffic, "SINKS", 1)
    for name in ("ECHO_PORT", "SINK_PORT", "FILL_PORT", "FLIGHTS_PORT"):
        kind = socket.SOCK_DGRAM if name in ("ECHO_PORT", "SINK_PORT") else socket.SOCK_STREAM
        with socket.socket(socket.AF_INET, kind) as free:
            free.bind((LOOPBACK, 0))
            monkeypatch.setattr(traffic, name, free.getsockname()[1])


@pytest.fixture
def both() -> Iterator[traffic.Probes]:
    with traffic.probes(Here("client"), Here("server")) as probes:
        yield probes


@pytest.fixture
def path(both: traffic.Probes) -> traffic.Path:
    return traffic.Path(both.client, both.server, LOOPBACK)


def test_pings_tell_both_ways_and_the_longest_packet(both: traffic.Probes) -> None:
    found = traffic.PingsUnderWay(both, LOOPBACK, Pings(10, 2000), 1000).result()
    assert (found.sent, len(found.ways_ms)) == (10, 10)
    assert all(there > 0 and back > 0 for there, back in found.ways_ms)
    assert found.mtu == 1001  # loopback takes one byte more too: that would be out


def test_a_train_arrives_whole_and_in_order(path: traffic.Path) -> None:
    seen = traffic.send(path, Train(50, 500.0, 60, catch_up=0), 0.05)
    assert [number for number, _, _ in seen.packets] == list(range(50))
    assert seen.took_s >= 0.0245


def test_the_first_packets_of_a_train_leave_at_a_pace_of_their_own(path: traffic.Path) -> None:
    seen = traffic.send(path, Train(30, 10_000.0, 60, catch_up=0, lead=20, lead_gap_us=500.0), 0.05)
    left = {number: sent / 1e9 for number, sent, _ in seen.packets}
    assert left[29] - left[20] > 0.089
    assert left[19] - left[0] < left[29] - left[20]


def test_a_train_may_follow_before_the_one_before_has_ended(
    path: traffic.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traffic, "SINKS", 4)
    trains = [traffic.TrainUnderWay(path, Train(20, 500.0, 60), 0.2) for _ in range(3)]
    assert [len(each.arrivals().packets) for each in trains] == [20] * 3


def test_flights_tell_when_their_packets_came(path: traffic.Path) -> None:
    flights = traffic.FlightsUnderWay(path, Flights(5, 4, 2000.0, 0.01))
    flights.connected()
    flights.go()
    seen = flights.result()
    assert seen.first.mss > 500
    assert seen.first.reads[0][0] == 0
    assert len(seen.waits_s) == 5
    assert seen.waits_s[0] is not None


def test_a_transfer_tells_its_first_flight_and_its_round_trips(path: traffic.Path) -> None:
    seen = traffic.fill(path, 0.1)
    assert seen.first.mss > 500
    assert seen.first.reads[0][0] == 0
    assert seen.first.reads[-1][1] > 100_000
    assert len(seen.samples) > 3
    assert 0 <= seen.samples[0][0] < seen.samples[-1][0]
    assert all(ms > 0 for _, ms, _ in seen.samples)


def test_a_transfer_whose_last_packet_is_lost_ends(path: traffic.Path) -> None:
    """The sender breaks off with a packet that nobody sends again."""
    sink = path.receiver.begin("fill-sink", traffic.FILL_PORT, 0.2)
    sink.result()
    with socket.create_connection((LOOPBACK, traffic.FILL_PORT)) as connection:
        connection.sendall(bytes(1000))
        assert sink.result()["marks"][-1][1] == 1000


def test_flights_whose_end_is_lost_end(path: traffic.Path) -> None:
    sink = path.receiver.begin("flights-sink", traffic.FLIGHTS_PORT, 1, 0.2)
    sink.result()
    with socket.create_connection((LOOPBACK, traffic.FLIGHTS_PORT)) as connection:
        connection.sendall(bytes(1000))
        ((port, marks),) = sink.result().items()
        assert int(port) == connection.getsockname()[1]
        assert marks[-1][1] == 1000


def test_a_train_ends_where_nothing_more_comes_for_long(path: traffic.Path) -> None:
    """On a slow link the word that there is no more comes less often than the sink lingers."""
    seen = traffic.send(path, Train(3, 300_000.0, 60), 0.05)
    assert [number for number, _, _ in seen.packets] == [0, 1, 2]


def test_a_probe_that_fails_says_so_in_one_line_and_leaves_nothing() -> None:
    client, server = Here("client"), Here("server")
    before = open_files()
    with pytest.raises(NodeError) as caught, traffic.probes(client, server) as both:
        traffic.send(traffic.Path(both.client, both.server, "not an address"), Train(5, 500.0, 60), 0.05)
    assert "on client, the probe 'send not an address" in caught.value.what
    assert "gaierror" in caught.value.what
    assert "Traceback" not in caught.value.what
    with pytest.raises(NodeError, match="gaierror"), traffic.probes(client, server) as both:
        traffic.PingsUnderWay(both, "not an address", Pings(8, 2000)).result()
    assert open_files() == before
    assert all(process.poll() is not None for process in client.started + server.started)


def test_a_node_that_starts_no_probe_says_why() -> None:
    class Without(Here):
        python = (sys.executable, "-c", "import sys; sys.exit('this Python is too old')")

    with pytest.raises(NodeError, match="this Python is too old"), Session(Without("client")) as session:
        session.begin("echo", 1).result()


def test_a_program_that_waits_ends_with_its_session() -> None:
    with Session(Here("client")) as session:
        session.begin("echo", "127.0.0.1", traffic.ECHO_PORT).result()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("", traffic.ECHO_PORT))
