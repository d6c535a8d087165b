"""Addresses of an archive: which of them a page in the bed can ask for, written as a browser asks."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import idna

from lanelab.driver.base.host_names import HOST

LONGEST_PATH = 60_000
PORTS = {"http": 80, "https": 443}
_HOST = re.compile(HOST)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DOT = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)
# What a browser leaves as it is; everything else it writes with %.
_IN_PATH = "!$%&'()*+,-./0123456789:;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz|~"
_IN_QUERY = _IN_PATH.replace("'", "") + "?^`{}\\"


class NotServedError(Exception):
    """Why no page in the bed can have this."""


@dataclass(frozen=True, slots=True)
class Address:
    scheme: str
    host: str
    path: str  # with the query

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"


def address_of(url: str) -> Address:
    """Raises NotServedError with the reason."""
    if any(ord(each) < 0x20 or each == "\x7f" for each in url):
        raise NotServedError("its address has control characters")
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = in_ascii((parts.hostname or "").lower())
    except ValueError as error:
        raise NotServedError("its address is none") from error
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise NotServedError("its address is not of http or https")
    if "@" in parts.netloc:
        raise NotServedError("its address has a user's name")
    require_host(host)
    if port not in (None, PORTS[scheme]):
        raise NotServedError(f"its port is {port}: sites are served at 80 and 443")
    return Address(scheme, host, _path(parts.path, parts.query, has_query="?" in url.partition("#")[0]))


def host_and_path(url: str) -> str | None:
    """Return the address as a manifest names it; None: no site has it."""
    try:
        address = address_of(url)
    except NotServedError:
        return None
    return address.host + address.path


def require_host(host: str) -> None:
    """Refuse a name that the bed may not answer for. What means this machine, or an address, would lead past the bed's
    names."""
    if host == "localhost" or host.endswith(".localhost"):
        raise NotServedError("its host is this machine itself")
    if host.startswith("[") or ":" in host or _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]):
        raise NotServedError("its host is an IP address")
    if not _HOST.fullmatch(host):
        raise NotServedError("its host is no valid name")


def in_ascii(host: str) -> str:
    """Return a name of any alphabet as browsers ask for it. They take more than IDNA 2008 does, such as a heart: what
    UTS 46 leaves of a name is written in Punycode, whatever it is. Raises ValueError."""
    if host.isascii():
        return host
    labels = idna.uts46_remap(host, std3_rules=False, transitional=False).split(".")
    return ".".join(each if each.isascii() else f"xn--{each.encode('punycode').decode()}" for each in labels)


def _path(path: str, query: str, *, has_query: bool) -> str:
    if "\\" in path:
        raise NotServedError("its path has a backslash")
    if any(_DOT.fullmatch(part) for part in path.split("/")):
        raise NotServedError("its path leads elsewhere, with '.' or '..'")
    written = quote(path or "/", safe=_IN_PATH, encoding="utf-8", errors="surrogatepass")
    if has_query:
        written += "?" + quote(query, safe=_IN_QUERY, encoding="utf-8", errors="surrogatepass")
    if len(written) > LONGEST_PATH:
        raise NotServedError(f"its path is longer than {LONGEST_PATH:,} characters")
    return written
