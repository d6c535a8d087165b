"""Connections of HTTP/3 that a page before has left: with a real Chromium, none is there when a load begins. What is
left all the same is told."""

import time
from collections.abc import Iterator

import pytest

from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.record.evidence.packets import FlowSummary, PacketSummary
from lanelab.driver.record.reasons import FlagName
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.trial.page_load.earlier import earlier_flows
from lanelab.driver.trial.page_load.leftovers import TABLES, open_connections
from tests.kit.bench import Bench, Wanted
from tests.kit.http3_faults import FORCED

from .test_faults import LINK_JUDGED, needs_server

LINK = {"rtt": "40ms", "rate": "10mbit", "queue": "1000p"}
STARTS = {
    "process": Wanted({**FORCED, "start": "fresh-process"}, LINK),
    "context": Wanted({**FORCED, "start": "fresh-context"}, LINK),
    "warm": Wanted({**FORCED, "start": "warm"}, LINK),
    "early": Wanted({**FORCED, "early_data": True}, LINK),
}
# The kernel's table of UDP again and again, each time behind an empty one of TCP: only QUIC's connections count.
LOOK = "for n in $(seq 200); do head -n1 /proc/net/tcp; cat /proc/net/udp; echo; sleep 0.02; done"
# A socket like one of Chromium's for a connection. It sends what a packet of such a connection may be, or nothing.
SOCKET = (
    "import socket, time; line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); line.connect(('10.10.2.2', 443)); "
)
HELD_S = 10


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    needs_server(FORCED)
    folder = tmp_path_factory.mktemp("leftovers")
    with Bed(BedSettings(folder=folder)) as bed:
        yield Bench(bed, folder / "trials")


def wrong(record: TrialRecord) -> list[str]:
    return [f"{each.reason}: {each.detail}" for each in record.failures if str(each.reason) not in LINK_JUDGED]


def left(record: TrialRecord) -> list[str]:
    return [each.detail for each in record.flags if each.name is FlagName.CONNECTIONS_LEFT]


def packets(record: TrialRecord) -> PacketSummary:
    assert record.page_load is not None
    return record.page_load.packets["client"]


def from_before(record: TrialRecord) -> list[FlowSummary]:
    return earlier_flows(packets(record))


def open_now(bench: Bench) -> int:
    return open_connections(bench.run("client", TABLES))


@pytest.mark.parametrize("start", STARTS)
def test_a_page_has_sockets_that_are_gone_before_the_next_load(bench: Bench, start: str) -> None:
    """Each start twice: what the first page leaves would meet the second."""
    before: list[int] = []
    for number in range(2):
        looks = f"/run/looks-{start}-{number}"

        def look(bench: Bench, looks: str = looks) -> None:
            before.append(open_now(bench))
            bench.start("client", f"{LOOK} >{looks}")

        record = bench.trial(STARTS[start], spoil=look)
        assert wrong(record) == []
        assert left(record) == []
        assert from_before(record) == []
        assert packets(record).quic, "a warm browser connects, too, though all may be in its cache"
        tables = [each for each in bench.run("client", f"cat {looks}").split("\n\n") if "drops" in each]
        assert max(map(open_connections, tables)) > 0, "Chromium's own were seen"
    assert before == [0, 0]


def test_a_load_out_of_the_cache_that_ends_before_any_handshake_counts(bench: Bench) -> None:
    """Nothing was asked for, and so nothing fell back."""
    record = bench.trial(Wanted({**FORCED, "start": "warm"}, {**LINK, "rtt": "1s"}))
    assert wrong(record) == []
    assert all(each.from_cache for each in record.requests)
    assert [each.complete for each in packets(record).quic] == [False]


def test_a_good_bye_within_the_load_fails_no_trial(bench: Bench) -> None:
    def say(bench: Bench) -> None:
        bench.run("client", f'python3 -c "{SOCKET} line.send(bytes([64]) * 60)"')

    record = bench.trial(Wanted(FORCED, LINK), spoil=say)
    assert wrong(record) == []
    (flow,) = from_before(record)
    assert (flow.packets_up, flow.bytes_up) == (1, 42 + 60)


def test_what_is_left_is_told(bench: Bench) -> None:
    bench.trial(Wanted(FORCED, LINK))
    bench.start("client", f'exec python3 -c "{SOCKET} time.sleep({HELD_S})"')
    began = time.monotonic()
    while not open_now(bench) and time.monotonic() - began < HELD_S / 2:
        time.sleep(0.02)
    record = bench.trial(Wanted(FORCED, LINK))
    assert wrong(record) == []
    assert left(record) == ["1 connection of the load before had not been closed when this one began"]
