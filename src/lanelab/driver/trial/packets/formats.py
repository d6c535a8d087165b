"""The formats in which captures are kept: pcap and pcapng, compressed by gzip or not. All become classic pcap."""

import gzip
import struct
import zlib
from typing import NamedTuple

from lanelab.driver.base.errors import CaptureError

GZIP = b"\x1f\x8b"
SECTION, INTERFACE, OLD_PACKET, SIMPLE_PACKET, PACKET = 0x0A0D0D0A, 1, 2, 3, 6  # blocks of pcapng
BYTE_ORDER = 0x1A2B3C4D
RESOLUTION, OFFSET = 9, 14  # options of an interface
DEFAULT_UNITS = 1_000_000  # of a second
NANOSECOND_PCAP = 0xA1B23C4D
LONGEST_SNAPLEN = 262_144
MOST_SECONDS = 0xFFFF_FFFF  # that a pcap can tell


class Interface(NamedTuple):
    """Units of its times in a second, and the seconds at which they begin."""

    link: int
    snaplen: int
    units: int
    offset: int


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
    """Return one interface's packets, or those of several of the same kind, with times in nanoseconds."""
    order, at = "<", 0
    interfaces: list[Interface] = []  # of the section
    seen: set[int] = set()
    snaplen, parts = 0, list[bytes]()
    try:
        while at + 12 <= len(data):
            if struct.unpack_from("<I", data, at)[0] == SECTION:
                order = "<" if struct.unpack_from("<I", data, at + 8)[0] == BYTE_ORDER else ">"
                interfaces = []
            block, length = struct.unpack_from(order + "II", data, at)
            if length < 12 or at + length > len(data):
                break
            body = data[at + 8 : at + length - 4]
            if block == INTERFACE:
                interfaces.append(_interface(body, order))
                snaplen = max(snaplen, interfaces[-1].snaplen)
                seen.add(interfaces[-1].link)
            elif block in (PACKET, OLD_PACKET):
                parts += _packet(body, order, interfaces, old=block == OLD_PACKET)
            elif block == SIMPLE_PACKET:
                parts += _simple_packet(body, order, interfaces[0])
            at += length
    except (struct.error, IndexError) as error:
        raise CaptureError(f"{name} is broken at byte {at}", "Copy it again from where it was made") from error
    if not seen:
        raise CaptureError(f"{name} has no interface", "Was it recorded on one?")
    if len(seen) > 1:
        raise CaptureError(f"{name} mixes link types {sorted(seen)}", "Capture on one interface")
    return struct.pack("<IHHiIII", NANOSECOND_PCAP, 2, 4, 0, 0, snaplen, seen.pop()) + b"".join(parts)


def _packet(body: bytes, order: str, interfaces: list[Interface], *, old: bool) -> tuple[bytes, bytes]:
    """Return a record's head and its bytes."""
    number, high, low, captured, size = struct.unpack_from(order + ("HxxIIII" if old else "IIIII"), body)
    interface = interfaces[number]
    seconds, fraction = divmod(high << 32 | low, interface.units)
    kept = body[20 : 20 + captured]
    seconds = min(MOST_SECONDS, max(0, seconds + interface.offset))
    return struct.pack(
        "<IIII", seconds, fraction * 1_000_000_000 // interface.units, len(kept), max(size, len(kept))
    ), kept


def _simple_packet(body: bytes, order: str, interface: Interface) -> tuple[bytes, bytes]:
    """Return one of the first interface, without a time."""
    (size,) = struct.unpack_from(order + "I", body)
    kept = body[4 : 4 + min(size, interface.snaplen)]
    return struct.pack("<IIII", 0, 0, len(kept), size), kept


def _interface(body: bytes, order: str) -> Interface:
    kind, _, snaplen = struct.unpack_from(order + "HHI", body)
    units, offset, at = DEFAULT_UNITS, 0, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        if code == RESOLUTION and length:
            exponent = body[at + 4]
            units = int(2 ** (exponent & 0x7F) if exponent & 0x80 else 10 ** min(exponent, 18))
        elif code == OFFSET and length == 8:
            (offset,) = struct.unpack_from(order + "q", body, at + 4)
        at += 4 + length + (-length % 4)
    return Interface(kind, snaplen or LONGEST_SNAPLEN, units, offset)
