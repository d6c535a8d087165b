"""The objects of a site as filters see them: found by address, and what they are rewritten to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from lanelab.driver.site.minify.addresses import Address, rewritten_leaf
from lanelab.driver.site.minify.minify_options import Generation
from lanelab.driver.site.site import CONTENT_TYPE, Headers, SiteObject, StoredObject

CSS = frozenset({"text/css"})
SCRIPTS = frozenset(
    {
        *("text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript"),
        *("application/ecmascript", "text/x-javascript", "text/x-js"),
    }
)
IMAGES = frozenset({"image/png", "image/gif", "image/jpeg", "image/jpg", "image/webp"})
PAGES = frozenset({"text/html", "application/xhtml+xml"})
# What the module keeps of the original's header fields, it keeps but these: they are its own, or private.
NOT_KEPT = frozenset(
    {
        *("cache-control", "content-encoding", "content-length", "content-type", "date", "etag", "expires"),
        *("last-modified", "set-cookie", "set-cookie2", "transfer-encoding", "vary", "pragma", "age"),
    }
)
NOT_SHARED = ("no-cache", "no-store", "private")


@dataclass(frozen=True, slots=True)
class Resource:
    """An object with its body. `sources`: the addresses of the original objects that it stands for."""

    object: SiteObject
    body: bytes
    sources: tuple[Address, ...]

    @property
    def address(self) -> Address:
        return Address(self.object.host.lower(), self.object.path)

    @property
    def mime(self) -> str:
        return self.object.mime.lower()

    @property
    def text(self) -> str:
        return self.body.decode("latin-1")

    @property
    def size(self) -> int:
        return len(self.body)

    @property
    def is_css(self) -> bool:
        return self.mime in CSS

    @property
    def is_script(self) -> bool:
        return self.mime in SCRIPTS

    @property
    def is_image(self) -> bool:
        return self.mime in IMAGES

    def header(self, name: str) -> str:
        """Return its values, joined; "" where it has none."""
        return ", ".join(value for key, value in self.object.sent_headers if key.lower() == name)

    @property
    def charset(self) -> str:
        """Return what the header says, in lower case; "" where it says nothing."""
        parameters = self.header(CONTENT_TYPE).lower().split(";")[1:]
        pairs = (each.strip().partition("=") for each in parameters)
        return next((value.strip("\"' ") for key, _, value in pairs if key.strip() == "charset"), "")

    @property
    def cacheable(self) -> bool:
        """Return whether a cache that many share may keep it: only that is rewritten."""
        control = self.header("cache-control").lower()
        forbidden = any(word in control for word in NOT_SHARED) or "no-cache" in self.header("pragma").lower()
        return not forbidden and self.header("vary").strip() != "*" and self.lifetime_s(1) > 0

    def lifetime_s(self, implicit_s: int) -> int:
        """Return how long a cache may keep it, by its headers; `implicit_s` where they say nothing."""
        for part in self.header("cache-control").lower().split(","):
            key, _, value = part.strip().partition("=")
            if key == "max-age" and value.strip('" ').isdigit():
                return int(value.strip('" '))
        expires = self.header("expires")
        if not expires:
            return implicit_s
        try:
            return int((parsedate_to_datetime(expires) - parsedate_to_datetime(self.header("date"))).total_seconds())
        except (ValueError, TypeError):
            return 0 if expires.strip() in ("0", "-1") else implicit_s


class Resources:
    """All objects of a site, and those that filters add."""

    def __init__(self, objects: Iterable[StoredObject], generation: Generation) -> None:
        self.generation = generation
        self.originals = tuple(objects)
        self.additions: dict[Address, Resource] = {}
        self.replaced: set[Address] = set()  # originals that a filter put something else in place of
        self.later: set[Address] = set()  # what a page asks for only when it has loaded
        self.scripts_later = False  # then also what scripts ask for
        pairs = ((Address(each.object.host.lower(), each.object.path), each) for each in self.originals)
        self._loadable: Mapping[Address, StoredObject] = {
            address: each
            for address, each in pairs
            if each.object.method == "GET" and each.object.status == 200 and not each.object.encoding
        }

    def find(self, address: Address) -> Resource | None:
        if rewritten := self.additions.get(address):
            return rewritten
        each = self._loadable.get(address)
        return Resource(each.object, each.body, (address,)) if each else None

    def add(self, sources: Sequence[Resource], name: str, filter_id: str, body: bytes, extension: str) -> Resource:
        """Return a rewritten resource. It lies beside the first source; its type is that of the extension."""
        first = sources[0]
        folder = Address(first.address.host, first.address.folder)
        return self.add_at(folder, sources, rewritten_leaf(name, filter_id, body, extension), body)

    def add_at(self, folder: Address, sources: Sequence[Resource], leaf: str, body: bytes) -> Resource:
        mime = MIMES[leaf.rpartition(".")[2]]
        first = sources[0]
        new_object = replace(
            first.object,
            host=folder.host,
            path=folder.path + leaf,
            size=len(body),
            mime=mime,
            sha256="",  # whoever stores it works it out
            headers=self._headers(sources, mime),
            compressed="gzip" if mime in CSS | SCRIPTS else None,
            late=all(each.object.late for each in sources),
        )
        origins = tuple(dict.fromkeys(address for each in sources for address in each.sources))
        resource = Resource(new_object, body, origins)
        self.additions[resource.address] = resource
        return resource

    def _headers(self, sources: Sequence[Resource], mime: str) -> Headers:
        """Set headers as the module does. Of one source it keeps what has nothing to do with caching."""
        first = sources[0]
        charset = f"; charset={first.charset}" if len(sources) == 1 and first.charset and "text" in mime else ""
        kept = (
            [each for each in first.object.sent_headers if each[0].lower() not in NOT_KEPT] if len(sources) == 1 else []
        )
        return (
            ("Content-Type", mime + charset),
            ("Cache-Control", f"max-age={self.generation.lifetime_s}"),
            ("Etag", "W/0"),
            ("Last-Modified", self.generation.released),
            *(each for each in kept if each[0].lower() not in ("etag", "cache-control")),
        )


MIMES = {
    "css": "text/css",
    "js": "application/x-javascript",
    "png": "image/png",
    "gif": "image/gif",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "txt": "text/plain",
}
EXTENSIONS = {"text/css": "css", "image/png": "png", "image/gif": "gif", "image/jpeg": "jpg", "image/jpg": "jpg"}
EXTENSIONS |= {"image/webp": "webp"} | dict.fromkeys(SCRIPTS, "js")
