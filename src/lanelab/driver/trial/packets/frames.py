"""Where TCP and UDP are in a frame: Ethernet, with VLAN tags or not, Linux cooked captures, raw IP; IPv4 and IPv6."""

import functools
import socket
import struct
from typing import NamedTuple

ETHERNET, COOKED, COOKED_2, RAW, RAW_4, RAW_6, NULL, LOOP = 1, 113, 276, 101, 228, 229, 0, 108
LINKS = (ETHERNET, COOKED, COOKED_2, RAW, RAW_4, RAW_6, NULL, LOOP)
ETHERTYPE_AT = {ETHERNET: 12, COOKED: 14, COOKED_2: 0}  # and the network's header comes at:
NETWORK_AT = {ETHERNET: 14, COOKED: 16, COOKED_2: 20, RAW: 0, RAW_4: 0, RAW_6: 0, NULL: 4, LOOP: 4}
IPV4, IPV6 = 0x0800, 0x86DD
TAGS = (0x8100, 0x88A8, 0x9100)  # 802.1Q, 802.1ad, and what was in use before
MOST_TAGS = 8
TCP, UDP = 6, 17
TCP_HEADER, UDP_HEADER = 20, 8
FRAGMENT_OFFSET = 0x1FFF
FRAGMENT, AUTHENTICATION = 44, 51
EXTENSIONS = (0, 43, 60, 135, FRAGMENT, AUTHENTICATION)  # headers of IPv6 that others follow
NO_ID = -1
_IP4 = struct.Struct(">BxHHHxBxx4s4s").unpack_from  # version, length, identification, fragment, protocol, addresses
_IP6 = struct.Struct(">B3xHBx16s16s").unpack_from  # version, length, next header, addresses


class Inside(NamedTuple):
    """The content of a frame; `protocol` 0 where it is neither TCP nor UDP, or a fragment behind the first."""

    protocol: int
    source: bytes
    target: bytes
    at: int  # where its header begins
    length: int  # of header and data, as it was on the wire
    ip_id: int

    @property
    def source_name(self) -> str:
        return text(self.source)

    @property
    def target_name(self) -> str:
        return text(self.target)


def inside(data: bytes, frame: int, end: int, size: int, link: int) -> Inside | None:
    """Look inside the frame from there to there, `size` bytes on the wire. None: no IP, or too little of it was
    captured."""
    at = frame + NETWORK_AT[link]
    if at >= end:
        return None
    if link in ETHERTYPE_AT:
        begin = frame + ETHERTYPE_AT[link]
        kind, tags = int.from_bytes(data[begin : begin + 2]), 0
        while kind in TAGS and at + 4 < end and tags < MOST_TAGS:
            kind, at, tags = int.from_bytes(data[at + 2 : at + 4]), at + 4, tags + 1
    else:
        kind = {4: IPV4, 6: IPV6}.get(data[at] >> 4, 0)
    if kind == IPV4:
        return _ipv4(data, at, end, size - (at - frame))
    return _ipv6(data, at, end, size - (at - frame)) if kind == IPV6 else None


def _ipv4(data: bytes, at: int, end: int, size: int) -> Inside | None:
    if at + 20 > end:
        return None
    version, length, ip_id, fragment, protocol, source, target = _IP4(data, at)
    header = (version & 0x0F) * 4
    if version >> 4 != 4 or header < 20:
        return None
    whole = not fragment & FRAGMENT_OFFSET and _fits(protocol, at + header, end)
    return Inside(protocol if whole else 0, source, target, at + header, (length or size) - header, ip_id)


def _ipv6(data: bytes, at: int, end: int, size: int) -> Inside | None:
    if at + 40 > end:
        return None
    version, length, protocol, source, target = _IP6(data, at)
    if version >> 4 != 6:
        return None
    place, stop = at + 40, at + 40 + (length or size - 40)
    while protocol in EXTENSIONS and place + 8 <= end:
        if protocol == FRAGMENT and int.from_bytes(data[place + 2 : place + 4]) >> 3:
            protocol = 0
            break
        units = data[place + 1]
        step = 8 if protocol == FRAGMENT else units * 4 + 8 if protocol == AUTHENTICATION else units * 8 + 8
        protocol, place = data[place], place + step
    return Inside(protocol if _fits(protocol, place, end) else 0, source, target, place, stop - place, NO_ID)


def _fits(protocol: int, at: int, end: int) -> bool:
    """Return whether the header that says to which flow it belongs was captured."""
    return (protocol == TCP and at + TCP_HEADER <= end) or (protocol == UDP and at + 4 <= end)


def turned(ends: bytes) -> bytes:
    """Return source and destination, each address and then each port, the other way round."""
    half = (len(ends) - 4) // 2
    return ends[half:-4] + ends[:half] + ends[-2:] + ends[-4:-2]


def address(ends: bytes) -> str:
    """Return the address of the source."""
    return text(ends[: (len(ends) - 4) // 2])


@functools.lru_cache(maxsize=4096)  # a capture has the same few in each of its packets
def text(address: bytes) -> str:
    return socket.inet_ntop(socket.AF_INET if len(address) == 4 else socket.AF_INET6, address)
