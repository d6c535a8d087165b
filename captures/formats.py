"""The formats in which captures are kept: pcap and pcapng, compressed by gzip or not. All become classic pcap."""

from __future__ import annotations

import gzip
import struct
import zlib

from model.errors import CaptureError

GZIP = b"\x1f\x8b"
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6  # blocks of pcapng
BYTE_ORDER = 0x1A2B3C4D
RESOLUTION = 9  # an option of an interface
DEFAULT_UNITS = 1_000_000  # of a second
NANOSECOND_PCAP = 0xA1B23C4D
LONGEST_SNAPLEN = 262_144


def classic(data: bytes, name: str) -> bytes:
    """The capture as classic pcap; what is neither pcapng nor compressed comes back as it is."""
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise CaptureError(f"{name} cannot be unpacked: {error}", "Copy it again from where it was made") from error
    if len(data) >= 12 and struct.unpack_from("<I", data)[0] == SECTION:
        return _from_pcapng(data, name)
    return data


def _from_pcapng(data: bytes, name: str) -> bytes:
    """One interface's packets, or those of several of the same kind, with times in nanoseconds."""
    order = "<" if struct.unpack_from("<I", data, 8)[0] == BYTE_ORDER else ">"
    units: list[int] = []  # of each interface: units of its times in a second
    kind, snaplen, at = 1, LONGEST_SNAPLEN, 0
    parts: list[bytes] = []
    while at + 12 <= len(data):
        block, length = struct.unpack_from(order + "II", data, at)
        if length < 12 or at + length > len(data):
            break
        body = data[at + 8 : at + length - 4]
        if block == INTERFACE:
            kind, _, written = struct.unpack_from(order + "HHI", body)
            snaplen = written or LONGEST_SNAPLEN
            units.append(_units(body[8:], order))
        elif block == PACKET:
            interface, high, low, captured, size = struct.unpack_from(order + "IIIII", body)
            per_second = units[interface] if interface < len(units) else DEFAULT_UNITS
            seconds, fraction = divmod(high << 32 | low, per_second)
            head = struct.pack("<IIII", seconds, fraction * 1_000_000_000 // per_second, captured, size)
            parts += (head, body[20 : 20 + captured])
        at += length
    if not units:
        raise CaptureError(f"{name} has no interface", "Was it recorded on one?")
    return struct.pack("<IHHiIII", NANOSECOND_PCAP, 2, 4, 0, 0, snaplen, kind) + b"".join(parts)


def _units(options: bytes, order: str) -> int:
    """How many units of its times an interface has in a second."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == RESOLUTION and length:
            exponent = options[at + 4]
            return int(2 ** (exponent & 0x7F) if exponent & 0x80 else 10**exponent)
        at += 4 + length + (-length % 4)
    return DEFAULT_UNITS
