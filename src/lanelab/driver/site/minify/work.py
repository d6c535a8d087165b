"""What a filter works on: one page, the site's resources, and what was asked for."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lanelab.driver.site.minify.addresses import Address
from lanelab.driver.site.minify.effects import Effect
from lanelab.driver.site.minify.html.nodes import StartTag
from lanelab.driver.site.minify.html.page import Page
from lanelab.driver.site.minify.minify_options import Wish
from lanelab.driver.site.minify.resources import Resource, Resources
from lanelab.driver.site.site import CONTENT_TYPE, Headers

CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


@dataclass(slots=True)
class Work:
    page: Page
    address: Address  # of the page
    scheme: str  # that the page is served with
    resources: Resources
    wish: Wish
    headers: Headers  # of the page; filters may add to them
    effects: list[Effect] = field(default_factory=list)

    @property
    def base(self) -> Address:
        """Return what the page's references are relative to."""
        written = self.page.base
        return (self.address.resolve(written) if written else None) or self.address

    @property
    def charset(self) -> str:
        """Return the charset of the page: by its header, else by a meta tag; "" where nothing says it."""
        types = [value for name, value in self.headers if name.lower() == CONTENT_TYPE]
        for each in self.page.elements("meta"):
            types.append(f"charset={each.tag.get('charset') or ''}")
            types += [each.tag.get("content") or ""] if each.tag.has("http-equiv") else []
        return next((match[1].lower() for value in types if (match := CHARSET.search(value))), "")

    def find(self, written: str | None, base: Address | None = None) -> Resource | None:
        """The resource that a reference names, if it may be rewritten: it is of the page's own host, was answered,
        and may be cached by many."""
        if written is None or not self.wish.fetches or written.lstrip().lower().startswith("data:"):
            return None
        address = (base or self.base).resolve(written)
        if address is None or address.host != self.address.host:
            return None
        resource = self.resources.find(address)
        return resource if resource and resource.cacheable else None

    def keeps_hash(self, name: str, tag: StartTag, file: Resource) -> bool:
        """Return whether the tag says the hash of what it loads: with another content a browser would refuse it."""
        if not tag.get("integrity"):
            return False
        self.note(name, "kept: its tag says the hash of it", file.size, file.size, file.address)
        return True

    def written(self, resource: Resource, base: Address | None = None) -> str:
        """Return how a page or style sheet at `base` names a rewritten resource."""
        if self.wish.generation.absolute_urls:
            return f"{self.scheme}://{resource.address.host}{resource.address.path}"
        return resource.address.relative_to(base or self.base)

    def use(self, old: Resource, new: Resource | None = None) -> None:
        """A reference to the old one is gone: it names the new one, or what the old one says is part of the page."""
        gone = set(old.sources) if new is None else set(old.sources) - {new.address}
        self.resources.replaced |= gone

    def postpone(self, written: str) -> None:
        """What this reference names is asked for after the page has loaded."""
        address = self.base.resolve(written)
        if address is not None:
            self.resources.later.add(address)

    def note(self, name: str, what: str, before: int, after: int, of: Address | None = None) -> None:
        """Note what the filter of this name did, for people to read."""
        url = of or self.address
        self.effects.append(Effect(name, url.host + url.path, what, before, after))


@dataclass(frozen=True, slots=True)
class Step:
    """One pass over a page. It runs if one of its filters is asked for; which, it sees in the wish."""

    filters: tuple[str, ...]
    run: Callable[[Work], None]
