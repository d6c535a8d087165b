"""What a capture has of connections that began before it: it begins before the load connects, so they are not the
load's. Pure.

TCP shows a beginning by its SYN, QUIC by its first packets. A QUIC connection may also go on at another port under an
id that both ends agreed on in secret, and that looks the same. But it must have been there first, and carry more than a
good-bye.
"""

from collections.abc import Sequence

from lanelab.driver.record.evidence.packets import Connection, FlowSummary, PacketSummary

QUIC_PORT = 443
QUIC_FAREWELL = 300  # bytes of frames: the last words of a connection


def earlier(packets: PacketSummary) -> list[Connection | FlowSummary]:
    """Return the connections of TCP and of QUIC that began before the capture."""
    return [*(each for each in packets.by_connection if not each.syn), *earlier_flows(packets)]


def earlier_flows(packets: PacketSummary) -> list[FlowSummary]:
    """Return those of QUIC."""
    return [each for each in packets.by_udp_flow if _is_earlier(each, packets.by_udp_flow)]


def _is_earlier(flow: FlowSummary, flows: Sequence[FlowSummary]) -> bool:
    if flow.server_port != QUIC_PORT or flow.quic is not None:
        return False
    is_farewell = flow.bytes_up + flow.bytes_down <= QUIC_FAREWELL
    return is_farewell or not any(_was_ready(each, flow.first_us) for each in flows)


def _was_ready(flow: FlowSummary, at_us: int) -> bool:
    """Return whether a connection that began in the capture was far enough by then to go on elsewhere."""
    ready_us = flow.quic.ready_us if flow.quic else None
    return ready_us is not None and ready_us <= at_us
