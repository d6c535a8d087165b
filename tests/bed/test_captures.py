"""A real capture over a lossy link: what we count is what tshark counts, and what the sender's kernel counted."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.trial.packets.packets import summarise
from tests.kit import tshark
from tests.kit.handles import OpenBed
from tests.kit.scripts import run_script

pytestmark = [tshark.needs_tshark]
CLIENT, SERVER = ADDRESSES["client"], ADDRESSES["server"]
AMOUNT = 400_000  # bytes for each of the connections
CONNECTIONS = 3
SERVE = f"""
import socket
listening = socket.create_server(("{SERVER}", 8080))
for _ in range({CONNECTIONS}):
    connection, _ = listening.accept()
    connection.recv(100)
    connection.sendall(bytes({AMOUNT}))
    connection.close()
"""
ASK = f"""
import socket, sys, time
for _ in range({CONNECTIONS}):
    for attempt in range(600):
        try:
            connection = socket.create_connection(("{SERVER}", 8080))
            break
        except ConnectionRefusedError:
            time.sleep(0.1)  # until the other node listens
    connection.sendall(b"please")
    got = 0
    while part := connection.recv(65536):
        got += len(part)
    assert got == {AMOUNT}, got
    connection.close()
"""


@pytest.fixture(scope="module")
def folder(bed: OpenBed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Captures of both ends, and what the server's kernel says that it sent again."""
    made = tmp_path_factory.mktemp("captures")
    bed.set(rtt="20ms", rate="10mbit", loss_down="3%")
    (made / "serve.py").write_text(SERVE)
    (made / "ask.py").write_text(ASK)
    run_script(
        bed,
        f"""
        set -e
        cd {made}
        node client tcpdump -i eth0 -U -w client.pcap -s 128 --immediate-mode 'tcp port 8080' 2> client.err &
        at_client=$!
        node server tcpdump -i eth0 -U -w server.pcap -s 128 --immediate-mode 'tcp port 8080' 2> server.err &
        at_server=$!
        while ! grep -q 'listening on' client.err || ! grep -q 'listening on' server.err; do sleep 0.1; done
        node server cat /proc/net/snmp > before
        node server "$LANELAB_PYTHON" serve.py &
        serving=$!
        node client "$LANELAB_PYTHON" ask.py
        wait $serving
        sleep 1
        node server cat /proc/net/snmp > after
        kill $at_client $at_server
        wait $at_client $at_server || true
        """,
    )
    yield made
    bed.set()


def resent_by_kernel(text: str) -> int:
    names, values = (line.split() for line in re.findall(r"^Tcp: .*$", text, re.MULTILINE))
    return int(values[names.index("RetransSegs")])


@pytest.mark.parametrize("side", ["client", "server"])
def test_tshark_counts_the_same(folder: Path, side: str) -> None:
    file = folder / f"{side}.pcap"
    found = summarise(file, client=CLIENT)
    assert found.incomplete is None
    tried = [each for each in found.by_connection if each.handshake]
    assert len(tried) == CONNECTIONS
    packets = {each.client_port: (each.packets_up, each.packets_down) for each in found.by_connection}
    seen = tshark.segments(file)
    assert tshark.conversations(seen) == packets
    bytes_by_tshark = tshark.sizes(seen)
    for each in found.by_connection:
        assert bytes_by_tshark[each.client_port, 8080] == each.bytes_up
        assert bytes_by_tshark[8080, each.client_port] == each.bytes_down
    assert found.bytes == found.bytes_down + found.bytes_up == sum(bytes_by_tshark.values())
    assert found.retransmissions_down + sum(each.out_of_order for each in tried) == tshark.sent_again(seen)[8080]


def test_the_senders_kernel_counted_the_same(folder: Path) -> None:
    """At the sender every segment is seen, so that what was sent again is plain."""
    before, after = ((folder / name).read_text() for name in ("before", "after"))
    sent_again = resent_by_kernel(after) - resent_by_kernel(before)
    assert sent_again > 0, "nothing was lost: nothing was tested"
    assert summarise(folder / "server.pcap", client=CLIENT).retransmissions_down == sent_again


def test_at_the_client_nothing_is_taken_for_overtaken(folder: Path) -> None:
    """The link keeps the order: what fills a gap was sent again."""
    found = summarise(folder / "client.pcap", client=CLIENT)
    assert sum(each.out_of_order for each in found.by_connection) == 0
    assert found.retransmissions_down > 0
