"""Addresses of objects, and the names that mod_pagespeed gives to what it rewrites."""

import base64
import hashlib
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

HASH_CHARACTERS = 10
REWRITTEN = re.compile(r"\.pagespeed\.[a-z]{2}\.[\w-]{10}\.\w+$")
# What a request line may hold as it is; everything else is sent as %XX.
KEPT = "!$%&'()*+,-./:;=?@_~[]|^{}`"
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=+-")
ESCAPES = {"^": ",u", "%": ",P", "/": ",_", "\\": ",-", ",": ",,", "?": ",q", "&": ",a"}


@dataclass(frozen=True, slots=True)
class Address:
    """An object's place without a scheme: an arm has that."""

    host: str
    path: str  # with the query

    @property
    def folder(self) -> str:
        """Return the folder, with the slash at its end."""
        return self.path.split("?")[0].rpartition("/")[0] + "/"

    @property
    def leaf(self) -> str:
        """Return the last part of the address, with the query."""
        return self.path[len(self.folder) :]

    @property
    def rewritten(self) -> bool:
        """Return whether it is a name of ours already."""
        return bool(REWRITTEN.search(self.path))

    def resolve(self, written: str) -> "Address | None":
        """Return where a reference of this object leads. None: to nothing that a server has."""
        written = re.sub(r"[\t\r\n]", "", written.strip(" \t\r\n\f"))
        try:
            parts = urlsplit(urljoin(f"http://{self.host}{self.path}", written))
        except ValueError:
            return None
        if parts.scheme not in ("http", "https") or not parts.netloc:
            return None
        path = quote((parts.path or "/").encode("latin-1", "replace"), safe=KEPT)
        query = f"?{quote(parts.query.encode('latin-1', 'replace'), safe=KEPT)}" if parts.query else ""
        return Address(parts.netloc.lower(), path + query)

    def relative_to(self, page: "Address") -> str:
        """Write the address as short as a page there can say it, or with the host where that is another one."""
        if self.host != page.host:
            return f"//{self.host}{self.path}"
        rest = self.path.removeprefix(page.folder)
        # A colon or two slashes would read as a scheme or a host.
        fits = rest != self.path and rest and rest[0] not in "/?#" and ":" not in rest.split("/")[0]
        return rest if fits else self.path


def hash_of(body: bytes) -> str:
    """Return ten characters of MD5 in web-safe base64, as the module names contents."""
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest).decode()[:HASH_CHARACTERS]


def escape_segment(text: str) -> str:
    """Return text as part of one segment of a path."""
    text = text.replace("http://", "\0").replace(".pagespeed.", "\1")
    short = {"\0": ",h", "\1": ",M"}
    return "".join(
        short.get(each) or (each if each in PLAIN else ESCAPES.get(each, f",{ord(each):02X}")) for each in text
    )


def joined_names(leaves: Sequence[str]) -> str:
    """Return the name of what consists of several: theirs with + between them."""
    return escape_segment("+".join(leaf.replace("=", "==").replace("+", "=+") for leaf in leaves))


def names_in_common_folder(addresses: Sequence[Address]) -> tuple[Address, list[str]]:
    """Return the folder that all are in, and their paths from there."""
    common = posixpath.commonpath([each.folder for each in addresses])
    folder = common if common.endswith("/") else common + "/"
    return Address(addresses[0].host, folder), [each.path[len(folder) :] for each in addresses]


def rewritten_leaf(name: str, filter_id: str, body: bytes, extension: str) -> str:
    return f"{name}.pagespeed.{filter_id}.{hash_of(body)}.{extension}"
