"""rewrite_css: sheets, style elements and style attributes are minified, with the images that they name."""

from collections.abc import Sequence
from dataclasses import dataclass

import rcssmin  # type: ignore[import-untyped]

from lanelab.driver.site.minify.addresses import Address, escape_segment
from lanelab.driver.site.minify.css.flatten import flattened
from lanelab.driver.site.minify.css.scan import Reference, Token, references, tokens, whole, with_addresses
from lanelab.driver.site.minify.css.sheets import BOM, found_sheet, is_sheet, sheet_charset, without_bom
from lanelab.driver.site.minify.css.sprites import sprited
from lanelab.driver.site.minify.extend import extended
from lanelab.driver.site.minify.html.nodes import Node, RawText, StartTag
from lanelab.driver.site.minify.image_resources import written_in_css
from lanelab.driver.site.minify.resources import Resource
from lanelab.driver.site.minify.work import Work

SEPARATES = ",>+~"  # white space beside these means nothing in a selector


def mean_nothing(text: str) -> bool:
    """Return whether white space can be taken out by who knows CSS as it was before rules stood within rules. There "
    :hover" of a nested rule would become ":hover", another selector; and where a comment stands between two parts of a
    selector, they would come apart: "a/**/.b" would become "a .b"."""
    blocks: list[bool] = []  # of those that are open: whether it is a rule's own, and not of @media or the like
    prelude: list[Token] = []
    for each in tokens(text):
        if each.text == "{":
            is_rule = not _is_at_rule(prelude)
            if (blocks and blocks[-1]) or (is_rule and _has_joint(prelude)):
                return False
            blocks.append(is_rule)
        elif each.text == "}" and blocks:
            blocks.pop()
        prelude = [] if each.kind == "other" and each.text in "{};" else [*prelude, each]
    return True


def _is_at_rule(prelude: Sequence[Token]) -> bool:
    first = next((each for each in prelude if each.kind not in ("space", "comment", "cdo")), None)
    return first is not None and first.kind == "at"


def _separates(token: Token) -> bool:
    return token.kind in ("space", "cdo") or token.text in SEPARATES


def _has_joint(selector: Sequence[Token]) -> bool:
    """Return whether comments alone are between two of its parts."""
    before: Token | None = None
    commented = False
    for each in selector:
        if each.kind == "comment":
            commented = before is not None
            continue
        if commented and before and not _separates(before) and not _separates(each):
            return True
        before, commented = each, False
    return False


def rewritten_images(work: Work, text: str, address: Address) -> str:
    """Return the text with other addresses of images of the page's own host."""

    def change(reference: Reference) -> str | None:
        if reference.imports or "#" in reference.address:
            return None
        image = work.find(reference.address, address)
        if image is None or not image.is_image:
            return None
        new = written_in_css(work, reference.address, address)
        if new is not None:
            return new
        longer = extended(work, image)
        if longer is None:
            return None
        work.use(image, longer)
        return work.written(longer, address)

    return with_addresses(text, change)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A text of CSS and where it stands. `media` and `charset` are those that its place gives it."""

    text: str
    address: Address
    charset: str


def rewrite_css(work: Work) -> None:
    edits: dict[int, Sequence[Node]] = {}
    for each in work.page.elements():
        tag = each.tag
        if tag.name == "style":
            edits |= _style_element(work, each.index, tag)
        if is_sheet(tag) and work.wish.has("rewrite_css", "flatten_css_imports"):
            tag = _link(work, tag)
        if tag.has("style"):
            tag = _attribute(work, tag)
        if tag is not each.tag:
            edits[each.index] = (tag,)
    work.page.edit(edits)


def minified(text: str) -> str:
    """Return a sheet without white space and comments that mean nothing; as it is where that cannot be told."""
    return str(rcssmin.cssmin(text)) if mean_nothing(text) else text


def _style_element(work: Work, index: int, tag: StartTag) -> dict[int, Sequence[Node]]:
    text = work.page.text_in(index)
    if not text or (tag.get("type") or "text/css").lower() != "text/css" or not work.wish.has("rewrite_css"):
        return {}
    new = _rewritten(work, Sheet(text, work.base, work.charset))
    if new is None or "</style" in new.lower():
        return {}
    work.note("rewrite_css", "a style element", len(text), len(new))
    return {index + 1: (RawText(new),)}


def _link(work: Work, tag: StartTag) -> StartTag:
    sheet = found_sheet(work, tag.get("href"))
    if sheet is None or work.keeps_hash("rewrite_css", tag, sheet):
        return tag
    charset = sheet_charset(work, sheet)
    new = _rewritten(work, Sheet(without_bom(sheet.text), sheet.address, charset))
    if new is None:
        return tag
    body = ((BOM if sheet.text.startswith(BOM) else "") + new).encode("latin-1")
    rewritten = work.resources.add([sheet], _name(work, sheet), "cf", body, "css")
    work.use(sheet, rewritten)
    work.note("rewrite_css", f"became {rewritten.address.leaf}", sheet.size, len(body), sheet.address)
    return tag.with_value("href", work.written(rewritten))


def _name(work: Work, sheet: Resource) -> str:
    """The module's letter says whether images may be part of the sheet."""
    letter = "I" if work.wish.generation.css_image_inline_bytes else "A"
    return f"{letter}.{escape_segment(sheet.address.leaf)}"


def _rewritten(work: Work, sheet: Sheet) -> str | None:
    """None: nothing is better than it was, or it cannot be parsed."""
    if not whole(sheet.text):
        if not work.wish.has("fallback_rewrite_css_urls"):
            return None
        text = rewritten_images(work, sheet.text, sheet.address)
        return text if text != sheet.text else None
    text = sheet.text
    if work.wish.has("flatten_css_imports"):
        text = flattened(work, text, sheet.address, sheet.charset)
    if work.wish.has("sprite_images"):
        text = sprited(work, text, sheet.address)
    text = rewritten_images(work, text, sheet.address)
    changed = text != sheet.text
    small = minified(text) if work.wish.has("rewrite_css") else text
    if not small and sheet.text.strip():
        return None  # a sheet of nothing but comments stays
    return small if changed or len(small) < len(sheet.text) else None


def _attribute(work: Work, tag: StartTag) -> StartTag:
    """Return all of them, or those that name something, as the wish says."""
    value = tag.get("style")
    all_of_them = work.wish.has("rewrite_style_attributes")
    if not value or not (all_of_them or (work.wish.has("rewrite_style_attributes_with_url") and references(value))):
        return tag
    if not whole(f"a{{{value}}}") or "{" in value:
        return tag
    text = rewritten_images(work, value, work.base)
    small = minified(f"a{{{text}}}")[2:-1]
    if not small or (text == value and len(small) >= len(value)):
        return tag
    name = "rewrite_style_attributes" + ("" if all_of_them else "_with_url")
    work.note(name, "a style attribute", len(value), len(small))
    return tag.with_value("style", small)
