"""Other content of the same size, plain and encoded. Pure."""

import gzip
import io
from collections.abc import Callable

from PIL import Image, UnidentifiedImageError

from lanelab.driver.site.generate.images import FORMATS
from lanelab.driver.site.generate.images.common import TooSmall
from lanelab.driver.site.generate.noise import letters, noise, prose

GZIP_LEVEL = 6
HAS_COMMENT = 0x10  # a flag of gzip's head
OF_MIME = {"image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><path d="M2 2h20v20H2z"/><!-- {} --></svg>\n'


def image(seed: str, size: int, mime: str, recorded: bytes) -> bytes:
    """Return a picture of as many pixels where that can be; as many bytes in any case."""
    if mime == "image/svg+xml":
        room = size - len(SVG.format(""))
        return SVG.format(prose(seed, room)).encode("ascii") if room >= 0 else b" " * size
    form = FORMATS[OF_MIME.get(mime, "png")]
    even = size - size % 2 if form.extension == "webp" else size
    for width, height in (_dimensions(recorded), form.dimensions(even), (1, 1)):
        try:
            return form.encode(seed, even, width, height, 0) + bytes(size - even)
        except TooSmall:
            continue
    return noise(seed, size)


def _dimensions(recorded: bytes) -> tuple[int, int]:
    try:
        with Image.open(io.BytesIO(recorded)) as opened:
            return opened.size
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return 1, 1


def zipped(build: Callable[[int], bytes], plain: int, stored: int, seed: str, least: int) -> tuple[bytes, bytes]:
    """Return a text of `plain` bytes, and the same by gzip in `stored` bytes where that can be. `build` makes a text of
    a wanted size, at least `least`: what it is made shorter by becomes white space, which compresses better."""
    low, high, best = least, plain, least
    while low <= high:
        middle = (low + high) // 2
        if len(_gzip(_filled(build(middle), plain))) <= stored - 1:
            best, low = middle, middle + 1
        else:
            high = middle - 1
    text = _filled(build(best), plain)
    packed = _gzip(text)
    missing = stored - len(packed) - 1
    if missing < 0:
        return text, packed
    head = packed[:3] + bytes((packed[3] | HAS_COMMENT,)) + packed[4:10]
    return text, head + letters(f"{seed} comment", missing).encode("ascii") + b"\0" + packed[10:]


def _filled(text: bytes, size: int) -> bytes:
    return text + b"\n" * (size - len(text))


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, GZIP_LEVEL, mtime=0)
