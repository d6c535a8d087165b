"""TCP's settings of a link: in the namespaces that they are for, seen in captures and counters, and gone afterwards."""

import re
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError, LinkError
from lanelab.driver.bed.addresses import ADDRESSES, SERVER
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import Link
from lanelab.driver.link.hosts.host import KERNELS_OWN, USUAL_KERNEL
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.trial.packets.timeline import Stream, read_timeline
from lanelab.driver.trial.page_load.judges.tcp_options import tcp_option_failures
from tests.kit.handles import OpenBed
from tests.kit.scripts import run_script

CLIENT = ADDRESSES["client"]
TIMESTAMPS, TAIL_LOSS_PROBE = "net.ipv4.tcp_timestamps", "net.ipv4.tcp_early_retrans"
ECN, SACK = "net.ipv4.tcp_ecn", "net.ipv4.tcp_sack"
AMOUNT = 400_000  # bytes: many times what a new connection acknowledges one by one
SERVE = f"""
import socket
with socket.create_server(("", 8080)) as listening:
    print("ready", flush=True)
    connection, _ = listening.accept()
    connection.sendall(bytes({AMOUNT}))
    connection.close()
"""
ASK = f"""
import socket
connection = socket.create_connection(("{ADDRESSES["server"]}", 8080))
while connection.recv(65536):
    pass
"""
# The server's frames go to nobody's address while its last one is lost, so that it has to be sent again.
ROUTER, NOBODY = SERVER.router_port.mac, "02:00:00:00:00:99"
LOSE_A_TAIL = f"""
import pathlib, socket, subprocess, time

def neighbour(mac):
    words = "ip neigh replace {SERVER.router_port.address} dev {SERVER.port.device} nud permanent lladdr".split()
    subprocess.run([*words, mac], check=True)

def probes():
    lines = [line.split() for line in pathlib.Path("/proc/net/netstat").read_text().splitlines()]
    names, values = [line for line in lines if line[0] == "TcpExt:"]
    return int(values[names.index("TCPLossProbes")])

with socket.create_server(("", 8080)) as listening:
    print("ready", flush=True)
    connection, _ = listening.accept()
for _ in range(5):  # it has to know the round trip
    connection.sendall(b"a")
    connection.recv(1)
before = probes()
neighbour("{NOBODY}")
connection.sendall(b"b")
time.sleep(0.15)  # longer than the probe of what is not acknowledged waits
neighbour("{ROUTER}")
connection.recv(1)
print("probes", probes() - before)
"""  # noqa: S608 - no SQL
ANSWER = f"""
import socket
connection = socket.create_connection(("{ADDRESSES["server"]}", 8080))
while connection.recv(1):
    connection.sendall(b"c")
"""


def kernel(bed: OpenBed, node: str) -> dict[str, str]:
    return {name: bed.run(node, "cat", f"/proc/sys/{name.replace('.', '/')}").stdout.strip() for name in USUAL_KERNEL}


def test_each_host_has_its_own_and_a_new_link_takes_them_back(bed: OpenBed) -> None:
    bed.set(timestamps_client="false", tail_loss_probe_server="off", delayed_ack_client="false")
    assert kernel(bed, "client") == {**USUAL_KERNEL, TIMESTAMPS: "0"}
    assert kernel(bed, "server") == {**USUAL_KERNEL, TAIL_LOSS_PROBE: "0"}
    routes = {node: bed.run(node, "ip", "route", "show", "dev", "eth0").stdout for node in ("client", "server")}
    assert routes["client"].count("quickack 1") == 2
    assert "quickack" not in routes["server"]
    bed.set(rtt="10ms")
    for node in ("client", "server"):
        assert kernel(bed, node) == USUAL_KERNEL
        assert "quickack" not in bed.run(node, "ip", "route", "show", "dev", "eth0").stdout


def test_what_a_host_has_of_its_own_is_put_back(bed: OpenBed) -> None:
    def own() -> list[str]:
        files = [f"/proc/sys/{name.replace('.', '/')}" for name in KERNELS_OWN]
        return [" ".join(bed.run("client", "cat", file).stdout.split()) for file in files]

    before = own()
    bed.set(receive_window_client="64KiB", minimum_rto_client="50ms", ecn="ask", sack="false")
    assert own() == [before[0], "4096 65536 65536"]
    assert (kernel(bed, "client")[ECN], kernel(bed, "server")[SACK]) == ("1", "0")
    assert bed.run("client", "ip", "route", "show", "dev", "eth0").stdout.count("rto_min lock 50ms") == 2
    bed.set(rtt="10ms")
    assert own() == before
    assert kernel(bed, "client") == kernel(bed, "server") == USUAL_KERNEL
    assert "rto_min" not in bed.run("client", "ip", "route", "show", "dev", "eth0").stdout


def test_what_cannot_be_forgotten_is_not_saved(bed: OpenBed) -> None:
    """Only root of the machine itself may make a kernel forget, which nobody is within a bed of namespaces."""
    with pytest.raises(InputError) as refused:
        bed.set(saved_metrics_server="true")
    assert "the server of this bed cannot forget what TCP saved" in str(refused.value)


def acknowledged_alone(bed: OpenBed, folder: Path) -> float:
    """Of the segments of a transfer, the share that was acknowledged by a packet of its own."""
    stream = transfer(bed, folder)
    segments = sum(bool(packet.payload) for packet in stream.down)
    assert segments > AMOUNT // 1460
    return sum(not packet.payload for packet in stream.up) / segments


@pytest.mark.measures
@pytest.mark.parametrize("settings", [{}, {"delayed_ack_client": "false"}], ids=["delayed", "at once"])
def test_segments_are_acknowledged_together_or_one_by_one(
    bed: OpenBed, tmp_path: Path, settings: dict[str, str]
) -> None:
    """The link gives each segment a millisecond of its own, so that none is there already when one is handled."""
    bed.set(rtt="20ms", rate="10mbit", **settings)
    if settings:
        assert acknowledged_alone(bed, tmp_path) >= 0.9
    else:  # a client that stands still for a moment acknowledges at once for a while: the best of several counts
        assert any(acknowledged_alone(bed, tmp_path) <= 0.7 for _ in range(5))


@pytest.mark.parametrize("side", ["", "_client", "_server"])
def test_without_timestamps_no_packet_has_any(bed: OpenBed, tmp_path: Path, side: str) -> None:
    """One host that does not want them is enough."""
    bed.set(rtt="20ms", rate="10mbit", **{f"timestamps{side}": "false"})
    stream = transfer(bed, tmp_path)
    began = 0 if side != "_server" else 1  # the client's SYN offers them where only the server will not have them
    assert {packet.timestamp for packet in stream.packets[began:]} == {None}
    assert max(packet.payload for packet in stream.down) == 1460
    bed.set(rtt="20ms", rate="10mbit")
    assert None not in {packet.timestamp for packet in transfer(bed, tmp_path).packets}


def test_a_first_window_is_offered_and_ends_the_first_flight(bed: OpenBed, tmp_path: Path) -> None:
    bed.set(rtt="60ms", rate="10mbit", initial_receive_window_client="4", timestamps="false")
    syn, *others = transfer(bed, tmp_path).packets
    assert syn.window == 4 * 1460
    first = next(packet.at_ns for packet in others if not packet.up and packet.payload)
    flight = [packet for packet in others if not packet.up and packet.payload and packet.at_ns < first + 40_000_000]
    assert len(flight) == 4
    bed.set(rtt="60ms", rate="10mbit")
    assert transfer(bed, tmp_path).packets[0].window > 40 * 1460


def test_first_windows_are_judged_by_what_is_offered(bed: OpenBed, tmp_path: Path) -> None:
    few = {"rtt": "20ms", "rate": "10mbit", "initial_receive_window_client": "6", "initial_receive_window_server": "9"}
    link = Link.parse(few)
    bed.set(**few)
    assert not list(tcp_option_failures(link.client, link.server, [transfer(bed, tmp_path)]))
    bed.set(rtt="20ms", rate="10mbit")
    (failure,) = tcp_option_failures(link.client, link.server, [transfer(bed, tmp_path)])
    assert "the client offered to take" in failure.detail
    assert "the server offered to take" in failure.detail


@pytest.mark.parametrize(("settings", "probes"), [({}, True), ({"tail_loss_probe_server": "false"}, False)])
def test_a_lost_tail_is_probed_for_or_waited_for(
    bed: OpenBed, tmp_path: Path, settings: dict[str, str], *, probes: bool
) -> None:
    bed.set(rtt="20ms", **settings)
    (tmp_path / "serve.py").write_text(LOSE_A_TAIL)
    (tmp_path / "ask.py").write_text(ANSWER)
    said = run_script(bed, script(tmp_path, "true"))
    (found,) = re.findall(r"probes (\d+)", said)
    assert (int(found) > 0) == probes


def transfer(bed: OpenBed, folder: Path) -> Stream:
    """The packets, as the client saw them, of a transfer from the server."""
    (folder / "serve.py").write_text(SERVE)
    (folder / "ask.py").write_text(ASK)
    capture = """node client tcpdump -i eth0 -U -w client.pcap -s 128 --immediate-mode 'tcp port 8080' 2>client.err &
        capturing=$!
        while ! grep -q 'listening on' client.err; do sleep 0.1; done"""
    run_script(bed, script(folder, capture, "sleep 0.5; kill $capturing; wait $capturing || true"))
    (stream,) = read_timeline(folder / "client.pcap", CLIENT).streams
    return stream


def script(folder: Path, before: str, after: str = "true") -> str:
    return f"""
        set -e
        cd {folder}
        rm -f client.err served
        {before}
        node server "$LANELAB_PYTHON" serve.py >served &
        serving=$!
        while ! grep -q ready served; do sleep 0.1; done
        node client "$LANELAB_PYTHON" ask.py
        wait $serving
        {after}
        cat served
        """


def test_where_nobody_may_set_the_kernel_a_link_that_needs_it_is_refused(tmp_path: Path) -> None:
    """As in a container: its /proc/sys can only be read."""
    with Bed(BedSettings(folder=tmp_path)) as made:
        bed = OpenBed(made)
        read_only = "mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys"
        assert bed.run("client", "sh", "-c", read_only).status == 0
        bed.set(rtt="20ms", delayed_ack="false", initial_window="2", timestamps_server="false")
        with pytest.raises(LinkError, match=r"the client's kernel does not let itself be set: .*Read-only file system"):
            bed.set(timestamps="false")
        assert kernel(bed, "server") == {**USUAL_KERNEL, TIMESTAMPS: "0"}, "the link before is back"
        assert bed.run("client", "ping", "-c", "1", "-W", "2", "server").status == 0
