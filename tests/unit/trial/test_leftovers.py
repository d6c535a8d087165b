"""What the kernel's tables of sockets tell of the last trial."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.node import Node
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.trial.page_load.current_load import UnderWay
from lanelab.driver.trial.page_load.leftovers import closing_s, open_connections, wait_for_closed, wait_for_sent
from lanelab.driver.trial.spec import TrialSpec

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
UDP_HEAD = f"{HEAD} ref pointer drops            \n"
SERVER, ORIGIN, LOOPBACK, CONTROLLER = "02020A0A:0050", "09110A0A:01BB", "0100007F:24F4", "0101A8C0:0016"
SERVER_QUIC, LOOPBACK_QUIC, CONTROLLER_QUIC = "02020A0A:01BB", "0100007F:01BB", "0101A8C0:01BB"
RESOLVER, NOBODY = "02020A0A:0035", "00000000:0000"
Row = tuple[str, str]  # the other end, and the state


def table(*rows: Row, head: str = f"{HEAD}\n") -> str:
    line = "   {n}: 02010A0A:B0E2 {remote} {state} 00000000:00000000 00:00000000 00000000     0        0 1 1 0 20 4\n"
    return head + "".join(line.format(n=n, remote=remote, state=state) for n, (remote, state) in enumerate(rows))


def udp_table(*rows: Row) -> str:
    return table(*rows, head=UDP_HEAD)


NO_TCP, NO_UDP = table(), udp_table()


@pytest.mark.parametrize("state", ["01", "04", "08", "09", "0B"])
@pytest.mark.parametrize("remote", [SERVER, ORIGIN])
def test_a_connection_that_is_still_to_be_closed_counts(state: str, remote: str) -> None:
    assert open_connections(table((remote, state), (LOOPBACK, "01")) + NO_UDP) == 1


@pytest.mark.parametrize("state", ["02", "05", "06", "07", "0A"])
def test_one_that_sends_nothing_more_does_not(state: str) -> None:
    assert open_connections(table((SERVER, state)) + NO_UDP) == 0


@pytest.mark.parametrize("remote", [LOOPBACK, CONTROLLER])
def test_one_that_does_not_go_over_the_link_does_not(remote: str) -> None:
    assert open_connections(table((remote, "01")) + NO_UDP) == 0


@pytest.mark.parametrize("remote", [SERVER_QUIC, ORIGIN])
def test_a_connection_of_quic_counts(remote: str) -> None:
    assert open_connections(NO_TCP + udp_table((remote, "01"), (NOBODY, "07"))) == 1


@pytest.mark.parametrize(
    ("remote", "state"),
    [(NOBODY, "07"), (SERVER_QUIC, "07"), (RESOLVER, "01"), (LOOPBACK_QUIC, "01"), (CONTROLLER_QUIC, "01")],
    ids=["not connected", "not connected any more", "a look-up", "within the client", "not over the link"],
)
def test_another_socket_of_udp_does_not(remote: str, state: str) -> None:
    assert open_connections(NO_TCP + udp_table((remote, state))) == 0


def test_what_a_state_means_is_each_protocols_own() -> None:
    """A port says nothing of a connection of TCP, nor does a state of TCP of a socket of UDP."""
    assert open_connections(table((RESOLVER, "01")) + udp_table((SERVER_QUIC, "08"))) == 1


def test_those_of_all_tables_count() -> None:
    assert open_connections(table((SERVER, "01")) + udp_table((SERVER_QUIC, "01"), (ORIGIN, "01"))) == 3


@pytest.mark.parametrize("text", [NO_TCP + NO_UDP, f"{NO_TCP}\n{NO_UDP}\n", 2 * (NO_TCP + NO_UDP)])
def test_without_connections_there_is_none(text: str) -> None:
    assert open_connections(text) == 0


MAPPED, LOOPBACK_6 = "0000000000000000FFFF000002020A0A:01BB", "00000000000000000000000001000000:0050"
OTHERS_6 = "B80D0120000000000000000001000000:01BB"


def test_one_of_the_links_by_a_socket_of_ipv6_counts() -> None:
    both = table((SERVER, "01")) + NO_UDP
    both += table((MAPPED, "08"), (MAPPED, "06"), (LOOPBACK_6, "01"), (OTHERS_6, "01"))
    assert open_connections(both) == 2
    assert open_connections(both + udp_table((MAPPED, "01"), (MAPPED, "07"), (OTHERS_6, "01"))) == 3


@pytest.mark.parametrize(
    ("text", "protocol"), [("", "TCP"), (udp_table((SERVER_QUIC, "07")), "TCP"), (table((SERVER, "06")), "QUIC")]
)
def test_a_client_that_does_not_tell_all_is_an_error(text: str, protocol: str) -> None:
    """In a table that is not there nothing would be open."""
    with pytest.raises(NodeError, match=f"does not tell which connections of {protocol}"):
        open_connections(text)


CLIENT = "02010A0A:B0E2"


class Looks:
    """A node whose tables have one connection, in another state at each look; the last one stays."""

    def __init__(self, states: Iterable[str]) -> None:
        self.states = list(states)
        self.looks = 0

    def run(self, _argv: list[str]) -> SimpleNamespace:
        state = self.states[min(self.looks, len(self.states) - 1)]
        self.looks += 1
        return SimpleNamespace(stdout=f"{table((CLIENT, state))}{NO_UDP}" if state else "")


def test_a_server_that_was_killed_is_waited_for_while_its_kernel_sends() -> None:
    """FIN_WAIT1, twice, and CLOSING; then TIME_WAIT, in which nothing more is sent."""
    server = Looks(["04", "04", "0B", "06", "06"])
    assert wait_for_closed(cast("Node", server), 60.0) == 0
    assert server.looks == 4
    sending = Looks(["04"])
    wait_for_sent(cast("Node", sending), 0.05)
    assert sending.looks > 1, "no longer than that"


def test_connections_have_as_long_to_close_as_the_longest_round_trip_takes() -> None:
    """A load over 900 ms, with hosts at 1.2 s: its good-bye is lost as the next one's link is set, and sent again."""
    far, near = Link.parse({"rtt": "900ms"}), Link.parse({"rtt": "20ms"})
    hosts = Link.parse({"rtt": "20ms", "distances": {"far.example": "1200ms"}})
    assert closing_s(near, None) < 1.2
    assert closing_s(near, far) == closing_s(far, near) > 2 * 0.9
    assert closing_s(near, hosts) > 2 * 1.2


def test_a_server_that_does_not_tell_is_no_failure_of_the_load() -> None:
    """It is over; and what comes later is seen in the next one's capture."""
    silent = Looks([""])
    wait_for_sent(cast("Node", silent), 60.0)
    assert silent.looks == 1


def test_what_is_still_open_is_a_flag_of_the_trial(tmp_path: Path) -> None:
    trial = UnderWay(cast("TrialSpec", None), tmp_path, {}, None, None)
    trial.flag_left(0)
    assert trial.flags == []
    trial.flag_left(2)
    said = "2 connections of the load before had not been closed when this one began"
    assert trial.flags == [Flag(FlagName.CONNECTIONS_LEFT, said)]
