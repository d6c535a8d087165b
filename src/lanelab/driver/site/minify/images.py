"""What becomes of one image: recompressed, converted, made as small as the page shows it, or kept.

An image that cannot be decoded whole, or that gains nothing, is kept byte for byte.
"""

import base64
from dataclasses import dataclass
from itertools import groupby

from PIL import Image, ImageChops, ImageFilter, ImageMath

from lanelab.driver.site.minify import image_codecs as codecs
from lanelab.driver.site.minify.image_files import Box, Kind, kind_of, size_of

LEAST_SHARE = 0.01  # of the fullest bin: fuller bins count
LEAST_WIDTH = 16  # bins in a row that make a photo
_DOWN = (1, 2, 1, 0, 0, 0, -1, -2, -1)
_RIGHT = (1, 0, -1, 2, 0, -2, 1, 0, -1)
_GAIN = 4  # of these weights


def is_photo(image: Image.Image) -> bool:
    """A photo has edges of every strength; a drawing has none, and some very strong ones."""
    if image.width < 3 or image.height < 3:
        return False
    grey = image.convert("L")
    strengths = _magnitude(_strength(grey, _DOWN), _strength(grey, _RIGHT))
    bins = strengths.crop((1, 1, image.width - 1, image.height - 1)).histogram()
    least = LEAST_SHARE * max(bins)
    runs = (len(list(run)) for full, run in groupby(bins, key=lambda count: count >= least) if full)
    return max(runs, default=0) >= LEAST_WIDTH


def _strength(grey: Image.Image, weights: tuple[int, ...]) -> Image.Image:
    """Return how steep it is in one direction. A filter cuts off what is below 0, so both signs are asked for."""
    up = grey.filter(ImageFilter.Kernel((3, 3), weights, scale=_GAIN))
    down = grey.filter(ImageFilter.Kernel((3, 3), tuple(-each for each in weights), scale=_GAIN))
    return ImageChops.add(up, down)


def _magnitude(one: Image.Image, other: Image.Image) -> Image.Image:
    return ImageMath.lambda_eval(  # type: ignore[no-any-return]
        lambda args: args["convert"](args["min"]((args["a"] ** 2 + args["b"] ** 2) ** 0.5 + 0.5, 255.0), "L"),
        a=one.convert("F"),
        b=other.convert("F"),
    )


@dataclass(frozen=True, slots=True)
class ImageRules:
    """What may be done to images; which release did what is docs/reference/minify.md's."""

    jpeg: bool = False  # recompress
    png: bool = False
    webp: bool = False
    gif_to_png: bool = False
    png_to_jpeg: bool = False
    to_webp: bool = False  # JPEG, and PNG that is a photo; where the browser takes it
    to_webp_lossless: bool = False
    resize: bool = False
    resize_transparent: bool = False
    jpeg_quality: int | None = None  # None: without losses
    webp_quality: int = 80
    progressive_from_bytes: int | None = None  # None: never
    subsampled: bool = True


@dataclass(frozen=True, slots=True)
class Rewritten:
    body: bytes
    kind: Kind
    box: Box
    what: str


@dataclass(frozen=True, slots=True)
class Kept:
    why: str


PREVIEW_QUALITY = 10
Wanted = tuple[int | None, int | None]  # width and height that the page says, in pixels


def rewrite(body: bytes, rules: ImageRules, wanted: Wanted = (None, None)) -> Rewritten | Kept:
    """Return the image with fewer bytes, or why it is kept."""
    kind = kind_of(body)
    if kind is None:
        return Kept("it is no JPEG, PNG, GIF or WebP")
    try:
        result = _rewritten(body, kind, rules, wanted)
    except codecs.Undecodable as error:
        return Kept(str(error))
    if isinstance(result, Rewritten) and len(result.body) >= len(body):
        return Kept(f"as {result.what} it would have {len(result.body):,} bytes")
    return result or Kept(f"no filter that is on changes a {kind.name}")


def _rewritten(body: bytes, kind: Kind, rules: ImageRules, wanted: Wanted) -> Rewritten | Kept | None:
    """Raises Undecodable."""
    image = codecs.decode(body)
    if codecs.frames_of(image) > 1 or (kind is Kind.PNG and codecs.is_animated_png(body)):
        return Kept("it is animated")
    if kind is Kind.JPEG and codecs.is_turned(image):
        return Kept("its metadata turns it, and browsers obey that")
    box = _smaller(image, rules, wanted)
    return _resized(image, kind, box, rules) if box else _recompressed(body, image, kind, rules)


def smaller_box(box: Box, wanted: Wanted) -> Box | None:
    """Return the size that the page shows it in, with a missing side in proportion, if that has a smaller area."""
    width, height = wanted
    if width is None:
        if height is None:
            return None
        width = height * box.width // box.height
    elif height is None:
        height = width * box.height // box.width
    shown = Box(width, height)
    return shown if 0 < shown.area < box.area else None


def preview(body: bytes, smallest: int, largest: int) -> bytes | None:
    """Return a JPEG of quality 10 to show until the image itself is there; None where it would not be smaller."""
    if not smallest <= len(body) <= largest:
        return None
    try:
        image = codecs.decode(body)
        if kind_of(body) not in (Kind.JPEG, Kind.PNG) or not codecs.is_opaque(image) or codecs.is_turned(image):
            return None
        smaller = codecs.to_jpeg(image, PREVIEW_QUALITY)
    except codecs.Undecodable:
        return None
    return smaller if len(smaller) < len(body) else None


def data_uri(body: bytes, kind: Kind) -> str:
    return f"data:{kind.mime};base64,{base64.b64encode(body).decode()}"


def _smaller(image: Image.Image, rules: ImageRules, wanted: Wanted) -> Box | None:
    if not rules.resize or not (rules.resize_transparent or codecs.is_opaque(image)):
        return None
    return smaller_box(Box(*image.size), wanted)


def _resized(image: Image.Image, kind: Kind, box: Box, rules: ImageRules) -> Rewritten | None:
    """An image that is resized is always written anew, as the kind that it would be converted to."""
    small = codecs.resized(image, box)
    size = f"at {box.width} x {box.height}"
    if kind is Kind.WEBP:
        return Rewritten(codecs.to_webp(small, rules.webp_quality), Kind.WEBP, box, f"WebP {size}")
    if kind is Kind.JPEG:
        if rules.to_webp:
            return Rewritten(codecs.to_webp(small, rules.webp_quality), Kind.WEBP, box, f"WebP {size}")
        if rules.jpeg_quality is None:
            body = codecs.optimize_jpeg(codecs.to_jpeg(small, codecs.RESIZED_JPEG_QUALITY))
        else:
            quality = min(codecs.jpeg_quality(image) or rules.jpeg_quality, rules.jpeg_quality)
            body = codecs.to_jpeg(small, quality, subsampled=rules.subsampled)
        return Rewritten(body, Kind.JPEG, box, f"JPEG {size}")
    return _converted(small, box, rules, size) or Rewritten(codecs.to_png(small), Kind.PNG, box, f"PNG {size}")


def _recompressed(body: bytes, image: Image.Image, kind: Kind, rules: ImageRules) -> Rewritten | None:
    box = Box(*image.size)
    if kind is Kind.JPEG:
        return _jpeg(body, image, box, rules)
    if kind is Kind.WEBP:
        webp = codecs.to_webp(image, rules.webp_quality) if rules.webp else None
        return Rewritten(webp, Kind.WEBP, box, "WebP, recompressed") if webp else None
    if kind is Kind.GIF:
        if not rules.gif_to_png:
            return None
        exact = _converted(image, box, rules)
        return exact or Rewritten(codecs.to_png(image), Kind.PNG, box, "PNG instead of GIF")
    converted = _converted(image, box, rules)
    if converted or not rules.png:
        return converted
    return Rewritten(codecs.optimize_png(body), Kind.PNG, box, "PNG, recompressed")


def _jpeg(body: bytes, image: Image.Image, box: Box, rules: ImageRules) -> Rewritten | None:
    if rules.to_webp:
        return Rewritten(codecs.to_webp(image, rules.webp_quality), Kind.WEBP, box, "WebP instead of JPEG")
    if not rules.jpeg:
        return None
    least = rules.progressive_from_bytes
    progressive = least is not None and len(body) >= least
    order = ", progressive" if progressive else ""
    quality = codecs.jpeg_quality(image)
    if rules.jpeg_quality is None or (quality is not None and quality <= rules.jpeg_quality):
        body_of_jpeg = codecs.optimize_jpeg(body, progressive=progressive)
        return Rewritten(body_of_jpeg, Kind.JPEG, box, f"JPEG, the same pixels{order}")
    body_of_jpeg = codecs.to_jpeg(image, rules.jpeg_quality, progressive=progressive, subsampled=rules.subsampled)
    return Rewritten(body_of_jpeg, Kind.JPEG, box, f"JPEG of quality {rules.jpeg_quality}{order}")


def _converted(image: Image.Image, box: Box, rules: ImageRules, size: str = "") -> Rewritten | None:
    """Return a PNG or GIF as another kind: with losses where it is a photo, without where it is none."""
    opaque = codecs.is_opaque(image)
    end = f" {size}".rstrip() or " instead of PNG or GIF"
    if rules.png_to_jpeg and opaque and is_photo(image):
        if rules.to_webp:
            return Rewritten(codecs.to_webp(image, rules.webp_quality), Kind.WEBP, box, f"WebP{end}")
        if rules.jpeg_quality is not None:
            body_of_jpeg = codecs.to_jpeg(image, rules.jpeg_quality, subsampled=rules.subsampled)
            return Rewritten(body_of_jpeg, Kind.JPEG, box, f"JPEG{end}")
        return None
    if rules.to_webp_lossless:
        return Rewritten(codecs.to_webp(image, None), Kind.WEBP, box, f"WebP without losses{end}")
    return None


def is_inlined(size: int, below: int) -> bool:
    """Return whether an image of that many bytes, before base64, goes into the page or style sheet itself."""
    return size < below


__all__ = [
    "Box",
    "ImageRules",
    "Kept",
    "Rewritten",
    "Wanted",
    "data_uri",
    "is_inlined",
    "preview",
    "rewrite",
    "size_of",
]
