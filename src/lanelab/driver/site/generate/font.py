"""A TrueType font that browsers take: the letters of the English alphabet as shapes of our own, and the wanted size.

What is missing to the size is a private table of noise, which readers pass over.
"""

import struct
from collections.abc import Mapping

from lanelab.driver.site.generate.noise import noise, numbers

MIME = "font/ttf"
EM = 1000
ADVANCE = 560
FIRST, LAST = 33, 126  # the characters that it has
PRIVATE = b"xtra"
ROW = 16  # of the directory of tables
CREATED = 3_400_000_000  # seconds since 1904


def least(seed: str) -> int:
    """Return the smallest font's size."""
    return len(_file({**_tables(seed), PRIVATE: b""}))


def font(seed: str, size: int) -> bytes:
    """A font of exactly that size; it is not below `least`."""
    return _file({**_tables(seed), PRIVATE: noise(f"{seed} table", size - least(seed))})


def _tables(seed: str) -> dict[bytes, bytes]:
    glyphs = [_box(60, 0, 440, 700), b"", *(_letter(f"{seed} {code}") for code in range(FIRST, LAST + 1))]
    places, glyf = [0], b""
    for glyph in glyphs:
        glyf += glyph
        places.append(len(glyf))
    count = len(glyphs)
    return {
        b"OS/2": _os2(),
        b"cmap": _cmap(),
        b"glyf": glyf,
        b"head": struct.pack(">IIIIHHqqhhhhHHhhh", 0x10000, 0x10000, 0, 0x5F0F3CF5, 3, EM, CREATED, CREATED,
                             0, -100, ADVANCE, 900, 0, 8, 2, 1, 0),
        b"hhea": struct.pack(">IhhhHhhhhhh8xhH", 0x10000, 800, -200, 0, ADVANCE, 0, 0, ADVANCE, 1, 0, 0, 0, count),
        b"hmtx": struct.pack(">Hh", ADVANCE, 60) * count,
        b"loca": struct.pack(f">{count + 1}I", *places),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", 0x10000, count, 8, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0),
        b"name": _name("Lanelab"),
        b"post": struct.pack(">IihhIIIII", 0x30000, 0, -75, 50, 0, 0, 0, 0, 0),
    }  # fmt: skip


def _file(tables: Mapping[bytes, bytes]) -> bytes:
    """Return the directory and the tables, with their sums. The last one is not padded, so that every size can be
    had."""
    power = len(tables).bit_length() - 1
    head = struct.pack(">IHHHH", 0x10000, len(tables), 16 << power, power, 16 * len(tables) - (16 << power))
    start = len(head) + ROW * len(tables)
    rows, body = b"", b""
    for tag, data in tables.items():  # in the order of their tags
        rows += tag + struct.pack(">III", _sum(data), start + len(body), len(data))
        body += data if tag == PRIVATE else data + bytes(-len(data) % 4)
    whole = head + rows + body
    at = whole.index(tables[b"head"]) + 8
    return whole[:at] + struct.pack(">I", (0xB1B0AFBA - _sum(whole)) & 0xFFFFFFFF) + whole[at + 4 :]


def _sum(data: bytes) -> int:
    padded = data + bytes(-len(data) % 4)
    words: tuple[int, ...] = struct.unpack(f">{len(padded) // 4}I", padded)
    return sum(words) & 0xFFFFFFFF


def _contour(points: list[tuple[int, int]]) -> bytes:
    """Return a glyph of one closed line through these points."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    out = struct.pack(">hhhhh", 1, min(xs), min(ys), max(xs), max(ys)) + struct.pack(">HH", len(points) - 1, 0)
    out += bytes([1]) * len(points)
    for values in (xs, ys):
        before = 0
        for value in values:
            out += struct.pack(">h", value - before)
            before = value
    return out + bytes(-len(out) % 4)


def _box(left: int, bottom: int, right: int, top: int) -> bytes:
    return _contour([(left, bottom), (left, top), (right, top), (right, bottom)])


def _letter(seed: str) -> bytes:
    chance = numbers(seed, 400)
    left, middle, right = 60, 260, 500
    return _contour(
        [
            (left, 0),
            (left, 300 + next(chance)),
            (middle, 300 + next(chance)),
            (right, 300 + next(chance)),
            (right, 0),
            (middle + 40, 100 + next(chance) // 4),
        ]
    )


def _cmap() -> bytes:
    """One table, format 4: the space, and the letters in one run."""
    ends, starts = (32, LAST, 0xFFFF), (32, FIRST, 0xFFFF)
    deltas = (1 - 32, 2 - FIRST, 1)
    segments = len(ends)
    inner = struct.pack(">HHHH", segments * 2, 4, 1, segments * 2 - 4)
    inner += struct.pack(f">{segments}HH{segments}H", *ends, 0, *starts)
    inner += struct.pack(f">{segments}H{segments}H", *(delta & 0xFFFF for delta in deltas), *([0] * segments))
    table = struct.pack(">HHH", 4, len(inner) + 6, 0) + inner
    return struct.pack(">HHHHI", 0, 1, 3, 1, 12) + table


def _name(family: str) -> bytes:
    texts = {1: family, 2: "Regular", 3: f"{family} 1", 4: family, 5: "Version 1.0", 6: family}
    records, stored = b"", b""
    for number, text in texts.items():
        data = text.encode("utf-16-be")
        records += struct.pack(">HHHHHH", 3, 1, 0x409, number, len(data), len(stored))
        stored += data
    return struct.pack(">HHH", 0, len(texts), 6 + len(records)) + records + stored


def _os2() -> bytes:
    return struct.pack(
        ">HhHHHhhhhhhhhhhh10sIIII4sHHHhhhHHII", 3, ADVANCE, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 250, 0,
        bytes(10), 1, 0, 0, 0, b"LNLB", 0x40, 32, LAST, 800, -200, 0, 800, 200, 1, 0,
    ) + struct.pack(">hhHHH", 500, 700, 0, 32, 1)  # fmt: skip
