"""A page as an archive of the web has it: through an endpoint that speaks as the Wayback Machine does.

    ENDPOINT/20120501000000id_/URL    the capture nearest to that instant, as the server once sent it
    CDX?url=URL&closest=…&limit=1     which capture that is

Only the endpoint is ever asked, whatever the captures say. What no capture exists of is named.
"""

import http.client
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlencode, urlsplit

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.version import VERSION
from lanelab.driver.collect.importers.importer import Imported
from lanelab.driver.collect.page_scope import links_in
from lanelab.driver.site.archive.addresses import NotServedError, address_of
from lanelab.driver.site.archive.dates import utc_of, utc_text
from lanelab.driver.site.archive.http_text import values_of
from lanelab.driver.site.archive.read_warc import as_encoded, shown
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.redirects import REDIRECTS, leads_to
from lanelab.driver.site.site import Headers

ENDPOINT = "https://web.archive.org/web"
CDX_OF = {ENDPOINT: "https://web.archive.org/cdx/search/cdx"}
TIMEOUT_S = 60
TRIES, WAIT_S, LONGEST_WAIT_S = 4, 5.0, 60.0
BUSY = (429, 502, 503, 504)
ORIGINAL = "x-archive-orig-"
# Without that mark only these are the captured server's; the others may be the archive's own.
CAPTURED = ("content-type", "content-encoding", "content-language", "content-disposition", "location")
UNCHANGED = "!$%&'()*+,/:;=?@[]~-._|^`{}"  # in an address; the rest is written with %
_CAPTURE = re.compile(r"/(\d{4,14})[a-z]{2}_/(.+)", re.DOTALL)
_DAY = re.compile(r"\d{8}(?:\d{6})?")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of what is fetched of one page. An archive answers slowly, and asks to be spared."""

    resources: int = 1_000
    depth: int = 4  # page, style sheet, imported style sheet, image; or frames in frames
    redirects: int = 10  # one after the other
    bytes_each: int = 50_000_000
    bytes_total: int = 500_000_000


@dataclass(frozen=True, slots=True)
class _Answer:
    url: str  # that was asked at last
    status: int
    headers: Headers
    body: bytes


class Wayback:
    """One endpoint. Keeps to it."""

    def __init__(self, endpoint: str, cdx: str | None = None, limits: Limits | None = None) -> None:
        self.endpoint = endpoint.rstrip("/")
        self.cdx = cdx or CDX_OF.get(self.endpoint) or f"{self.endpoint}/cdx"
        self.limits = limits or Limits()
        for url, key in ((self.endpoint, "--endpoint"), (self.cdx, "--cdx")):
            if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
                raise InputError(f"{url!r} is no address of an archive", f"Write one like {ENDPOINT}", key=key)
        self._total = 0

    def nearest(self, url: str, instant: str) -> str | None:
        """The instant of the capture that is nearest, as 14 digits; None: there is none."""
        query = {"url": url, "closest": instant, "sort": "closest", "limit": "1", "output": "json", "fl": "timestamp"}
        answer = self._ask(f"{self.cdx}?{urlencode(query)}")
        if answer.status != http.client.OK:
            raise InputError(f"the archive's index {self.cdx} answered {answer.status}", "Check --endpoint and --cdx")
        match = re.search(rb'"(\d{14})"', answer.body)  # a row of a table, or a value: endpoints differ
        return match[1].decode() if match else None

    def capture(self, url: str, instant: str) -> Exchange | None:
        """The capture nearest to that instant, as it was; None: there is none. The archive's own redirects, to the
        instant of a capture, are followed."""
        address = f"{self.endpoint}/{instant}id_/{url}"
        for _ in range(self.limits.redirects):
            answer = self._ask(address)
            captured = values_of(answer.headers, "memento-datetime")
            if captured:
                return self._exchange(url, answer, captured[0])
            there = leads_to(answer.url, answer.status, answer.headers)
            if there is None or not self._is_own(there):
                return None
            address = there
        return None

    def _is_own(self, url: str) -> bool:
        return url.startswith(self.endpoint + "/")

    def _exchange(self, url: str, answer: _Answer, captured: str) -> Exchange:
        headers = tuple(self._captured(answer.headers))
        headers, body = as_encoded(headers, answer.body)
        reason = http.client.responses.get(answer.status, "")
        at_utc = _captured_at(captured)
        return Exchange("GET", url, (), b"", answer.status, reason, headers, body, "http/1.1", at_utc)

    def _captured(self, headers: Headers) -> Iterator[tuple[str, str]]:
        """Yield fields of the captured answer, without those of the archive."""
        coded = bool(values_of(headers, "content-encoding"))
        marked = {name.lower().removeprefix(ORIGINAL) for name, _ in headers if name.lower().startswith(ORIGINAL)}
        for name, value in headers:
            plain = name.lower()
            if plain.startswith(ORIGINAL):
                inner = name[len(ORIGINAL) :]
                # The body came as the archive sent it, which may be decoded.
                if inner.lower() not in ("content-encoding", "content-length", "transfer-encoding", "location"):
                    yield inner, value
            elif plain == "location":
                yield name, self._as_it_was(value)
            elif plain in CAPTURED and plain not in marked and (plain != "content-encoding" or coded):
                yield name, value

    def _as_it_was(self, location: str) -> str:
        """Return where a redirect led, before the archive wrote its own address into it."""
        match = _CAPTURE.search(location)
        return match[2] if match else location

    def _ask(self, url: str) -> _Answer:
        """Ask again after a while, where the archive is busy."""
        for attempt in range(TRIES):
            try:
                answer = self._ask_once(url)
            except (OSError, http.client.HTTPException) as error:
                if attempt == TRIES - 1:
                    remedy = "Check the network, and --endpoint"
                    raise InputError(f"the archive does not answer at {shown(url)}: {error}", remedy) from error
                time.sleep(WAIT_S)
                continue
            if answer.status not in BUSY or attempt == TRIES - 1:
                return answer
            wait = next(iter(values_of(answer.headers, "retry-after")), "")
            time.sleep(min(LONGEST_WAIT_S, float(wait) if wait.isdecimal() else WAIT_S * (attempt + 1)))
        raise AssertionError

    def _ask_once(self, url: str) -> _Answer:
        parts = urlsplit(url)
        connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
        try:
            target = quote(url.partition(parts.netloc)[2].partition("#")[0] or "/", safe=UNCHANGED)
            connection.request("GET", target, headers={"User-Agent": f"lanelab/{VERSION}"})
            response = connection.getresponse()
            body = response.read(self.limits.bytes_each + 1)
            if len(body) > self.limits.bytes_each:
                raise InputError(f"{shown(url)} is larger than {self.limits.bytes_each:,} bytes", "Choose another page")
            self._total += len(body)
            if self._total > self.limits.bytes_total:
                raise InputError(f"the page has more than {self.limits.bytes_total:,} bytes", "Choose another page")
            return _Answer(url, response.status, tuple(response.getheaders()), body)
        finally:
            connection.close()


def page(archive: Wayback, url: str, instant: str, tell: Callable[[str], None] = lambda _: None) -> Imported:
    """Return the page and what it loads, as far as its HTML and CSS say. `tell` hears of each capture."""
    if not _DAY.fullmatch(instant) or utc_of(instant.ljust(14, "0")) is None:
        raise InputError(f"{instant!r} is no date", "Write year, month and day, like 20120501", key="--date")
    try:
        entry = address_of(url if "://" in url else f"http://{url}").url
    except NotServedError as error:
        raise InputError(f"{shown(url)} cannot be a site's page: {error}", "Name another page") from error
    instant = instant.ljust(14, "0")
    nearest = archive.nearest(entry, instant)
    if nearest is None:
        raise InputError(f"the archive has no capture of {shown(entry)}", "Check the address, and --endpoint")
    fetched = _Fetched(archive, nearest, tell)
    fetched.all_from(entry)
    if not fetched.exchanges:
        raise InputError(f"the archive has no capture of {shown(entry)} that it gives", "Choose another date")
    return Imported(
        tuple(fetched.exchanges), tuple(fetched.left_out), entry, unanswered=tuple(dict.fromkeys(fetched.missing))
    )


@dataclass(slots=True)
class _Fetched:
    """The parts of a page that are here so far."""

    archive: Wayback
    instant: str
    tell: Callable[[str], None]
    exchanges: list[Exchange] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # host and path
    left_out: list[str] = field(default_factory=list)

    def all_from(self, entry: str) -> None:
        limits = self.archive.limits
        seen = {entry}
        waiting = deque([(entry, 0, 0)])
        while waiting:
            url, depth, redirects = waiting.popleft()
            for link in self._fetch(url):
                here = self._servable(link)
                if here is None or here in seen:
                    continue
                seen.add(here)
                redirected = self.exchanges[-1].status in REDIRECTS
                below = (here, depth, redirects + 1) if redirected else (here, depth + 1, 0)
                if len(seen) > limits.resources:
                    self.left_out.append(f"{shown(here)}: a page of more than {limits.resources:,} resources")
                elif below[1] > limits.depth or below[2] > limits.redirects:
                    self.left_out.append(f"{shown(here)}: too far from the page")
                else:
                    waiting.append(below)

    def _fetch(self, url: str) -> list[str]:
        """Return what this capture loads, or where it leads."""
        exchange = self.archive.capture(url, self.instant)
        if exchange is None:
            address = address_of(url)
            self.missing.append(address.host + address.path)
            self.tell(f"no capture of {shown(url)}")
            return []
        self.exchanges.append(exchange)
        self.tell(f"{exchange.at_utc} {exchange.status} {shown(url)}")
        return links_in(exchange)

    def _servable(self, link: str) -> str | None:
        try:
            return address_of(link).url
        except NotServedError as why:
            self.left_out.append(f"{shown(link)}: {why}")
            return None


def _captured_at(text: str) -> str:
    try:
        return utc_text(parsedate_to_datetime(text))
    except ValueError as error:
        raise InputError(f"the archive dates a capture {shown(text)!r}", "Check --endpoint") from error
