"""What of an archive belongs to its page, as far as HTML and CSS say: crawlers archive more than one load asks for."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.page_links import links_of
from lanelab.driver.site.archive.addresses import host_and_path
from lanelab.driver.site.archive.http_text import values_of
from lanelab.driver.site.archive.media_types import media_type
from lanelab.driver.site.coding import CODINGS, decode
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.redirects import REDIRECTS, leads_to

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)


def reached(exchanges: Iterable[Exchange], entry: str) -> frozenset[str]:
    """Host and path of everything that each load of the entry (host and path) asks for: redirects, what HTML and CSS
    name."""
    by_url: dict[str, list[Exchange]] = {}
    for each in exchanges:
        if (url := host_and_path(each.url)) and each.method == "GET":
            by_url.setdefault(url, []).append(each)
    addresses: set[str] = set()
    waiting = [entry]
    while waiting:
        url = waiting.pop()
        if url in addresses or url not in by_url:
            continue
        addresses.add(url)
        waiting += _next(by_url, url)
    return frozenset(addresses)


def _next(by_url: Mapping[str, list[Exchange]], url: str) -> list[str]:
    links = (link for each in by_url[url] for link in links_in(each, always=True))
    return [there for link in links if (there := host_and_path(link))]


def links_in(exchange: Exchange, *, always: bool = False) -> list[str]:
    """Return where a redirect leads, or what an answer loads. `always`: in each load."""
    if exchange.status in REDIRECTS:
        there = leads_to(exchange.url, exchange.status, exchange.headers)
        return [there] if there else []
    coding = ",".join(values_of(exchange.headers, "content-encoding")).strip().lower()
    content_type = next(iter(values_of(exchange.headers, "content-type")), "")
    try:
        plain = decode(exchange.body, coding) if coding in CODINGS else exchange.body
        charset = _CHARSET.search(content_type)
        text = plain.decode(charset[1] if charset else "utf-8", "replace")
    except (InputError, LookupError):
        return []  # nothing of it can be read; a browser says so as well
    return links_of(media_type(content_type, urlsplit(exchange.url).path, plain), text, exchange.url, always=always)
