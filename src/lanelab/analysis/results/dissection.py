"""What Wireshark's dissectors make of a trial's capture, packet by packet: one run of tshark, read into types."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.analysis.results.qpack import request_of
from lanelab.driver.base.errors import ArgumentError, CaptureError, LanelabError
from lanelab.driver.record.evidence.ends import Ends

BETWEEN, WITHIN = "\t", "\x1f"  # fields of a packet; values of a field
FIELDS = (
    *("frame.number", "frame.time_epoch", "frame.len", "tcp.stream", "tcp.srcport", "tcp.dstport", "tcp.len"),
    *("udp.srcport", "udp.dstport", "ip.src", "ip.dst", "tcp.seq", "tcp.nxtseq", "tcp.ack", "tcp.segment"),
    *("tls.segment",),
    *("http2.streamid", "http2.type", "http2.headers.authority", "http2.headers.path", "spdy.streamid"),
    *("http.request.full_uri", "http.response.code", "dns.qry.name", "_ws.col.Protocol", "_ws.col.Info"),
)
QUIC_FIELDS = ("quic.connection.number", "quic.stream.stream_id", "quic.stream_data", "udp.length")
SENT_AGAIN = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
H2_HEADERS = "1"  # a type of frame
UDP_HEADER = 8
# Bodies are put together by nobody here; where they are text, tshark 4.0 fails at it within SPDY.
OPTIONS = (
    *("-n", "-o", "spdy.assemble_data_frames:FALSE", "-o", "tcp.relative_sequence_numbers:TRUE"),
    # Without this what was lost and sent again is never put in its place: everything behind it is not dissected.
    *("-o", "tcp.reassemble_out_of_order:TRUE"),
)
OK = 200  # responses with lower numbers come before the one that counts
LONGEST_S = 600
SERVER_PORTS = (53, 80, 443)


@dataclass(frozen=True, slots=True)
class Frame:
    """One packet."""

    number: int
    at_us: int  # since 1970
    bytes: int
    up: bool  # from the client
    stream: int | None  # tshark's number of the TCP connection; of QUIC's, -1 for the first and so on
    ends: Ends | None  # of its connection; None: it is of none
    payload: int
    seq: int
    after: int  # the number behind it
    ack: int
    segments: frozenset[int]  # packets whose bytes are put together with this one's: by TCP
    records: frozenset[int]  # and by TLS
    again: bool  # sent again, or out of order
    streams: frozenset[int]  # of HTTP/2, SPDY and HTTP/3 that it has frames of
    opened: tuple[tuple[int, str], ...]  # HTTP/2's and HTTP/3's requests: stream, host and path
    targets: tuple[str, ...]  # HTTP/1.1 requests: host and path
    answers: int  # HTTP/1.1 responses that end in it
    name: str  # that is looked up
    protocol: str
    info: str

    @property
    def end(self) -> int:
        return self.after if self.payload else self.seq


def dissect(tshark: Path, capture: Path, clear: str | None, *, quic: bool = False) -> list[Frame]:
    """Return every packet of the file, decrypted with the keys in it. `clear`: what port 80 speaks, where that is not
    HTTP. `quic`: whether there is HTTP/3, of which not every tshark knows."""
    decode = ("-d", f"tcp.port==80,{clear}") if clear else ()
    again = {line[0] for line in _run(tshark, capture, decode, ("frame.number",), SENT_AGAIN)}
    fields = (*FIELDS[:-1], *QUIC_FIELDS, FIELDS[-1]) if quic else FIELDS  # the last one may have anything in it
    rows = (dict(zip(fields, line, strict=True)) for line in _run(tshark, capture, decode, fields))
    return [
        _of_quic(_frame(row, again), row) if row.get("quic.connection.number") else _frame(row, again) for row in rows
    ]


def _run(tshark: Path, capture: Path, decode: Sequence[str], fields: Sequence[str], only: str = "") -> list[list[str]]:
    return tshark_fields(tshark, capture, fields, only, (*OPTIONS, *decode))


def tshark_fields(
    tshark: Path, capture: Path, fields: Sequence[str], only: str, options: Sequence[str]
) -> list[list[str]]:
    """Return these fields of each packet that the filter takes, as text; a field may have several values. Only the last
    field may have any character in it."""
    wanted = [word for name in fields for word in ("-e", name)]
    chosen = ["-Y", only] if only else []
    form = ["-T", "fields", "-E", "separator=/t", "-E", f"aggregator={WITHIN}", *wanted]
    command = [str(tshark), *options, "-r", str(capture), *chosen, *form]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CaptureError(f"tshark could not read {capture}: {error}", "Try it by hand") from error
    if done.returncode:
        raise _refusal(done.stderr.decode(errors="replace"), capture, only)
    # Not splitlines(): an address may have characters at which that divides a line too.
    lines = done.stdout.decode(errors="replace").split("\n")
    return [line.split(BETWEEN, len(fields) - 1) for line in lines if line]


def _refusal(text: str, capture: Path, only: str) -> LanelabError:
    """Return what tshark objects to: fields, the filter, or the file."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" ^~\t")]
    lines = [line.removeprefix("tshark: ") for line in lines if not line.startswith("Running as user")]
    words = lines[0].rstrip(".") if lines else "it gave no reason"
    if "fields aren't valid" in words:
        what = f"tshark has no such field: {', '.join(lines[1:])}"
        return ArgumentError(what, "`tshark -G fields` lists all of them", key="fields")
    if only and lines and capture.name not in text:  # a file that it cannot read it calls by its name
        remedy = "Write a display filter of Wireshark's, like tcp.port == 80"
        return ArgumentError(f"tshark does not take {only!r}: {words}", remedy, key="filter")
    return CaptureError(f"tshark could not read {capture}: {words}", "Try it by hand")


def _frame(row: dict[str, str], again: set[str]) -> Frame:
    up = _number(row["tcp.dstport"] or row["udp.dstport"]) in SERVER_PORTS
    seq = _number(row["tcp.seq"]) or 0
    payload = _number(row["tcp.len"]) or 0
    streams = [int(each) for each in _values(row["http2.streamid"])]
    kinds = _values(row["http2.type"])
    opening = [stream for stream, kind in zip(streams, kinds, strict=False) if kind == H2_HEADERS] if up else []
    targets = [
        host + path
        for host, path in zip(_values(row["http2.headers.authority"]), _values(row["http2.headers.path"]), strict=False)
    ]
    return Frame(
        number=int(row["frame.number"]),
        at_us=_microseconds(row["frame.time_epoch"]),
        bytes=int(row["frame.len"]),
        up=up,
        stream=_number(row["tcp.stream"]),
        ends=_ends(row, up=up),
        payload=payload,
        seq=seq,
        after=_number(row["tcp.nxtseq"]) or seq + payload,
        ack=_number(row["tcp.ack"]) or 0,
        segments=frozenset(int(each) for each in _values(row["tcp.segment"])),
        records=frozenset(int(each) for each in _values(row["tls.segment"])),
        again=row["frame.number"] in again,
        streams=frozenset(streams) | {int(each) for each in _values(row["spdy.streamid"])},
        opened=tuple(zip(opening, targets, strict=False)),
        targets=tuple(uri.partition("://")[2] for uri in _values(row["http.request.full_uri"])),
        answers=sum(int(each) >= OK for each in _values(row["http.response.code"])),
        name=row["dns.qry.name"].partition(WITHIN)[0],
        protocol=row["_ws.col.Protocol"],
        info=row["_ws.col.Info"].strip(),
    )


def _ends(row: dict[str, str], *, up: bool) -> Ends | None:
    near, far = ("src", "dst") if up else ("dst", "src")
    client, server = (_number(row[f"tcp.{end}port"] or row[f"udp.{end}port"]) for end in (near, far))
    return None if client is None or server is None else Ends(client, row[f"ip.{far}"].partition(WITHIN)[0], server)


def _of_quic(frame: Frame, row: dict[str, str]) -> Frame:
    """Return the frame with what its streams carry. Those that a client opens for requests have numbers that 4 divides.
    Read here: tshark 4.0 does not decompress their headers, and behind early data it takes no stream for HTTP/3."""
    pieces = zip(_values(row["quic.stream.stream_id"]), _values(row["quic.stream_data"]), strict=False)
    requests = [(int(stream), data) for stream, data in pieces if int(stream) % 4 == 0]
    named = ((stream, request_of(bytes.fromhex(data.replace(":", "")))) for stream, data in requests if frame.up)
    return replace(
        frame,
        stream=-1 - int(_values(row["quic.connection.number"])[0]),
        payload=max((_number(row["udp.length"].partition(WITHIN)[0]) or 0) - UDP_HEADER, 0),
        streams=frozenset(stream for stream, _ in requests),
        opened=tuple((stream, name) for stream, name in named if name),
    )


def _values(field: str) -> list[str]:
    return field.split(WITHIN) if field else []


def _number(field: str) -> int | None:
    return int(_values(field)[0]) if field else None


def _microseconds(field: str) -> int:
    """Exactly: a float has not enough digits."""
    seconds, _, fraction = field.partition(".")
    return int(seconds) * 1_000_000 + int(fraction[:6].ljust(6, "0"))
