"""What an image file says of itself in its first bytes: its kind and its size in pixels. Nothing is decoded."""

import struct
from dataclasses import dataclass
from enum import Enum

PNG_HEADER = b"\x89PNG\r\n\x1a\n"
SHORTEST = 8  # bytes that tell the kind
_NO_SIZE_MARKERS = frozenset((0xC4, 0xC8, 0xCC))  # among C0 to CF, those that do not begin a frame


class Kind(Enum):
    """The kinds of images that the filters know: media type and file extension."""

    JPEG = ("image/jpeg", "jpg")
    PNG = ("image/png", "png")
    GIF = ("image/gif", "gif")
    WEBP = ("image/webp", "webp")

    @property
    def mime(self) -> str:
        return self.value[0]

    @property
    def extension(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class Box:
    """A size in pixels."""

    width: int
    height: int

    @property
    def area(self) -> int:
        return self.width * self.height


def kind_of(body: bytes) -> Kind | None:
    """By the file's first bytes: neither its name nor its media type is asked."""
    if len(body) < SHORTEST:
        return None
    if body.startswith(b"\xff\xd8"):
        return Kind.JPEG
    if body.startswith(PNG_HEADER):
        return Kind.PNG
    if body.startswith((b"GIF87a", b"GIF89a")):
        return Kind.GIF
    if len(body) >= 20 and body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return Kind.WEBP
    return None


def size_of(body: bytes) -> Box | None:
    """Width and height as the file's head has them; None where it is cut short or has neither."""
    finders = {Kind.JPEG: _jpeg_size, Kind.PNG: _png_size, Kind.GIF: _gif_size, Kind.WEBP: _webp_size}
    kind = kind_of(body)
    box = finders[kind](body) if kind else None
    return box if box and box.width > 0 and box.height > 0 else None


def png_chunks(body: bytes) -> tuple[bytes, ...]:
    """Return the names of a PNG's chunks in order, as far as it is whole."""
    names = []
    at = len(PNG_HEADER)
    while at + 8 <= len(body):
        length = int.from_bytes(body[at : at + 4], "big")
        names.append(body[at + 4 : at + 8])
        at += length + 12
    return tuple(names)


def _png_size(body: bytes) -> Box | None:
    if len(body) < 24 or body[12:16] != b"IHDR":
        return None
    return Box(*struct.unpack(">II", body[16:24]))


def _gif_size(body: bytes) -> Box | None:
    return Box(*struct.unpack("<HH", body[6:10])) if len(body) >= 10 else None


def _jpeg_size(body: bytes) -> Box | None:
    at = 2
    while at + 1 < len(body):
        marker = body[at]
        at += 1
        if marker == 0xFF:  # what markers begin with, and what fills the space before them
            continue
        if at + 2 > len(body):
            return None
        length = int.from_bytes(body[at : at + 2], "big")
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE_MARKERS and length >= 8 and at + 7 <= len(body):
            height, width = struct.unpack(">HH", body[at + 3 : at + 7])
            return Box(width, height)
        at += max(length, 2)
    return None


def _webp_size(body: bytes) -> Box | None:
    form = body[12:16]
    if form == b"VP8 " and len(body) >= 30:
        width, height = struct.unpack("<HH", body[26:30])
        return Box(width & 0x3FFF, height & 0x3FFF)
    if form == b"VP8L" and len(body) >= 25:
        bits = int.from_bytes(body[21:25], "little")
        return Box((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if form == b"VP8X" and len(body) >= 30:
        return Box(int.from_bytes(body[24:27], "little") + 1, int.from_bytes(body[27:30], "little") + 1)
    return None
