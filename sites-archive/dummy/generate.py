"""Makes the files of the dummy site in the folder that is named: the same bytes on every machine and Python.

Nothing here depends on a library's choices: noise is SHA-256 of a counter, and the PNG files hold it in stored deflate
blocks, since what zlib compresses to differs from one version to the next. Each pixel is one of 84 palette entries, so
a byte of it carries log2(84) = 6.4 bits: an optimiser of images takes about a fifth off, as in the published results.
"""

from __future__ import annotations

import hashlib
import struct
import sys
import zlib
from pathlib import Path

HOST = "dummy.test"
HTML_BYTES = 14_000
CSS_BYTES = {"base": 520, "layout": 440, "colours": 340}
IMAGE_BYTES = (
    *(4_200, 6_100, 8_300, 10_900, 13_700, 17_200, 21_400, 25_800, 30_900, 36_700),
    *(42_800, 49_300, 56_200, 64_100, 73_500, 84_600, 97_400, 118_300, 142_900, 195_700),
)  # 1,100,000 in all: many small ones and a few large, as pages have
ORDER = (19, 3, 11, 7, 15, 0, 17, 5, 13, 9, 1, 18, 6, 12, 2, 16, 8, 14, 4, 10)  # on the page: sizes mixed

COLOURS = 84
STORED = 65_535  # the longest stored block of deflate
CHUNK = 12  # what a PNG chunk adds to its data
COMMENT = b"Comment\0"

TEXT = (
    "page load time is what a reader waits for and every object of a page takes its share some wait for a connection "
    "some for the line and some for each other small things wait as long as large ones when the road is long while on "
    "a narrow road the large ones count this text says nothing more but it fills its place so that the page has the "
    "size that it should have"
)
WORDS = TEXT.split()


def noise(seed: str, count: int) -> bytes:
    """`count` numbers below COLOURS, all equally likely."""
    fair = 256 - 256 % COLOURS
    table = bytes(value % COLOURS for value in range(256))
    references, block = bytearray(), 0
    while len(references) < count:
        digests = (hashlib.sha256(f"{seed}/{block + step}".encode()).digest() for step in range(256))
        references += b"".join(digests).translate(table, bytes(range(fair, 256)))
        block += 256
    return bytes(references[:count])


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def stored(data: bytes) -> bytes:
    """A zlib stream that holds the data as it is."""
    parts = [b"\x78\x01"]
    for start in range(0, len(data), STORED):
        part = data[start : start + STORED]
        last = start + STORED >= len(data)
        parts.append(struct.pack("<BHH", last, len(part), len(part) ^ 0xFFFF) + part)
    return b"".join([*parts, struct.pack(">I", zlib.adler32(data))])


def palette(number: int) -> bytes:
    """From dark to bright in a hue of the image's own."""
    weights = ((3, 1, 2), (1, 3, 2), (2, 1, 3), (3, 2, 1), (1, 2, 3), (2, 3, 1))[number % 6]
    return bytes(40 + step * weight * 70 // 100 for step in range(COLOURS) for weight in weights)


def dimensions(size: int) -> tuple[int, int]:
    """Width and height of an image of about 4:3 that fits into `size` bytes with some to spare."""
    width = 4 * next(step for step in range(4, 1000) if 12 * (step + 1) ** 2 > size)
    overhead = 8 + 25 + CHUNK + 3 * COLOURS + CHUNK + 12 + CHUNK + len(COMMENT) + 6 + 5 * (size // STORED + 1)
    return width, (size - overhead) // (width + 1)


def image(number: int) -> bytes:
    """A PNG of exactly the size it should have: what is missing to it is a comment."""
    size = IMAGE_BYTES[number]
    width, height = dimensions(size)
    pixels = noise(f"image {number}", width * height)
    rows = b"".join(b"\0" + pixels[row * width : (row + 1) * width] for row in range(height))
    head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
    tail = chunk(b"PLTE", palette(number)) + chunk(b"IDAT", stored(rows)) + chunk(b"IEND", b"")
    room = size - len(head) - len(tail) - CHUNK - len(COMMENT)
    return head + chunk(b"tEXt", COMMENT + b"-" * room) + tail


def prose(seed: str, size: int) -> str:
    """Text of exactly that many characters."""
    picks = noise(seed, size)
    text = " ".join(WORDS[pick % len(WORDS)] for pick in picks[: size // 2])
    text = text[: size - 1].rstrip()
    return text[0].upper() + text[1:] + "." * (size - len(text))


def page() -> bytes:
    sheets = "\n".join(f'<link rel="stylesheet" href="style/{name}.css">' for name in CSS_BYTES)
    sections = []
    for place, number in enumerate(ORDER, start=1):
        width, height = dimensions(IMAGE_BYTES[number])
        sections.append(
            f'<section>\n<h2>Part {place}</h2>\n<img src="images/{number + 1:02}.png" width="{width}" '
            f'height="{height}" alt="Picture {number + 1}">\n<p>{{}}</p>\n</section>\n'
        )
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>The dummy page</title>\n'
        f'<link rel="icon" href="data:,">\n{sheets}\n</head>\n<body>\n<h1>The dummy page</h1>\n'
    )
    tail = "</body>\n</html>\n"
    room = HTML_BYTES - len(head + tail) - sum(len(section) - 2 for section in sections)
    each, rest = divmod(room, len(sections))
    filled = (
        section.format(prose(f"section {place}", each + (rest if place == 0 else 0)))
        for place, section in enumerate(sections)
    )
    return (head + "".join(filled) + tail).encode("ascii")


def sheet(name: str) -> bytes:
    rules = {
        "base": "body {\n  margin: 0 auto;\n  max-width: 60em;\n  padding: 1em;\n  font-family: serif;\n"
        "  line-height: 1.4;\n}\n\nh1 {\n  font-size: 2em;\n}\n\nh2 {\n  font-size: 1.3em;\n}\n",
        "layout": "section {\n  overflow: hidden;\n  margin-bottom: 1em;\n}\n\nimg {\n  float: left;\n"
        "  margin-right: 1em;\n  max-width: 50%;\n  height: auto;\n}\n",
        "colours": "body {\n  color: #222222;\n  background-color: #fdfdfb;\n}\n\nh1,\nh2 {\n  color: #203a5c;\n}\n",
    }[name]
    room = CSS_BYTES[name] - len(rules) - len("/*  */\n")
    return f"/* {prose(name, room)} */\n{rules}".encode("ascii")


def main(folder: Path) -> None:
    for below in ("images", "style"):
        (folder / HOST / below).mkdir(parents=True)
    (folder / HOST / "index.html").write_bytes(page())
    for name in CSS_BYTES:
        (folder / HOST / "style" / f"{name}.css").write_bytes(sheet(name))
    for number in range(len(IMAGE_BYTES)):
        (folder / HOST / "images" / f"{number + 1:02}.png").write_bytes(image(number))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
