"""What the first packets of a load say of what was spoken. Pure."""

from collections import Counter
from collections.abc import Iterator

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.record.evidence.load import WireWitness
from lanelab.driver.record.evidence.packets import Connection, PacketSummary, QuicSummary
from lanelab.driver.record.evidence.spoken import QuicWitness
from lanelab.driver.record.reasons import Failure, Reason

FIRST_BYTES = {"spdy/3.1": "spdy/3"}  # which look the same
NOTHING = "nothing"
LEAST_COMPLETE = 0.5  # of the connections: the load ends within handshakes, and links lose their packets


def wire_witness(packets: PacketSummary) -> WireWitness:
    """Return what the connections over TCP show."""
    connections = [each for each in packets.by_connection if each.syn and each.spoken_up]
    return WireWitness(
        connections=len(connections),
        spoken_up=dict(Counter(each.spoken_up or NOTHING for each in connections)),
        spoken_down=dict(Counter(each.spoken_down for each in connections if each.spoken_down)),
        tls=dict(Counter(each.tls_version for each in connections if each.tls_version)),
        offered=dict(Counter(_offered(each) for each in connections if each.alpn_offered is not None)),
    )


def quic_witness(packets: PacketSummary) -> QuicWitness:
    """Return what the connections by QUIC show."""
    begun = [each for each in packets.quic if each.initials_up]
    return QuicWitness(
        begun=len(begun),
        complete=sum(each.complete for each in begun),
        early=sum(each.early_packets > 0 for each in begun),
        over_tcp=sum(each.syn for each in packets.by_connection),
        tls=dict(Counter(each.tls_version for each in begun if each.tls_version)),
        offered=dict(Counter(_offered(each) for each in begun if each.alpn_offered is not None)),
        chosen=dict(Counter(each.alpn_chosen for each in begun if each.alpn_chosen)),
        packets=packets.packets,
    )


def _offered(connection: Connection | QuicSummary) -> str:
    return " ".join(connection.alpn_offered or ()) or NOTHING


def judge_wire(witness: WireWitness | None, arm: Arm) -> Iterator[Failure]:
    """Yield a failure where the wire does not agree with an arm over TCP."""
    if witness is None or not witness.connections:
        yield Failure(Reason.EVIDENCE_MISSING, "evidence.wire is missing: the capture shows no connection's beginning")
        return
    wanted = "tls" if arm.tls != "off" else FIRST_BYTES.get(arm.protocol, arm.protocol)
    for side, spoken in (("client", witness.spoken_up), ("server", witness.spoken_down)):
        others = sorted(set(spoken) - {wanted})
        if others:
            detail = f"by the capture the {side} began with {others[0]} instead of {wanted}"
            yield Failure(Reason.PROTOCOL_FALLBACK, detail)
    for version in sorted(set(witness.tls) - {f"TLS {arm.tls}"}):
        yield Failure(Reason.TLS_FALLBACK, f"by the capture it was {version}, and the arm says {arm.tls}")
    if arm.tls != "off" and arm.multiplexed:
        for offered in sorted(name for name in witness.offered if arm.protocol not in name.split()):
            yield Failure(Reason.PROTOCOL_FALLBACK, f"by the capture {offered} was offered by ALPN, not {arm.protocol}")


def judge_quic(witness: QuicWitness | None, arm: Arm, connections: int | None, most_packets: int) -> Iterator[Failure]:
    """Yield a failure where the wire does not agree with an arm over QUIC, or with the number of connections that the
    generator tells."""
    if witness is None:
        detail = "recordings.spoken.quic is missing: nobody has read the first packets"
        yield Failure(Reason.EVIDENCE_MISSING, detail)
        return
    yield from _handshakes(witness)
    yield from _number(witness, connections or 0, most_packets)
    if witness.over_tcp:
        detail = f"by the capture {witness.over_tcp} connections were asked for over TCP, beside QUIC"
        yield Failure(Reason.PROTOCOL_FALLBACK, detail)
    for who, names in (("was offered", witness.offered), ("was chosen by the server", witness.chosen)):
        for name in sorted(set(names) - {H3}):
            yield Failure(Reason.PROTOCOL_FALLBACK, f"by the capture {name} {who} by ALPN within QUIC, not {H3}")
    for version in sorted(set(witness.tls) - {f"TLS {arm.tls}"}):
        detail = f"by the capture there was {version} within QUIC, and the arm says {arm.tls}"
        yield Failure(Reason.TLS_FALLBACK, detail)
    if witness.early:
        detail = f"by the capture {witness.early} QUIC connections began with early data, which is off"
        yield Failure(Reason.EARLY_DATA_IGNORED, detail)


def _handshakes(witness: QuicWitness) -> Iterator[Failure]:
    if not witness.begun:
        yield Failure(Reason.PROTOCOL_FALLBACK, "by the capture no QUIC connection was begun")
    elif not witness.complete:
        detail = f"by the capture {witness.begun} QUIC connections were begun, and no handshake was complete"
        yield Failure(Reason.PROTOCOL_FALLBACK, detail)
    elif not (witness.offered and witness.chosen and witness.tls):
        detail = (
            "recordings.spoken.quic: the first packets do not show what was offered and chosen by ALPN, with which TLS"
        )
        yield Failure(Reason.EVIDENCE_MISSING, detail)


def _number(witness: QuicWitness, connections: int, most_packets: int) -> Iterator[Failure]:
    """Yield a failure where most connections have no whole handshake in a capture of the whole load. One that came to
    its end before has the beginning of some."""
    if witness.packets is None:
        yield Failure(Reason.EVIDENCE_MISSING, "recordings.spoken.quic.packets is missing")
    elif witness.packets < most_packets and witness.complete:  # that none is complete has been said
        for number, who in ((witness.begun, "were begun"), (connections, "were opened by the generator's word")):
            if witness.complete < LEAST_COMPLETE * number:
                detail = f"by the capture {witness.complete} QUIC connections had a whole handshake, and {number} {who}"
                yield Failure(Reason.PROTOCOL_FALLBACK, detail)
                return
