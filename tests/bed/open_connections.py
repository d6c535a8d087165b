"""Checks of the wait for a client's connections, with real ones; test_leftovers.py runs them."""

import contextlib
import time
from collections.abc import Iterator

from lanelab.driver.bed.node import Command, Process, Stdio
from lanelab.driver.trial.page_load.leftovers import wait_for_closed
from tests.kit.inside import InsideBed, main
from tests.kit.wait import wait_until

SERVER, LOOPBACK, PORT = "10.10.2.2", "127.0.0.1", 8123
LISTEN = "import socket, sys, time; held = socket.create_server((sys.argv[1], int(sys.argv[2]))); time.sleep(600)"
# By a socket of either family, for some seconds.
CONNECT = """
import socket, sys, time
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(family, socket.SOCK_STREAM) as line:
    while line.connect_ex((sys.argv[1], int(sys.argv[2]))):
        time.sleep(0.02)
    time.sleep(float(sys.argv[3]))
"""
# A socket of UDP that the kernel lists at a port of its own. One that is not connected has sent something.
UDP = """
import socket, sys, time
address, port, connects, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "connect", float(sys.argv[4])
with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as line:
    line.bind(("", 8124))
    if connects:
        line.connect((address, port))
    else:
        line.sendto(b"", (address, port))
    time.sleep(seconds)
"""
UDP_PORT, QUIC, LOOK_UPS = 8124, 443, 53
LONG_S = 60.0


@contextlib.contextmanager
def connected(bed: InsideBed, address: str = SERVER, *, for_s: float = LONG_S) -> Iterator[Process]:
    """The client has a connection there; at the end its program is killed, and the kernel closes it."""
    node = bed.client if address == LOOPBACK else bed.server
    where = (address.removeprefix("::ffff:"), str(PORT))
    listening = node.spawn(Command([*node.python, "-c", LISTEN, *where]), Stdio())
    opened = bed.client.spawn(Command([*bed.client.python, "-c", CONNECT, address, str(PORT), str(for_s)]), Stdio())
    try:
        wait_until(lambda: established(bed))
        yield opened
    finally:
        for each in (opened, listening):
            each.signal(9)
            each.wait()


@contextlib.contextmanager
def speaking_udp(
    bed: InsideBed, address: str = SERVER, port: int = QUIC, how: str = "connect", *, for_s: float = LONG_S
) -> Iterator[Process]:
    """The client has a socket of UDP, as Chromium has one for a connection of QUIC; at the end its program is
    killed."""
    words = [address, str(port), how, str(for_s)]
    opened = bed.client.spawn(Command([*bed.client.python, "-c", UDP, *words]), Stdio())
    try:
        wait_until(lambda: has_udp(bed, "01" if how == "connect" else "07"))
        yield opened
    finally:
        opened.signal(9)
        opened.wait()


def established(bed: InsideBed) -> bool:
    """By another reader of the kernel's than the one that is checked: any connection to that port."""
    return any(row[2].endswith(f":{PORT:04X}") and row[3] == "01" for row in listed(bed, "tcp"))


def has_udp(bed: InsideBed, state: str) -> bool:
    """The same of a socket at that port."""
    return any(row[1].endswith(f":{UDP_PORT:04X}") and row[3] == state for row in listed(bed, "udp"))


def listed(bed: InsideBed, protocol: str) -> list[list[str]]:
    tables = f"cat /proc/net/{protocol} /proc/net/{protocol}6"
    rows = (line.split() for line in bed.client.run(["sh", "-c", tables], check=False).stdout.splitlines())
    return [row for row in rows if len(row) > 3]


def without_connections_nobody_waits(bed: InsideBed) -> None:
    began = time.monotonic()
    assert wait_for_closed(bed.client, LONG_S) == 0
    assert time.monotonic() - began < LONG_S / 2


def one_that_stays_open_is_told(bed: InsideBed) -> None:
    with connected(bed):
        began = time.monotonic()
        assert wait_for_closed(bed.client, 0.3) == 1
        assert time.monotonic() - began >= 0.3
    assert wait_for_closed(bed.client, LONG_S) == 0


def one_by_a_socket_of_ipv6_is_told(bed: InsideBed) -> None:
    with connected(bed, f"::ffff:{SERVER}"):
        assert wait_for_closed(bed.client, 0.1) == 1


def one_that_is_closed_meanwhile_is_waited_for(bed: InsideBed) -> None:
    with connected(bed, for_s=1.5) as opened:
        assert wait_for_closed(bed.client, LONG_S) == 0
        assert opened.wait() == 0, "its program ended by itself, and closed it"


def one_within_the_client_is_not_waited_for(bed: InsideBed) -> None:
    with connected(bed, LOOPBACK):
        assert wait_for_closed(bed.client, LONG_S) == 0


def one_of_quic_that_stays_open_is_told(bed: InsideBed) -> None:
    with speaking_udp(bed):
        began = time.monotonic()
        assert wait_for_closed(bed.client, 0.3) == 1
        assert time.monotonic() - began >= 0.3
    assert wait_for_closed(bed.client, LONG_S) == 0


def one_of_quic_by_a_socket_of_ipv6_is_told(bed: InsideBed) -> None:
    with speaking_udp(bed, f"::ffff:{SERVER}"):
        assert wait_for_closed(bed.client, 0.1) == 1


def one_of_quic_that_is_closed_meanwhile_is_waited_for(bed: InsideBed) -> None:
    with speaking_udp(bed, for_s=1.5) as opened:
        assert wait_for_closed(bed.client, LONG_S) == 0
        assert opened.wait() == 0, "its program ended by itself, and closed it"


def other_sockets_of_udp_are_not_waited_for(bed: InsideBed) -> None:
    for address, port, how in ((SERVER, QUIC, "send"), (SERVER, LOOK_UPS, "connect"), (LOOPBACK, QUIC, "connect")):
        with speaking_udp(bed, address, port, how):
            assert wait_for_closed(bed.client, LONG_S) == 0, (address, port, how)
            assert has_udp(bed, "01" if how == "connect" else "07"), "it was there all the time"


CHECKS = (
    without_connections_nobody_waits,
    one_that_stays_open_is_told,
    one_by_a_socket_of_ipv6_is_told,
    one_that_is_closed_meanwhile_is_waited_for,
    one_within_the_client_is_not_waited_for,
    one_of_quic_that_stays_open_is_told,
    one_of_quic_by_a_socket_of_ipv6_is_told,
    one_of_quic_that_is_closed_meanwhile_is_waited_for,
    other_sockets_of_udp_are_not_waited_for,
)

if __name__ == "__main__":
    main(*CHECKS)
