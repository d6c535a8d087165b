"""Links without a router: no packet passes it, and the link before or after is what it always is."""

import json
import secrets
import threading
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.bed.addresses import HOSTS, ORIGINS_NETWORK
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link.live.operations import Way
from lanelab.driver.link.profiles import PROFILES
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.link.selftest.plan import Pings
from lanelab.driver.run.channel.client import Bed
from tests.kit.handles import OpenBed
from tools.bench.leftovers import Part, Watch, kill

DIRECT, THROUGH_ROUTER = 64, 63  # hops left of a packet that a host has sent
COUNTERS = "for one in tx_packets rx_packets; do cat /sys/class/net/$1/statistics/$one; done"
ENOUGH = 1_000_000  # bytes: hundreds of packets


def packets(bed: OpenBed, node: str, device: str) -> int:
    """Sent and received."""
    return sum(map(int, bed.run(node, "sh", "-c", COUNTERS, "sh", device).stdout.split()))


def at_router(bed: OpenBed) -> list[int]:
    """Packets on each of its interfaces to the hosts, and on theirs to it."""
    inside = [packets(bed, "router", host.router_port.device) for host in HOSTS]
    return inside + [packets(bed, host.name, host.port.device) for host in HOSTS]


def hops_left(bed: OpenBed, address: str = "server") -> int:
    shown = bed.run("client", "ping", "-c", "1", "-W", "20", address).stdout
    return int(shown.partition("ttl=")[2].split()[0])


def sent(bed: OpenBed, way: Way) -> int:
    return bed.bed.transfer(way, 0.3).marks[-1][1]


def forwards(bed: OpenBed) -> bool:
    return bed.run("router", "cat", "/proc/sys/net/ipv4/ip_forward").stdout.strip() == "1"


def test_no_packet_of_a_direct_link_passes_the_router(bed: OpenBed) -> None:
    bed.set(path="direct")
    before = at_router(bed)
    for way in ("down", "up"):
        assert sent(bed, way) > ENOUGH
    assert hops_left(bed) == DIRECT
    assert hops_left(bed, str(ORIGINS_NETWORK[5])) == DIRECT
    assert at_router(bed) == before
    assert not forwards(bed)


def test_the_self_test_tells_what_a_direct_link_carries(bed: OpenBed) -> None:
    bed.set(path="direct", mtu="1400", initial_window_server="3", delayed_ack_client="false")
    found = bed.test()
    assert all(result.verdict in ("ok", "shown") for result in found.values()), found
    for name in ("rtt", "throughput down", "throughput up"):
        assert found[name].verdict == "shown"
        assert found[name].target is None
        assert found[name].achieved
    assert found["mtu"].achieved == 1400
    assert found["sent to the router"].achieved == 0
    brief = bed.bed.test_link(Effort(brief=True))
    assert brief.passed
    assert "throughput down" not in {result.name for result in brief.results}


@pytest.mark.parametrize(
    ("node", "words", "name", "told"),
    [
        ("server", "ip route change 10.10.0.0/16 via 10.10.1.2 dev direct0 onlink initcwnd 30 congctl cubic",
         "settings server", "initial_window is 30 instead of 10"),
        ("client", "ip route replace 10.10.0.0/16 via 10.10.1.1 dev eth0 initcwnd 10 congctl cubic",
         "settings client", "route is eth0 instead of direct0"),
        ("client", "ip link set dev direct0 mtu 1300", "settings client", "mtu is 1300 instead of 1500"),
    ],
)  # fmt: skip
def test_the_self_test_refuses_what_somebody_has_changed(
    bed: OpenBed, node: str, words: str, name: str, told: str
) -> None:
    bed.set(path="direct")
    assert bed.run(node, *words.split()).status == 0
    found = bed.test()
    assert found[name].verdict == "out"
    assert told in found[name].note
    bed.set(path="direct")
    assert all(result.verdict != "out" for result in bed.test().values())


def test_packets_to_the_router_are_seen(bed: OpenBed) -> None:
    bed.set(path="direct")
    ended = threading.Event()

    def disturb() -> None:
        while not ended.is_set():
            bed.run("client", "ping", "-c", "1", "-W", "1", "router")

    other = threading.Thread(target=disturb)
    other.start()
    try:
        assert bed.test()["sent to the router"].verdict == "out"
    finally:
        ended.set()
        other.join()


def test_a_link_after_a_direct_one_is_what_it_always_is(bed: OpenBed) -> None:
    shaped = {"rtt": "40ms", "initial_window": "4"}
    bed.set(**shaped)
    assert hops_left(bed) == THROUGH_ROUTER
    routes = {host.name: bed.run(host.name, "ip", "route").stdout for host in HOSTS}
    bed.set(path="direct", initial_window="7")
    assert hops_left(bed) == DIRECT
    bed.set(**shaped)
    assert {host.name: bed.run(host.name, "ip", "route").stdout for host in HOSTS} == routes
    assert hops_left(bed) == THROUGH_ROUTER
    assert hops_left(bed, str(ORIGINS_NETWORK[5])) == THROUGH_ROUTER
    assert forwards(bed)
    before = [packets(bed, host.name, host.direct_port.device) for host in HOSTS]
    trips_ms = bed.bed.ping(Pings(20, 5000)).round_trips_ms
    assert min(trips_ms) > 39  # the router's delay is there again
    assert [packets(bed, host.name, host.direct_port.device) for host in HOSTS] == before


def test_a_refused_link_leaves_the_direct_one(bed: OpenBed) -> None:
    bed.set(path="direct")
    with pytest.raises(InputError, match="has no congestion control"):
        bed.set(rtt="20ms", congestion_control="nonesuch")
    assert hops_left(bed) == DIRECT
    assert not forwards(bed)


def test_two_beds_do_not_disturb_each_other(bed: OpenBed, tmp_path: Path) -> None:
    with Bed(BedSettings(folder=tmp_path)) as other:
        second = OpenBed(other)
        bed.set(path="direct")
        second.set(rtt="30ms")
        assert (hops_left(bed), hops_left(second)) == (DIRECT, THROUGH_ROUTER)
        second.set(path="direct")
        before = packets(bed, "server", "direct0")
        assert sent(second, "down") > ENOUGH
        assert packets(bed, "server", "direct0") == before
        bed.set(rtt="30ms")
        assert (hops_left(bed), hops_left(second)) == (THROUGH_ROUTER, DIRECT)


def test_both_ends_have_the_processors_that_they_were_given(tmp_path: Path) -> None:
    with Bed(BedSettings(folder=tmp_path, cpus={"client": "0", "server": "0", "router": "0"})) as made:
        made.set_link(PROFILES["direct"].link)
        for host in HOSTS:
            shown = OpenBed(made).run(host.name, "grep", "Cpus_allowed_list", "/proc/self/status").stdout
            assert shown.split() == ["Cpus_allowed_list:", "0"]


def test_nothing_is_left_of_a_direct_link_that_is_killed(tmp_path: Path) -> None:
    watch, folder = Watch(), tmp_path / f"bed-{secrets.token_hex(8)}"
    folder.mkdir()
    with Bed(BedSettings(folder=folder)) as made:
        made.set_link(PROFILES["direct"].link)
        made.exec("server", Command(["sleep", "1000"]), Stdio())
        watch.see(made.pid)
        kill(Part(made.pid, "the bed"))
        with pytest.raises(BedError):
            made.transfer("down", 1)
    assert watch.left(folder.name) == []


def test_a_bed_tells_how_its_direct_cable_is_set(bed: OpenBed) -> None:
    facts = json.loads(json.dumps(bed.bed.facts()))
    for host in HOSTS:
        told = facts[host.name]["direct_offloads"]
        assert told["tcp-segmentation-offload"] == told["generic-segmentation-offload"] == "on"
        assert told["generic-receive-offload"] == "off"
        assert facts[host.name]["offloads"]["tcp-segmentation-offload"] == "off"
