"""What the first packets of a load say of what was spoken. Pure but for reading the file."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.evidence.load import WireWitness
from lanelab.driver.record.evidence.packets import Connection
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.packets.packets import summarise

FIRST_BYTES = {"spdy/3.1": "spdy/3"}  # which look the same
NOTHING = "nothing"


def wire_witness(path: Path) -> WireWitness:
    """Raises CaptureError where the file cannot be read."""
    connections = [
        each for each in summarise(path, client=ADDRESSES["client"]).by_connection if each.syn and each.spoken_up
    ]
    return WireWitness(
        connections=len(connections),
        spoken_up=dict(Counter(each.spoken_up or NOTHING for each in connections)),
        spoken_down=dict(Counter(each.spoken_down for each in connections if each.spoken_down)),
        tls=dict(Counter(each.tls_version for each in connections if each.tls_version)),
        offered=dict(Counter(_offered(each) for each in connections if each.alpn_offered is not None)),
    )


def _offered(connection: Connection) -> str:
    return " ".join(connection.alpn_offered or ()) or NOTHING


def judge_wire(witness: WireWitness | None, arm: Arm) -> Iterator[Failure]:
    """Yield a failure where the wire does not agree with the arm."""
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
