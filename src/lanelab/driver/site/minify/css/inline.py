"""inline_css: small sheets become part of the page. inline_import_to_link: the other way round for a single @import."""

from collections.abc import Sequence

from lanelab.driver.site.minify.css.flatten import imports_of
from lanelab.driver.site.minify.css.sheets import (
    affects_screen,
    found_sheet,
    moved,
    plain_link,
    same_characters,
    sheet_charset,
    without_bom,
)
from lanelab.driver.site.minify.html.nodes import Node, RawText, StartTag, end_tag, start_tag
from lanelab.driver.site.minify.work import Work

LARGEST_IMPORT_BYTES = 4096  # of a style element: what is longer holds more than an address


def inline_css(work: Work) -> None:
    edits: dict[int, Sequence[Node]] = {}
    for each in work.page.elements("link"):
        media = _media(work, each.tag, each.in_noscript)
        sheet = found_sheet(work, each.tag.get("href")) if media is not None else None
        if sheet is None or sheet.size > work.wish.generation.css_inline_bytes:
            continue
        text = moved(work, without_bom(sheet.text), sheet.address, work.base)
        if "</style" in text.lower() or not same_characters(text, sheet_charset(work, sheet), work.charset):
            continue
        attributes = (("media", media),) if media else ()
        edits[each.index] = (start_tag("style", *attributes), RawText(text), end_tag("style"))
        work.use(sheet)
        work.note("inline_css", "became part of the page", sheet.size, len(text), sheet.address)
    work.page.edit(edits)


def _media(work: Work, tag: StartTag, in_noscript: bool) -> str | None:
    """That of the style element; None: the link stays. In 2012 any media but all did that; later what no screen
    shows, what stands in noscript, and unusual attributes."""
    media = tag.get("media") or ""
    if work.wish.generation.name == "2012":
        fits = tag.get("rel") == "stylesheet" and media in ("", "all") and tag.has("href")
        return "" if fits else None
    link = plain_link(tag)
    if link is None or in_noscript:
        return None
    return media if affects_screen(media) else None


def inline_import_to_link(work: Work) -> None:
    """Turn a style element that holds one @import and nothing else into a link."""
    edits: dict[int, Sequence[Node]] = {}
    for each in work.page.elements("style"):
        text = work.page.text_in(each.index)
        link = _as_link(each.tag, text) if text else None
        end = work.page.end_of(each.index)
        if text and link and end is not None:
            edits |= {each.index: (link,), each.index + 1: (), end: ()}
            work.note("inline_import_to_link", f"became {link.raw}", len(text), 0)
    work.page.edit(edits)


def _as_link(tag: StartTag, text: str) -> StartTag | None:
    head = imports_of(text)
    alone = len(head.imports) == 1 and head.parsed and not head.charset and not text[head.end :].strip()
    if not alone or len(text) > LARGEST_IMPORT_BYTES or tag.has("href") or tag.has("rel") or tag.unreadable:
        return None
    if (tag.get("type") or "text/css") != "text/css" or "/*" in text or "<!--" in text:
        return None
    first = head.imports[0]
    media = {each.strip() for each in (tag.get("media") or "").split(",")}
    if not first.address or (first.media and tag.has("media") and media != set(first.media.split(","))):
        return None
    extra = [("media", first.media)] if first.media and not tag.has("media") else []
    kept = [(each.name, each.value) for each in tag.attributes]
    return start_tag("link", ("rel", "stylesheet"), ("href", first.address), *kept, *extra)
