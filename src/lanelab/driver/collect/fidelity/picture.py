"""Two pictures of a page, and where they differ."""

import io
from dataclasses import dataclass

from PIL import Image, ImageChops

from lanelab.driver.base.errors import RecordError

SEEN = 24  # of 255, in one of the colours: less than that nobody sees, and fonts are drawn so differently
DARKER = 3  # where nothing differs, the picture of differences shows the page so many times fainter


@dataclass(frozen=True, slots=True)
class Compared:
    share: float  # of the pixels that differ
    difference: bytes  # as PNG: the page faintly, with what differs in red


def compare(recorded: bytes, loaded: bytes) -> Compared:
    """Pixel by pixel, from the upper left corner. What only one of them has differs. Raises RecordError."""
    old, new = _read(recorded, "recorded"), _read(loaded, "loaded")
    size = max(old.width, new.width), max(old.height, new.height)
    both = min(old.width, new.width), min(old.height, new.height)
    off = ImageChops.difference(old.crop((0, 0, *both)), new.crop((0, 0, *both)))
    red, green, blue = off.split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    mask = Image.new("L", size, 255)
    mask.paste(most.point(lambda value: 255 if value > SEEN else 0), (0, 0))
    differing = mask.histogram()[255]
    return Compared(differing / (size[0] * size[1]), _drawn(new, mask))


def _read(data: bytes, which: str) -> Image.Image:
    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise RecordError(f"the {which} picture of the page cannot be read: {error}") from error


def _drawn(page: Image.Image, mask: Image.Image) -> bytes:
    canvas = Image.new("RGB", mask.size, "white")
    canvas.paste(page.convert("L").point(lambda value: 255 - (255 - value) // DARKER).convert("RGB"), (0, 0))
    canvas.paste((208, 0, 0), (0, 0), mask)
    out = io.BytesIO()
    canvas.save(out, "PNG")
    return out.getvalue()
