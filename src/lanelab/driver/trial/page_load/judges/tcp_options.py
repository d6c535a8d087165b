"""The verdict on what the hosts offer each other when a connection opens: whether it has TCP's timestamps, and how much
each takes at first. Settings of hosts are read back after the load, so that these are seen by two witnesses, and over
the whole of it. Pure."""

from collections.abc import Iterator, Sequence

from lanelab.driver.link.hosts.host import Host
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.packets.packet_fields import Packet, Stream
from lanelab.driver.trial.packets.timeline import ACK, SYN
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import few

TIMESTAMP_BYTES = 12


def tcp_option_failures(client: Host, server: Host, streams: Sequence[Stream]) -> Iterator[Failure]:
    """An answer to a client that offers none has none in any case, and says nothing of the server."""
    asks = [(port, packet) for port, packet in _each(streams, SYN) if packet.up]
    answers = [(port, packet) for port, packet in _each(streams, SYN | ACK) if not packet.up]
    wrong = [
        *_others("client", client.timestamps, asks),
        *(_others("server", server.timestamps, answers) if client.timestamps else ()),
        *_windows("client", client, asks),
        *_windows("server", server, answers),
    ]
    if wrong:
        yield Failure(Reason.TCP_OPTIONS, "; ".join(wrong))


def _each(streams: Sequence[Stream], kind: int) -> Iterator[tuple[int, Packet]]:
    """Yield the client's port of each connection, and its first packet of this kind."""
    for stream in streams:
        packet = next((each for each in stream.packets if each.flags & (SYN | ACK) == kind), None)
        if packet:
            yield stream.client[1], packet


def _others(name: str, wanted: bool, first: Sequence[tuple[int, Packet]]) -> Iterator[str]:
    """Yield the connections that this host opened or took otherwise."""
    ports = [str(port) for port, packet in first if (packet.timestamp is not None) is not wanted]
    if ports:
        what = "offered no timestamps" if wanted else "offered timestamps"
        yield f"on {len(ports)} of {len(first)} connections the {name} {what} (client's ports {few(ports)})"


def _windows(name: str, host: Host, first: Sequence[tuple[int, Packet]]) -> Iterator[str]:
    """Yield what this host offered to take otherwise. A segment has what the MSS says, or room for timestamps, too."""
    wanted = host.initial_receive_window
    wrong = [(port, packet) for port, packet in first if wanted and not _offers(host, wanted, packet)]
    if wrong:
        ports, offered = few([str(port) for port, _ in wrong]), wrong[0][1].window
        what = f"the {name} offered to take {offered} bytes or so at first, and not {wanted} segments"
        yield f"on {len(wrong)} of {len(first)} connections {what} (client's ports {ports})"


def _offers(host: Host, wanted: int, packet: Packet) -> bool:
    segment = packet.mss
    if not segment:
        return False
    return host.first_window(segment) * (segment - TIMESTAMP_BYTES) <= packet.window <= wanted * segment


def _failures(case: Case) -> Iterator[Failure]:
    if case.packets and (timeline := case.read_timeline()):
        yield from tcp_option_failures(case.link.client, case.link.server, timeline.streams)


JUDGE = Judge(Needs.TRIAL, _failures)
