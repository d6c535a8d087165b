"""Images of exactly the size that is wanted, which every decoder reads: noise, a plain part, and metadata.

Encoders of our own, since what a library writes differs from one of its versions to the next. Noise is what an
optimiser cannot take away; the plain part and the metadata are what it can.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lanelab.driver.site.generate.images import gif, jpeg, png, webp


@dataclass(frozen=True, slots=True)
class Format:
    """`encode(seed, size, width, height, metadata)` gives a file of `size` bytes, at least `metadata` of them metadata;
    raises TooSmall. `dimensions(size)`: width and height of an image that fills so many bytes with noise."""

    mime: str
    extension: str
    encode: Callable[[str, int, int, int, int], bytes]
    dimensions: Callable[[int], tuple[int, int]]


FORMATS: Mapping[str, Format] = {
    "png": Format("image/png", "png", png.encode, png.dimensions),
    "jpeg": Format("image/jpeg", "jpg", jpeg.encode, jpeg.dimensions),
    "gif": Format("image/gif", "gif", gif.encode, gif.dimensions),
    "webp": Format("image/webp", "webp", webp.encode, webp.dimensions),
}
