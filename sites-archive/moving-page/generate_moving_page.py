"""Makes the files of a page whose vitals are known by construction, in the folder that is named.

In a view of 1366x768: 100 ms after the load event a notice of 100 px pushes a block of 1000x300 px down, a layout shift
of (1000 x 400) / (1366 x 768) x 100 / 1366 = 0.0279. Then a task keeps the main thread for 200 ms. The largest paint is
the picture of 640x360 px. A click on #more keeps the main thread for 120 ms before anything is to be seen.
"""

from __future__ import annotations

import hashlib
import struct
import sys
import zlib
from pathlib import Path

HOST = "moving.test"
WIDTH, HEIGHT = 640, 360
COLOURS = 64
STORED = 65_535  # the longest stored block of deflate
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A page that moves</title>
<link rel="icon" href="data:,">
<style>
body { margin: 0; font: 16px/24px sans-serif; }
#notice { height: 0; width: 1000px; overflow: hidden; background: #b04000; color: #fff; }
#story { height: 300px; width: 1000px; background: #dde4ee; }
#hero { position: absolute; left: 0; top: 402px; }
</style>
</head>
<body>
<div id="notice">This notice comes late, and pushes down what is below it.</div>
<div id="story"><p>This block is where a reader looks first.</p><button id="more">More</button></div>
<img id="hero" src="/hero.png" width="640" height="360" alt="">
<script>
const busy = (ms) => { const until = performance.now() + ms; while (performance.now() < until); };
document.getElementById("more").addEventListener("click", (event) => {
  busy(120);
  event.target.textContent = "Less";
});
addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
  document.getElementById("notice").style.height = "100px";
  setTimeout(() => busy(200), 50);
}, 100))));
</script>
</body>
</html>
"""


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def stored(data: bytes) -> bytes:
    """What zlib would compress to differs from one version to the next: nothing is compressed."""
    parts = [b"\x78\x01"]
    for at in range(0, len(data), STORED):
        block = data[at : at + STORED]
        last = at + STORED >= len(data)
        parts.append(struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block)
    return b"".join((*parts, struct.pack(">I", zlib.adler32(data))))


def picture() -> bytes:
    """Noise of few colours."""
    noise = b"".join(hashlib.sha256(b"hero %d" % number).digest() for number in range(WIDTH * HEIGHT // 32))
    pixels = bytes(each % COLOURS for each in noise)
    rows = b"".join(b"\0" + pixels[row * WIDTH : (row + 1) * WIDTH] for row in range(HEIGHT))
    colours = b"".join(bytes((40 + 3 * each, 90 + 2 * each, 200 - 2 * each)) for each in range(COLOURS))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", colours), (b"IDAT", stored(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*each) for each in parts)


def main() -> None:
    folder = Path(sys.argv[1]) / HOST
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "hero.png").write_bytes(picture())


if __name__ == "__main__":
    main()
