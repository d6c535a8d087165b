"""What a server pushes with a site's page: from the wish of an arm and the site alone."""

import fnmatch
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.site.coding import decode
from lanelab.driver.site.site import Site, SiteObject

OFF, CRITICAL, REFERENCED = "off", "critical", "referenced"
MOST = 32  # that mod_spdy pushes with one answer; the same for all
OK = 200
CRITICAL_TYPES = ("text/css", "text/javascript", "application/javascript", "application/x-javascript")
# What all servers can be told without escapes, in all that is around it in their configurations.
_PLAIN = re.compile(r"/[A-Za-z0-9._~!&()*+:=@/?-]*")


def pushed_paths(site: Site, wish: str, key: str = "push") -> tuple[str, ...]:
    """Return the paths, of the page's own host, that are pushed with it, in order; or hinted at, where `key` is another
    setting. Raises InputError where the wish is for nothing that there is."""
    if wish == OFF:
        return ()
    page = page_of(site, key)
    able = [each for each in _of_host(site) if each is not page]
    paths = _chosen(site, page, able, wish, key)
    for path in (page.path, *paths):
        if not _PLAIN.fullmatch(path):
            what = f"{site.name}: {path[:80]!r} has characters that servers cannot all be told"
            raise InputError(what, "Name other paths", key=key)
    if len(paths) > MOST:
        what = f"{site.name}: it is for {len(paths)} objects, and at most {MOST} can be named with a page"
        raise InputError(what, "Name fewer, or write critical", key=key)
    return paths


def page_of(site: Site, key: str) -> SiteObject:
    """Return the page of a site."""
    for each in site.objects:
        if (each.method, each.host, each.path, each.status) == ("GET", site.entry_host, site.entry_path, OK):
            return each
    what = f"{site.name}: its entry is no page that is answered with {OK}, so nothing can be sent with it"
    raise InputError(what, f"Leave {key} out, or name another site", key=key)


def _of_host(site: Site) -> list[SiteObject]:
    """Return what a server may push with the page: GETs of its host that are found."""
    by_path: dict[str, SiteObject] = {}
    for each in site.objects:
        if (each.method, each.host, each.status) == ("GET", site.entry_host, OK):
            by_path.setdefault(each.path, each)
    return list(by_path.values())


def _chosen(site: Site, page: SiteObject, able: Iterable[SiteObject], wish: str, key: str) -> tuple[str, ...]:
    by_path = {each.path: each for each in able}
    if wish in (CRITICAL, REFERENCED):
        named = [by_path[path] for path in _named(site, page, key) if path in by_path]
        paths = tuple(each.path for each in named if wish == REFERENCED or each.mime in CRITICAL_TYPES)
        if not paths:
            kinds = "style sheets or scripts" if wish == CRITICAL else "objects"
            what = f"{site.name}: its page names no {kinds} of its own host, so {wish} is for nothing"
            raise InputError(what, f"Write paths, or leave {key} out", key=key)
        return paths
    chosen: dict[str, None] = {}
    for pattern in wish.split(","):
        matched = [path for path in by_path if fnmatch.fnmatchcase(path, pattern)]
        if not matched:
            what = f"{site.name}: no object of {site.entry_host} has a path like {pattern}"
            raise InputError(what, f"See lanelab site show {site.name}", key=key)
        chosen |= dict.fromkeys(matched)
    return tuple(chosen)


def _named(site: Site, page: SiteObject, key: str) -> Iterator[str]:
    """Yield the paths of the page's own host that its HTML names, each once, in order."""
    try:
        body = site.file(page).read_bytes()
        text = (decode(body, page.encoding) if page.encoding else body).decode("utf-8", "replace")
    except (OSError, LanelabError) as error:
        raise InputError(f"{site.name}: its page cannot be read: {error}", "Write paths", key=key) from None
    reader = _Reader(f"http://{site.entry_host}{page.path}")
    reader.feed(text)
    for url in dict.fromkeys(reader.addresses):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.netloc.lower() == site.entry_host:
            yield (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class _Reader(HTMLParser):
    """Addresses that tags name, in their order."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base = base
        self.addresses: list[str] = []
        self._noscript = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in reversed(attrs)}
        if tag == "noscript":
            self._noscript += 1
        if self._noscript:
            return
        if tag == "base" and values.get("href"):
            self.base = urljoin(self.base, values["href"])
        elif tag == "link" and "stylesheet" in values.get("rel", "").lower().split():
            self._add(values.get("href"))
        elif tag in ("script", "img", "input"):
            self._add(values.get("src"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "noscript":
            self._noscript = max(0, self._noscript - 1)

    def _add(self, address: str | None) -> None:
        if address and address.strip():
            try:
                self.addresses.append(urljoin(self.base, address.strip()))
            except ValueError:  # no address at all
                return
