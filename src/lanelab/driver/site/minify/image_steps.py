"""What the filters do to the images of a page: to <img> and to <input type=image>."""

import re
from collections.abc import Iterator

from lanelab.driver.site.minify.client_scripts import BLANK_IMAGE, client_script, lazyload_script
from lanelab.driver.site.minify.clients import takes_data_uris
from lanelab.driver.site.minify.html.nodes import EndTag, Node, RawText, StartTag, end_tag, start_tag
from lanelab.driver.site.minify.html.page import Element
from lanelab.driver.site.minify.image_files import Box, Kind
from lanelab.driver.site.minify.image_resources import Picture, inlined, picture_of, stored
from lanelab.driver.site.minify.images import Wanted, data_uri, preview
from lanelab.driver.site.minify.work import Work

_NUMBER = re.compile(r"[ \t\n\f\r]*\+?(\d+)(?:\.(\d*))?[ \t\n\f\r]*(?:px[ \t\n\f\r]*)?", re.ASCII)
_DECLARATION = re.compile(r"(?:^|;)\s*(width|height)\s*:([^;]*)", re.IGNORECASE)
_STYLE_SIZE = re.compile(r"(\d+)(?:\.\d+)?(?:px)?", re.IGNORECASE | re.ASCII)
LARGEST = 2**31 - 1


def length_of(value: str | None) -> int | None:
    """Return whole pixels; None for percentages, other units, nothing and 0, all of which browsers treat otherwise."""
    match = _NUMBER.fullmatch(value) if value is not None else None
    if match is None:
        return None
    digits, fraction = match.groups()
    if len(digits) > len(str(LARGEST)):
        return None
    pixels = int(digits)
    if not 1 <= pixels <= LARGEST:
        return None
    return pixels + 1 if fraction and fraction[0] >= "5" and pixels < LARGEST else pixels


def wanted_of(width: str | None, height: str | None, style: str | None) -> Wanted:
    """Return what the page says. A style whose size is no number of pixels means that nobody knows."""
    styled: dict[str, int] = {}
    for name, value in _DECLARATION.findall(style or ""):
        match = _STYLE_SIZE.fullmatch(value.strip())
        if match is None or not 0 < int(match[1][:11]) <= LARGEST:
            return None, None
        styled[name.lower()] = int(match[1])
    return styled.get("width", length_of(width)), styled.get("height", length_of(height))


def has_any(width: str | None, height: str | None, style: str | None) -> bool:
    return width is not None or height is not None or bool(_DECLARATION.search(style or ""))


HIGH_RES, LAZY = "pagespeed_high_res_src", "pagespeed_lazy_src"
LAZY_ONLOAD = "pagespeed.lazyLoadImages.loadIfVisible(this);"
# What does not work with lazy loading: a page with this script, an image of this class.
NOT_LAZY_SCRIPT, NOT_LAZY_CLASS = "jquery.sexyslider", "dfcg-metabox"


def rewrite_images(work: Work) -> None:
    """Recompress, convert, resize, inline, and say how large they are."""
    edits: dict[int, list[Node]] = {}
    for element in _images(work):
        tag = element.tag
        source = tag.get("src")
        resource = work.find(source)
        if resource is None or resource.address.rewritten:
            continue
        wanted = wanted_of(tag.get("width"), tag.get("height"), tag.get("style"))
        picture = picture_of(work, resource, wanted)
        uri = inlined(work, picture, work.wish.generation.image_inline_bytes)
        if uri is not None:
            work.use(resource)
            work.note("inline_images", "became part of the page", resource.size, len(uri), resource.address)
            edits[element.index] = [_with_uri(tag, uri, picture, wanted)]
            continue
        new = tag
        if picture.rewritten:
            rewritten = stored(work, resource, picture, wanted)
            work.use(resource, rewritten)
            new = new.with_value("src", work.written(rewritten))
        edits[element.index] = [_with_size(work, new, picture)]
    work.page.edit(edits)


def inline_previews(work: Work) -> None:
    """Put a small preview in an image's place until a script after the last of them has the real ones loaded."""
    if not takes_data_uris(work.wish.user_agent):
        return
    generation = work.wish.generation
    edits: dict[int, list[Node]] = {}
    last = None
    for number, element in enumerate(_images(work)):
        if generation.preview_images is not None and number >= generation.preview_images:
            break
        resource = work.find(element.tag.get("src"))
        if resource is None or element.tag.name != "img":
            continue
        small = preview(resource.body, generation.preview_from_bytes, generation.preview_up_to_bytes)
        source = element.tag.get("src")
        if small is None or source is None:
            continue
        tag = element.tag.with_value("src", data_uri(small, Kind.JPEG)).with_value(HIGH_RES, source)
        edits[element.index] = [tag]
        last = element.index
        work.note("inline_preview_images", "got a preview", resource.size, len(small), resource.address)
    if last is not None:
        edits[last] += script_nodes(client_script("delay_images"))
    work.page.edit(edits)


def lazyload_images(work: Work) -> None:
    """Load images when they come into sight."""
    head = next((index for index, node in enumerate(work.page.nodes) if _ends_head(node)), None)
    scripts = (element.tag.get("src") or "" for element in work.page.elements("script"))
    if head is None or any(NOT_LAZY_SCRIPT in each for each in scripts):
        return
    edits: dict[int, list[Node]] = {head: [*script_nodes(lazyload_script()), work.page.nodes[head]]}
    for element in work.page.elements("img"):
        source = element.tag.get("src")
        if element.index < head or element.in_noscript or not source or source.startswith("data:"):
            continue
        if NOT_LAZY_CLASS in (element.tag.get("class") or "") or element.tag.has("onload") or element.tag.has(LAZY):
            continue
        work.postpone(source)
        tag = element.tag.with_value("src", BLANK_IMAGE).with_value(LAZY, source).with_value("onload", LAZY_ONLOAD)
        edits[element.index] = [tag]
    if len(edits) > 1:
        what = f"{len(edits) - 1} images wait until they are in sight"
        before = len(work.page.written())
        work.page.edit(edits)
        work.note("lazyload_images", what, before, len(work.page.written()))


def script_nodes(script: str) -> list[Node]:
    return [start_tag("script", ("type", "text/javascript")), RawText(script), end_tag("script")]


def _images(work: Work) -> Iterator[Element]:
    for element in work.page.elements("img", "input"):
        tag = element.tag
        if tag.get("src") and (tag.name == "img" or tag.get("type") == "image"):
            yield element


def _with_uri(tag: StartTag, uri: str, picture: Picture, wanted: Wanted) -> StartTag:
    """Return the tag with the address. Its width and height go where they are the image's own."""
    new = tag.with_value("src", uri)
    is_its_box = picture.box and wanted == (picture.box.width, picture.box.height)
    return new.without("width").without("height") if is_its_box else new


def _with_size(work: Work, tag: StartTag, picture: Picture) -> StartTag:
    if not work.wish.has("insert_img_dimensions") or picture.box is None:
        return tag
    if has_any(_given(tag, "width"), _given(tag, "height"), tag.get("style")):
        return tag
    box: Box = picture.box
    new = tag.with_value("width", str(box.width)).with_value("height", str(box.height))
    work.note("insert_img_dimensions", f"{box.width} x {box.height}", len(tag.raw), len(new.raw))
    return new


def _given(tag: StartTag, name: str) -> str | None:
    return (tag.get(name) or "") if tag.has(name) else None


def _ends_head(node: Node) -> bool:
    return isinstance(node, EndTag) and node.name == "head"
