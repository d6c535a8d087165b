"""What the encoders share."""

import math

from lanelab.driver.site.generate.noise import prose


class TooSmall(Exception):
    """No such image is that small; `least` bytes would do."""

    def __init__(self, least: int) -> None:
        super().__init__(f"at least {least} bytes")
        self.least = least


PARAGRAPH = 4096  # bytes of metadata that are written; the others repeat them


def shape(pixels: int, multiple: int = 1) -> tuple[int, int]:
    """Return width and height of about 4:3 with at most so many pixels, but at least one step."""
    width = max(multiple, math.isqrt(max(pixels, 1) * 4 // 3) // multiple * multiple)
    return width, max(multiple, pixels // width // multiple * multiple)


def comment(seed: str, size: int) -> bytes:
    """Return metadata: text, as programs and cameras leave it behind."""
    text = prose(f"{seed} comment", min(size, PARAGRAPH)).encode("ascii")
    return (text * -(-size // max(len(text), 1)))[:size]
