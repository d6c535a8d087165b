"""What a page says ahead of what it needs, and how urgent that is: links that preload, and `fetchpriority`. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from lanelab.driver.base.errors import InputError
from lanelab.driver.site import bodies
from lanelab.driver.site.coding import decoded, encoded
from lanelab.driver.site.minify.html.nodes import Node, StartTag, start_tag
from lanelab.driver.site.minify.html.page import Element, Page
from lanelab.driver.site.push_plan import OFF, page_of, pushed_paths
from lanelab.driver.site.site import Site, SiteObject, StoredObject

FIRST_IMAGE = "first-image"
KINDS = (FIRST_IMAGE, "images", "scripts", "styles")
LEVELS = ("high", "low")
_SCRIPTS = ("text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript")
_ORIGIN = "http://page.invalid"
_FONTS = ("application/font-woff", "application/font-woff2", "application/vnd.ms-fontobject")


@dataclass(frozen=True, slots=True)
class Hint:
    """An object of the page's host that the browser is told of before it finds it."""

    path: str
    kind: str  # as `as` of a link has it
    crossorigin: bool  # whether it is asked for in the mode of CORS, as the page will

    @property
    def header(self) -> str:
        """Return the hint as a value of `Link`."""
        return f"<{self.path}>; rel=preload; as={self.kind}" + ("; crossorigin" if self.crossorigin else "")


def hints(site: Site, wish: str, key: str) -> tuple[Hint, ...]:
    """Return what this wish is for, in the words of server push. `key`: the setting. Raises InputError."""
    return tuple(_hint(site, path, key) for path in pushed_paths(site, wish, key))


def _hint(site: Site, path: str, key: str) -> Hint:
    host = site.entry_host
    each = next(one for one in site.objects if (one.method, one.host, one.path) == ("GET", host, path))
    if each.mime == "text/css":
        return Hint(path, "style", crossorigin=False)
    if each.mime in _SCRIPTS:
        return Hint(path, "script", crossorigin=False)
    if each.mime.startswith("image/"):
        return Hint(path, "image", crossorigin=False)
    if each.mime.startswith("font/") or each.mime in _FONTS:
        return Hint(path, "font", crossorigin=True)
    what = f"{site.name}: {path} is {each.mime}, and style sheets, scripts, images and fonts alone can be preloaded"
    raise InputError(what, "Name other paths", key=key)


def hinted(site: Site, *, preload: str, fetchpriority: str) -> Site:
    """Return the site as it was prepared, with a page that says these things. Raises InputError."""
    page = page_of(site, "preload" if preload != OFF else "fetchpriority")
    stored = bodies.read(site.content, page)
    plain = decoded(stored)
    if plain.object.encoding:
        raise InputError(f"{site.name}: its page has a coding that nobody knows", "Leave preload out", key="preload")
    body = plain.body
    if preload != OFF:
        body = with_links(body, hints(site, preload, "preload"), site.entry_path)
    if fetchpriority != OFF:
        body = with_priorities(body, levels_of(fetchpriority), site.name)
    changed = StoredObject(replace(plain.object, size=len(body)), body)
    if stored.object.encoding:
        changed = encoded(changed, stored.object.encoding)
    objects: list[SiteObject] = list(site.objects)
    (objects[objects.index(page)],) = bodies.store(site.content, [changed])
    return replace(site, objects=tuple(objects))


def with_links(body: bytes, hints: Sequence[Hint], path: str) -> bytes:
    """Return links that preload these, first in the head; behind the charset where a meta tag says that, since browsers
    look for it near the beginning."""
    page = Page.read(body)
    base = urljoin(f"{_ORIGIN}{path}", page.base or "")
    modules = {_joined(base, src) for src in _modules(page)}
    links = [_link(each, modules) for each in hints]
    meta = [each for each in page.elements("meta") if each.tag.has("charset") or each.tag.has("http-equiv")]
    first = next(iter([*(each for each in meta if each.in_head), *page.elements("head"), *page.elements("html")]), None)
    if first is None:
        return b"".join(each.raw.encode("latin-1") for each in links) + body
    page.edit({first.index: (first.tag, *links)})
    return page.written()


def _modules(page: Page) -> list[str]:
    scripts = page.elements("script")
    return [src for each in scripts if each.tag.get("type") == "module" and (src := each.tag.get("src"))]


def _link(each: Hint, modules: Collection[str]) -> Node:
    if f"{_ORIGIN}{each.path}" in modules:
        return start_tag("link", ("rel", "modulepreload"), ("href", each.path))
    cors = [("crossorigin", None)] if each.crossorigin else []
    return start_tag("link", ("rel", "preload"), ("as", each.kind), ("href", each.path), *cors)


def levels_of(text: str) -> Mapping[str, str]:
    """Return kind of element -> level."""
    return dict(word.split("=") for word in text.split(","))


def with_priorities(body: bytes, levels: Mapping[str, str], name: str) -> bytes:
    """Set the attribute at elements of these kinds. The level of the first image wins over that of all images. Raises
    InputError where the page has none of a kind."""
    page = Page.read(body)
    edits: dict[int, Sequence[Node]] = {}
    for kind in sorted(levels, key=lambda each: each == FIRST_IMAGE):
        elements = _elements(page, kind)
        if not elements:
            what = f"{name}: its page has no {kind.replace('-', ' ')} of its own"
            raise InputError(what, "Name another kind, or leave fetchpriority out", key="fetchpriority")
        for each in elements:
            edits[each.index] = (each.tag.with_value("fetchpriority", levels[kind]),)
    page.edit(edits)
    return page.written()


def _elements(page: Page, kind: str) -> list[Element]:
    if kind in (FIRST_IMAGE, "images"):
        images = [each for each in page.elements("img") if each.tag.get("src") and not each.in_noscript]
        return images[:1] if kind == FIRST_IMAGE else images
    if kind == "scripts":
        return [each for each in page.elements("script") if each.tag.get("src") and not each.in_noscript]
    return [each for each in page.elements("link") if _is_sheet(each.tag) and not each.in_noscript]


def urgencies(site: Site) -> Mapping[str, str]:
    """Return what the site's page says of the urgency of its images and scripts: address without a scheme -> level."""
    stored = decoded(bodies.read(site.content, page_of(site, "fetchpriority")))
    page = Page.read(stored.body)
    base = urljoin(f"http://{site.entry_host}{site.entry_path}", page.base or "")
    by_address: dict[str, str] = {}
    for each in page.elements("img", "script"):
        level, source = each.tag.get("fetchpriority"), each.tag.get("src")
        if level and source:
            by_address.setdefault(_joined(base, source).partition("//")[2], level)
    return by_address


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:  # no address at all
        return ""


def _is_sheet(tag: StartTag) -> bool:
    return "stylesheet" in (tag.get("rel") or "").lower().split() and bool(tag.get("href"))
