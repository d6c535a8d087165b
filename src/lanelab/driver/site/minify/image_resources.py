"""Images of a site by what was asked for: which rules apply, and the rewritten object or data URI in place of one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.site.minify.addresses import Address, escape_segment
from lanelab.driver.site.minify.clients import takes_data_uris, takes_lossless_webp, takes_webp
from lanelab.driver.site.minify.image_files import Box, Kind, kind_of, size_of
from lanelab.driver.site.minify.images import ImageRules, Kept, Rewritten, Wanted, data_uri, is_inlined, rewrite
from lanelab.driver.site.minify.minify_options import Wish
from lanelab.driver.site.minify.resources import Resource
from lanelab.driver.site.minify.work import Work

FILTER_ID = "ic"
FILTERS = (
    *("recompress_jpeg", "recompress_png", "recompress_webp", "convert_gif_to_png", "convert_png_to_jpeg"),
    *("convert_jpeg_to_webp", "convert_to_webp_lossless", "convert_jpeg_to_progressive", "resize_images"),
)
_cached: Callable[[bytes, ImageRules, Wanted], Rewritten | Kept] = lru_cache(maxsize=256)(rewrite)


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture that stands for an image: another body, or its own."""

    body: bytes
    kind: Kind | None
    box: Box | None
    rewritten: bool


def rules_of(wish: Wish) -> ImageRules:
    """Which browser asks decides about WebP."""
    generation, agent = wish.generation, wish.user_agent
    recompress_png = wish.has("recompress_png")
    return ImageRules(
        jpeg=wish.has("recompress_jpeg", "convert_jpeg_to_progressive"),
        png=recompress_png,
        webp=wish.has("recompress_webp"),
        gif_to_png=wish.has("convert_gif_to_png") or (recompress_png and generation.png_by_gif),
        png_to_jpeg=wish.has("convert_png_to_jpeg"),
        to_webp=wish.has("convert_jpeg_to_webp") and takes_webp(agent),
        to_webp_lossless=wish.has("convert_to_webp_lossless") and takes_lossless_webp(agent),
        resize=wish.has("resize_images"),
        resize_transparent=not generation.png_by_gif,
        jpeg_quality=generation.jpeg_quality,
        webp_quality=generation.webp_quality,
        progressive_from_bytes=generation.progressive_jpeg_bytes if wish.has("convert_jpeg_to_progressive") else None,
        subsampled=wish.has("jpeg_subsampling"),
    )


def picture_of(work: Work, resource: Resource, wanted: Wanted = (None, None)) -> Picture:
    """Return the image as the filters leave it. Notes what was not possible."""
    original = Picture(resource.body, kind_of(resource.body), size_of(resource.body), rewritten=False)
    if not work.wish.has(*FILTERS) or resource.address.rewritten:
        return original
    result = _cached(resource.body, rules_of(work.wish), wanted)
    if isinstance(result, Rewritten):
        return Picture(result.body, result.kind, result.box, rewritten=True)
    work.note(filter_of(original.kind), f"kept: {result.why}", resource.size, resource.size, resource.address)
    return original


def stored(work: Work, resource: Resource, picture: Picture, wanted: Wanted = (None, None)) -> Resource:
    """Return the rewritten image as an object of the site; notes it once."""
    if not picture.rewritten or picture.kind is None:
        return resource
    before = len(work.resources.additions)
    name = name_of(resource.address, wanted if work.wish.has("resize_images") else (None, None))
    resource_of_picture = work.resources.add((resource,), name, FILTER_ID, picture.body, picture.kind.extension)
    if len(work.resources.additions) > before:
        work.note(
            filter_of(kind_of(resource.body)),
            _what(resource, picture),
            resource.size,
            resource_of_picture.size,
            resource.address,
        )
    return resource_of_picture


def inlined(work: Work, picture: Picture, below: int) -> str | None:
    """The data URI that stands for it; None: it is too large, the browser takes none, or nobody asked for it."""
    if not work.wish.has("inline_images") or not takes_data_uris(work.wish.user_agent) or picture.kind is None:
        return None
    return data_uri(picture.body, picture.kind) if is_inlined(len(picture.body), below) else None


def written_in_css(work: Work, written: str, base: Address) -> str | None:
    """Return what a style sheet at `base` says instead of this reference to an image; None: the same."""
    resource = work.find(written, base)
    if resource is None or kind_of(resource.body) is None or resource.address.rewritten:
        return None
    picture = picture_of(work, resource)
    uri = inlined(work, picture, work.wish.generation.css_image_inline_bytes)
    if uri is not None:
        work.use(resource)
        work.note("inline_images", "became part of a style sheet", resource.size, len(uri), resource.address)
        return uri
    if not picture.rewritten:
        return None
    rewritten = stored(work, resource, picture)
    work.use(resource, rewritten)
    return work.written(rewritten, base)


def name_of(address: Address, wanted: Wanted) -> str:
    """Name a rewritten image: `[WxH]x` and the leaf; N for a side that the page does not say."""
    sides = "x".join("N" if side is None else str(side) for side in wanted)
    return f"{'' if wanted == (None, None) else sides}x{escape_segment(address.leaf)}"


def filter_of(kind: Kind | None) -> str:
    return {Kind.JPEG: "recompress_jpeg", Kind.GIF: "convert_gif_to_png", Kind.WEBP: "recompress_webp"}.get(
        kind or Kind.PNG, "recompress_png"
    )


def _what(resource: Resource, picture: Picture) -> str:
    old, new = kind_of(resource.body), picture.kind
    changed = f"{old.name} became {new.name}" if old and new and old is not new else "recompressed"
    size = size_of(resource.body)
    resized = picture.box and size and picture.box != size
    return f"{changed}, {picture.box.width} x {picture.box.height}" if resized and picture.box else changed
