"""The first packets of a load of a server, and the connections that they show.

A load has too many packets to keep. What its client captures ends by itself after some packets of each connection: the
beginnings of connections, and no requests one by one. With the keys of QUIC it is kept as pcapng, else as pcap.
"""

import gzip
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.record.evidence.packets import Connection, FlowSummary, PacketSummary, QuicSummary
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_content import unchanged_artifacts
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.trial.packets.key_log import key_log
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.packets.pcapng import embed_keys

NAMES = ("first.pcapng.gz", "first.pcap.gz")
SECTION = b"\x0a\x0d\x0d\x0a"  # with which a pcapng file begins
DEVICE = "any"  # on which a load is captured
TCP, QUIC = "tcp", "quic"
US_OF_MS = 1000


@dataclass(frozen=True, slots=True)
class FirstConnection(Coded):
    """One connection, as far as it was captured. Times: ms since the first packet of the capture."""

    client_port: int
    server: str
    server_port: int
    over: str  # tcp or quic
    first_ms: float
    last_ms: float
    packets: int
    bytes: int  # of whole frames
    handshake: bool  # all of it is there
    handshake_ms: float | None  # one round trip; None: it is not known
    spoken: str | None  # what the client's first data is; over QUIC what the server chose by ALPN. None: not captured
    tls: str | None  # None: in clear, or not captured


@dataclass(frozen=True, slots=True)
class FirstPackets(Coded):
    """The capture of one trial."""

    file: str  # its name in the folder of the trial
    packets: int
    incomplete: str | None  # why a part of it could not be read
    connections: tuple[FirstConnection, ...]  # in the order of their beginnings


def first_packets(folder: Path, trial: int) -> FirstPackets:
    """Return what the first packets of a load show. InputError where the trial has none; CaptureError or StoreError
    where they cannot be read."""
    record = read_record(folder, trial)
    if record.workload != LOAD:
        remedy = f"lanelab show RUN --trial {trial} says what it did"
        raise InputError(f"trial {trial} was no load of a server", remedy)
    path = first_capture(folder, trial)
    if path is None:
        raise InputError(f"trial {trial} has no first packets", _why_none(record))
    capture = unpacked(path)
    keys = key_log(capture) if capture.startswith(SECTION) else ""
    summary = summarise(capture, keys=keys)
    return FirstPackets(path.name, summary.packets, summary.incomplete, _connections(summary))


def first_capture(folder: Path, trial: int) -> Path | None:
    """Return the file with the first packets of a load, which is what was stored; None where there is none."""
    place = unchanged_artifacts(folder, trial, NAMES)
    return next((place / name for name in NAMES if (place / name).is_file()), None)


def unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise StoreError(f"{path} cannot be read: {error}", "Copy the run folder again") from error


def as_pcapng(capture: bytes) -> bytes:
    """Return a capture as pcapng, whichever of the two it is."""
    if capture.startswith(SECTION):
        return capture
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / NAMES[0]
        embed_keys(capture, "", written, device=DEVICE)
        return unpacked(written)


def _why_none(record: TrialRecord) -> str:
    if record.failures:
        return f"It failed ({record.failures[0].reason}), perhaps before its load began"
    return "Its files were removed"


def _connections(summary: PacketSummary) -> tuple[FirstConnection, ...]:
    flows = [(each, each.quic) for each in summary.by_udp_flow]
    over_quic = [_over_quic(each, quic, summary.first_us) for each, quic in flows if quic is not None]
    over_tcp = [_over_tcp(each, summary.first_us) for each in summary.by_connection]
    return tuple(sorted((*over_tcp, *over_quic), key=lambda each: (each.first_ms, each.client_port)))


def _over_tcp(each: Connection, since_us: int) -> FirstConnection:
    facts = _Facts(TCP, each.handshake, each.handshake_rtt_us, each.spoken_up, each.tls_version)
    return _connection(each, facts, since_us)


def _over_quic(each: FlowSummary, quic: QuicSummary, since_us: int) -> FirstConnection:
    facts = _Facts(QUIC, quic.complete, quic.handshake_rtt_us, quic.alpn_chosen, quic.tls_version)
    return _connection(each, facts, since_us)


class _Facts(NamedTuple):
    """The facts that TCP and QUIC tell in ways of their own."""

    over: str
    handshake: bool
    round_trip_us: int | None
    spoken: str | None
    tls: str | None


def _connection(each: Connection | FlowSummary, facts: _Facts, since_us: int) -> FirstConnection:
    return FirstConnection(
        client_port=each.client_port,
        server=each.server,
        server_port=each.server_port,
        over=facts.over,
        first_ms=(each.first_us - since_us) / US_OF_MS,
        last_ms=(each.last_us - since_us) / US_OF_MS,
        packets=each.packets_up + each.packets_down,
        bytes=each.bytes_up + each.bytes_down,
        handshake=facts.handshake,
        handshake_ms=None if facts.round_trip_us is None else facts.round_trip_us / US_OF_MS,
        spoken=facts.spoken,
        tls=facts.tls,
    )
