"""A capture and its TLS keys in one file, which Wireshark opens decrypted.

pcapng as in draft-ietf-opsawg-pcapng: a Section Header, the keys as a Decryption Secrets Block, one Interface
Description, and each packet as an Enhanced Packet Block with the time and the bytes that it had.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.trial.packets.packets import Opened, open_capture, places

SECTION, INTERFACE, PACKET, SECRETS = 0x0A0D0D0A, 1, 6, 10
BYTE_ORDER = 0x1A2B3C4D
TLS_KEY_LOG = 0x544C534B
OF_UNKNOWN_LENGTH = -1
PROGRAM, DEVICE, RESOLUTION = 4, 2, 9  # options: of a section, of an interface
# Captures are mostly images and ciphertext, in which more effort finds nothing; the heads of packets are like those
# of the packets just before them. A window of 8 KiB and much memory for it take a fifth less time than zlib's own.
COMPRESSION, GZIP_OF_8_KIB, MOST_MEMORY = 1, 16 + 13, 9
AT_ONCE = 1 << 20  # bytes that are compressed in one go
MICROSECONDS, NANOSECONDS = 6, 9  # powers of ten


def embed_keys(pcap: bytes | Path, keys: str, out: Path, device: str = "eth0") -> int:
    """Write capture and key log (in the format of SSLKEYLOGFILE; may be empty) to `out`, gzip'ed; how many packets.

    Packets behind a place where the capture is broken are left out. The same input makes the same bytes.
    """
    capture = open_capture(pcap)
    packed = zlib.compressobj(COMPRESSION, zlib.DEFLATED, GZIP_OF_8_KIB, MOST_MEMORY, zlib.Z_FILTERED)
    count, length, parts = 0, 0, [_head(capture, keys, device)]
    with out.open("wb") as file:
        for block in _packets(capture):
            count += 1
            parts += block
            length += len(block[1])
            if length >= AT_ONCE:
                file.write(packed.compress(b"".join(parts)))
                length, parts = 0, []
        file.write(packed.compress(b"".join(parts)) + packed.flush())
    return count


def _head(capture: Opened, keys: str, device: str) -> bytes:
    section = struct.pack("<IHHq", BYTE_ORDER, 1, 0, OF_UNKNOWN_LENGTH)
    blocks = [_block(SECTION, section, _option(PROGRAM, b"lanelab"))]
    if keys:
        secrets = keys.encode()
        blocks.append(_block(SECRETS, struct.pack("<II", TLS_KEY_LOG, len(secrets)) + secrets))
    resolution = NANOSECONDS if capture.fraction_ns == 1 else MICROSECONDS
    interface = struct.pack("<HHI", capture.link, 0, capture.snaplen)
    options = _option(DEVICE, device.encode()), _option(RESOLUTION, bytes([resolution]))
    return b"".join([*blocks, _block(INTERFACE, interface, *options)])


def _packets(capture: Opened) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield what is before each packet, the packet, what is behind it."""
    head, fraction_ns, data = struct.Struct("<IIIIIII").pack, capture.fraction_ns, capture.data
    for now, size, begin, end in places(capture):
        time, captured = now // fraction_ns, end - begin
        padding = -captured % 4
        length = 32 + captured + padding
        start = head(PACKET, length, 0, time >> 32, time & 0xFFFF_FFFF, captured, size)
        yield start, data[begin:end], bytes(padding) + length.to_bytes(4, "little")


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value) if value else b""


def _block(kind: int, body: bytes, *options: bytes) -> bytes:
    packed = b"".join(options)
    end = struct.pack("<HH", 0, 0) if packed else b""
    inside = _padded(body) + packed + end
    length = struct.pack("<I", len(inside) + 12)
    return struct.pack("<I", kind) + length + inside + length


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
