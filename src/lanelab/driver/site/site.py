"""A website that can be served, and what it consists of. docs/reference/site.md describes both for users."""

import datetime
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.host_names import DEFAULT, matches
from lanelab.driver.base.settings.kinds import near_miss

Headers = tuple[tuple[str, str], ...]

PAGE_MARK = "@"  # in SITE@PAGE: one page of a site
CONTENT_TYPE, CONTENT_ENCODING = "content-type", "content-encoding"
# The time of every file, so that Last-Modified and ETag are the same from every checkout.
MODIFIED_S, MODIFIED = 1577836800, "Wed, 01 Jan 2020 00:00:00 GMT"


@dataclass(frozen=True, slots=True)
class SiteObject(Coded):
    """One request that the site answers, and its answer without the body."""

    host: str
    path: str  # as a request line has it: with the query, beginning with "/"
    size: int  # bytes of the body as it is stored, which may be encoded
    mime: str  # the media type, without parameters
    sha256: str  # of the body as it is stored
    method: str = "GET"
    scheme: str = "http"  # as the page names it; an arm decides what is spoken
    status: int = 200
    reason: str = "OK"
    headers: Headers = ()  # in order; without those of the connection (Connection, Keep-Alive, Transfer-Encoding, …)
    request_sha1: str | None = None  # of the request's body, where it had one
    late: bool = False  # asked for after the load event, or not in every load: a trial may do without it
    compressed: str | None = None  # the server compresses it when it is asked for: gzip, br or zstd

    @property
    def url(self) -> str:
        """Without a scheme: an arm has that."""
        return self.host + self.path

    @property
    def file_headers(self) -> Headers:
        """Return what says how old a file is, which an object without recorded headers is sent as."""
        return (("Last-Modified", MODIFIED), ("ETag", f'"{MODIFIED_S:x}-{self.size:x}"'))

    @property
    def encoding(self) -> str | None:
        """The content encoding of the body as it is stored; None: plain."""
        values = [value for name, value in self.sent_headers if name.lower() == CONTENT_ENCODING]
        coding = ",".join(values).strip().lower()
        return None if coding in ("", "identity") else coding

    @property
    def sent_headers(self) -> Headers:
        """Return what the server sends with it."""
        return self.headers or (("Content-Type", self.mime),)


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object with its body, as it is stored."""

    object: SiteObject
    body: bytes


@dataclass(frozen=True, slots=True)
class SitePage(Coded):
    """One page of a site that has several: what it needs when it is loaded alone with an empty cache."""

    name: str
    url: str  # host and path
    needs: tuple[str, ...]  # host and path of each object, its own among them


@dataclass(frozen=True, slots=True)
class Site(Coded):
    """A website that can be served: its bodies are there, and they are what the objects say."""

    name: str
    title: str
    entry_host: str
    entry_path: str
    objects: tuple[SiteObject, ...]
    content: Path  # has the body of each object, by its sha256
    entry_scheme: str = "http"  # as it was recorded
    user_agent: str | None = None  # with which it was recorded
    viewport: tuple[int, int] | None = None  # likewise
    date: str | None = None  # when it was recorded, in UTC: what its scripts take for now
    distances: tuple[tuple[str, str], ...] = ()  # the round trip to each host when it was recorded
    unanswered: tuple[str, ...] = ()  # host and path of what the page asks for and nobody answered when it was recorded
    other_hosts: tuple[str, ...] = ()  # that its content names; the server answers 404 for all of theirs
    answers_missing: bool = False  # with 404 what it does not have, and a trial may ask for it
    think: tuple[tuple[str, int], ...] = ()  # host and path, and ms that its server thought when it was recorded
    variant: str = ""  # how it was prepared for an arm; empty: as it is archived
    pages: tuple[SitePage, ...] = ()  # empty: it has the entry alone

    @property
    def hosts(self) -> tuple[str, ...]:
        """The entry's first, then in order of appearance."""
        return tuple(dict.fromkeys((*hosts_of(self.entry_host, self.objects), *self.other_hosts)))

    @property
    def total_bytes(self) -> int:
        return sum(each.size for each in self.objects)

    @property
    def recorded_ms(self) -> int | None:
        """Return when it was recorded, in ms since 1970."""
        if self.date is None:
            return None
        when = datetime.datetime.fromisoformat(self.date)
        return round(when.replace(tzinfo=datetime.UTC).timestamp() * 1000)

    @property
    def scripts_seed(self) -> int:
        """Of the random numbers that its scripts get, where these are repeatable."""
        return zlib.crc32(site_of(self.name).encode())

    @property
    def entry_page(self) -> SitePage | None:
        """Return the page that is the entry, where the site has several."""
        return next((each for each in self.pages if each.url == self.entry_host + self.entry_path), None)

    def of_page(self, page: SitePage) -> "Site":
        """Return what a load of that page alone may ask for, with that page as the entry: what it needs, and what is
        late whoever asks."""
        needs = frozenset(page.needs)
        objects = tuple(
            replace(each, late=False) if each.url in needs else each
            for each in self.objects
            if each.url in needs or each.late
        )
        site = self.beginning_at(page)
        hosts = {site.entry_host, *(each.host for each in objects)}
        return replace(
            site, objects=objects, pages=(),
            distances=tuple(each for each in self.distances if _is_of_any(each[0], hosts)),
            think=tuple(each for each in self.think if each[0] in {one.url for one in objects}),
        )  # fmt: skip

    def beginning_at(self, page: SitePage) -> "Site":
        """Return the whole site with that page as its entry."""
        host, slash, path = page.url.partition("/")
        scheme = self.entry_scheme if page == self.entry_page else self.scheme_of(page.url)
        return replace(self, entry_host=host, entry_path=slash + path, entry_scheme=scheme)

    def scheme_of(self, url: str) -> str:
        """Return the scheme of a page. Of one with both, http leads to the other."""
        return max((each.scheme for each in self.objects if each.url == url), default=self.entry_scheme)

    def url(self, scheme: str) -> str:
        return f"{scheme}://{self.entry_host}{self.entry_path}"

    def file(self, each: SiteObject) -> Path:
        """Return where its body is, as it is stored."""
        return self.content / each.sha256


def _is_of_any(pattern: str, hosts: Iterable[str]) -> bool:
    """Return whether a line of distances is about one of these hosts."""
    return pattern == DEFAULT or any(matches(pattern, host) for host in hosts)


def site_of(target: str) -> str:
    """Return the site of what an experiment names: it itself, SITE@PAGE, or the SITE/PATH of a load."""
    return target.partition("/")[0].partition(PAGE_MARK)[0]


def hosts_of(entry_host: str, objects: Iterable[SiteObject]) -> tuple[str, ...]:
    """Return the entry's first, then in order of appearance."""
    return tuple(dict.fromkeys([entry_host, *(each.host for each in objects)]))


def page_named(site: str, pages: Sequence[SitePage], name: str) -> SitePage:
    """Return the page of a site. Raises InputError where there is none."""
    for each in pages:
        if each.name == name:
            return each
    names = [each.name for each in pages]
    known = f"Its pages are {', '.join(names)}" if names else "It has one page: name the site alone"
    raise InputError(f"the site {site} has no page {name!r}", near_miss(name, names) + known, key="sites")
