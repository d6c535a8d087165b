"""Captures made by hand: Ethernet frames, TCP segments, pcap files in every order and resolution."""

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

CLIENT, SERVER = "10.10.1.2", "10.10.2.2"
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT_HELLO = bytes.fromhex("1603010200010001fc0303") + bytes(500)


def checksum(data: bytes) -> int:
    words = struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2))
    total: int = sum(words)
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total ^ 0xFFFF


def ip(
    source: str,
    target: str,
    protocol: int,
    payload: bytes,
    *,
    options: bytes = b"",
    fragment: int = 0x4000,
    number: int = 7,
) -> bytes:
    """A frame; `number`: its identification."""
    if ":" in source:
        return bytes(12) + b"\x86\xdd" + ip6(source, target, protocol, payload)
    addresses = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    first, length = 0x45 + len(options) // 4, 20 + len(options) + len(payload)

    def header(check: int) -> bytes:
        return struct.pack(">BBHHHBBH", first, 0, length, number, fragment, 64, protocol, check) + addresses + options

    return bytes(12) + b"\x08\x00" + header(checksum(header(0))) + payload


def ip6(source: str, target: str, protocol: int, payload: bytes) -> bytes:
    """Without a frame around it."""
    addresses = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    return struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + addresses + payload


def stamped(value: int, echo: int) -> bytes:
    """TCP options as Linux writes them."""
    return struct.pack(">BBBBII", 1, 1, 8, 10, value & 0xFFFFFFFF, echo & 0xFFFFFFFF)


def tcp(
    ends: tuple[str, int, str, int],
    seq: int,
    ack: int,
    flags: int,
    payload: bytes = b"",
    *,
    options: bytes = b"",
    number: int = 7,
) -> bytes:
    """A frame."""
    source, source_port, target, target_port = ends
    head = struct.pack(
        ">HHIIBBHHH", source_port, target_port, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, (20 + len(options)) * 4, flags,
        500, 0, 0,
    )  # fmt: skip
    return ip(source, target, 6, head + options + payload, number=number)


def udp(source: str, source_port: int, target: str, target_port: int, payload: bytes, *, number: int = 7) -> bytes:
    head = struct.pack(">HHHH", source_port, target_port, 8 + len(payload), 0)
    return ip(source, target, 17, head + payload, number=number)


@dataclass
class Recorder:
    """Packets of one capture, in the order in which they were seen."""

    now_us: int = 1_700_000_000_000_000
    frames: list[tuple[int, bytes]] = field(default_factory=list)

    def wait(self, milliseconds: float) -> None:
        self.now_us += round(milliseconds * 1000)

    def add(self, frame: bytes, after_ms: float = 0.1) -> None:
        self.wait(after_ms)
        self.frames.append((self.now_us, frame))

    def pcap(self, *, order: str = "<", nanoseconds: bool = False, snaplen: int = 262144) -> bytes:
        return pcap(self.frames, order=order, nanoseconds=nanoseconds, snaplen=snaplen)


def pcap(
    frames: Iterable[tuple[int, bytes]],
    *,
    order: str = "<",
    nanoseconds: bool = False,
    snaplen: int = 262144,
    link: int = 1,
) -> bytes:
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)]
    for time_us, frame in frames:
        seconds, fraction = divmod(time_us, 1_000_000)
        kept = frame[:snaplen]
        head = struct.pack(order + "IIII", seconds, fraction * (1000 if nanoseconds else 1), len(kept), len(frame))
        parts.append(head + kept)
    return b"".join(parts)


@dataclass
class Talk:
    """One TCP connection that is written into a recorder, from the client's or the server's point of view."""

    recorder: Recorder
    port: int = 40000
    server_port: int = 80
    client_isn: int = 1000
    server_isn: int = 5000
    rtt_ms: float = 40.0
    client: str = CLIENT
    server: str = SERVER

    def __post_init__(self) -> None:
        self.up, self.down = self.client_isn, self.server_isn  # what comes next

    def segment(
        self,
        way: str,
        seq: int,
        ack: int,
        flags: int = ACK,
        payload: bytes = b"",
        *,
        window: int = 500,
        after_ms: float = 0.1,
    ) -> None:
        """Exactly this."""
        ends = (self.client, self.port, self.server, self.server_port)
        source, source_port, target, target_port = ends if way == "up" else (*ends[2:], *ends[:2])
        fields = (source_port, target_port, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 5 << 4, flags, window, 0, 0)
        self.recorder.add(ip(source, target, 6, struct.pack(">HHIIBBHHH", *fields) + payload), after_ms)

    def open(self) -> None:
        self.segment("up", self.up, 0, SYN)
        self.segment("down", self.down, self.up + 1, SYN | ACK, after_ms=self.rtt_ms)
        self.up, self.down = self.up + 1, self.down + 1
        self.segment("up", self.up, self.down)

    def say(self, way: str, payload: bytes, *, lost: bool = False, after_ms: float = 0.1) -> int:
        """The next bytes of a side; where they begin. When lost they are not in the capture."""
        seq, ack = (self.up, self.down) if way == "up" else (self.down, self.up)
        if not lost:
            self.segment(way, seq, ack, ACK | PSH, payload, after_ms=after_ms)
        if way == "up":
            self.up += len(payload)
        else:
            self.down += len(payload)
        return seq

    def repeat(self, way: str, seq: int, payload: bytes, *, after_ms: float = 0.1, flags: int = ACK | PSH) -> None:
        """What may have been sent before."""
        self.segment(way, seq, self.down if way == "up" else self.up, flags, payload, after_ms=after_ms)

    def close(self) -> None:
        self.segment("down", self.down, self.up, FIN | ACK, after_ms=1)
        self.segment("up", self.up, self.down + 1, FIN | ACK, after_ms=1)
        self.segment("down", self.down + 1, self.up + 1, ACK, after_ms=self.rtt_ms)
