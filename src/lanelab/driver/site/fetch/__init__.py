"""Sites whose files are in packages of public registries: fetched when they are needed, and never part of this tree."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.fetch.files import files_of
from lanelab.driver.site.fetch.mime import mime_of
from lanelab.driver.site.fetch.packages import package_file
from lanelab.driver.site.fetch.spec import Address, Fetch, read_fetch
from lanelab.driver.site.manifest import MANIFEST, Manifest
from lanelab.driver.site.site import Headers, SiteObject, StoredObject

# Packages do not say it for all files. Without it a browser asks again for what a page has in two places.
MODIFIED = "Sun, 01 Jan 2023 12:00:00 GMT"
TEXT = ("text/", "application/javascript", "application/json", "image/svg+xml")


def make(folder: Path, manifest: Manifest) -> Iterable[StoredObject]:
    """Return the objects that the manifest in that folder lists, out of its packages."""
    fetch = read_fetch(folder / MANIFEST)
    return list(_objects(fetch, manifest.entry_host, folder / MANIFEST))


def _objects(fetch: Fetch, entry_host: str, file: Path) -> Iterator[StoredObject]:
    contents: dict[Address, bytes] = {}
    for package in fetch.packages:
        wanted = {each: package.member(each) for each in fetch.objects if each not in contents and package.has(each)}
        files = files_of(package_file(package), package.kind, frozenset(wanted.values()))
        contents |= {address: files[member] for address, member in wanted.items() if member in files}
    for address in fetch.objects:
        if address not in contents:
            names = ", ".join(package.title for package in fetch.packages if package.has(address))
            what = f"{address.url} is in none of the site's packages" + (f" ({names})" if names else "")
            raise InputError(what, f"Correct the list of objects in {file}", key="fetch")
        yield _object(address, contents[address], entry_host)


def _object(address: Address, body: bytes, entry_host: str) -> StoredObject:
    digest = hashlib.sha256(body).hexdigest()
    mime = mime_of(address.path)
    return StoredObject(
        SiteObject(
            host=address.host,
            path=address.path,
            size=len(body),
            mime=mime,
            sha256=digest,
            scheme=address.scheme,
            headers=_headers(mime, digest, others=address.host != entry_host),
        ),
        body,
    )


def _headers(mime: str, digest: str, *, others: bool) -> Headers:
    """Return what a web server says of a file; hosts that serve files for other sites let these have them."""
    charset = "; charset=utf-8" if mime.startswith(TEXT) else ""
    headers = (
        ("Last-Modified", MODIFIED),
        ("ETag", f'"{digest[:16]}"'),
        ("Accept-Ranges", "bytes"),
        ("Content-Type", mime + charset),
    )
    return (*headers, ("Access-Control-Allow-Origin", "*")) if others else headers
