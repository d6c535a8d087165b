"""What the filters of style sheets share: links to sheets, addresses that move with their text, characters."""

import re
from dataclasses import dataclass

from lanelab.driver.site.minify.addresses import Address
from lanelab.driver.site.minify.css.scan import Reference, with_addresses
from lanelab.driver.site.minify.html.nodes import StartTag
from lanelab.driver.site.minify.resources import Resource
from lanelab.driver.site.minify.work import Work

BOM = "\xef\xbb\xbf"
EXPECTED = frozenset({"href", "rel", "media", "type"})
CHARSET = re.compile(r'@charset "([^"]{1,40})";')  # written in no other way
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class SheetLink:
    href: str
    media: str  # "": none


def is_sheet(tag: StartTag) -> bool:
    """Return whether this link loads a style sheet."""
    return tag.name == "link" and "stylesheet" in (tag.get("rel") or "").lower().split()


def plain_link(tag: StartTag) -> SheetLink | None:
    """A link with the attributes of a style sheet and no other; None: something about it is special."""
    href, rel = tag.get("href"), tag.get("rel")
    special = {each.name for each in tag.attributes} - EXPECTED
    if href is None or rel is None or rel.lower() != "stylesheet" or special or tag.unreadable:
        return None
    if tag.has("type") and (tag.get("type") or "").lower() != "text/css":
        return None
    return SheetLink(href, tag.get("media") or "")


def found_sheet(work: Work, href: str | None) -> Resource | None:
    sheet = work.find(href)
    return sheet if sheet and sheet.is_css else None


def without_bom(text: str) -> str:
    return text.removeprefix(BOM)


def moved(work: Work, text: str, old: Address, new: Address) -> str:
    """Return a sheet's text for a place where its relative addresses would lead elsewhere."""
    if old.host == new.host and old.folder == new.folder:
        return text

    def change(reference: Reference) -> str | None:
        written = reference.address.strip()
        if not written or written.startswith(("#", "//")) or SCHEME.match(written):
            return None
        plain, mark, fragment = written.partition("#")
        address = old.resolve(plain)
        return written_at(work, address, new) + mark + fragment if address else None

    return with_addresses(text, change)


def written_at(work: Work, address: Address, base: Address) -> str:
    if work.wish.generation.absolute_urls:
        return f"{work.scheme}://{address.host}{address.path}"
    return address.relative_to(base)


def sheet_charset(work: Work, sheet: Resource) -> str:
    """Return the charset as browsers find it: by its first bytes, its header, its own @charset, else that of the
    page."""
    if sheet.text.startswith(BOM):
        return "utf-8"
    rule = CHARSET.match(sheet.text)
    return sheet.charset or (rule[1].lower() if rule else work.charset)


def same_characters(text: str, one: str, other: str) -> bool:
    """Return whether text of one charset says the same in another. Where nothing says one, it is that of what is
    around."""
    return without_bom(text).isascii() or one in ("", other)


def affects_screen(media: str) -> bool:
    """Return whether a medium of this list may be a screen; "" means all."""
    return not media.strip() or any(_may_be_screen(each.strip().lower()) for each in media.split(","))


def _may_be_screen(query: str) -> bool:
    query = query.removeprefix("only ").strip()
    other = query.startswith("not ")
    kind = re.split(r"[ (]", query.removeprefix("not ").strip())[0]
    return (kind in ("", "screen", "all")) is not other
