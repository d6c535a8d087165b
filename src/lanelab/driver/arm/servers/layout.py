"""Where a site's objects are on a server that answers from files, and how it knows their types and odd names. Pure.

Most objects are where their URL says, as on any web server. Those that a file name cannot say (a query, an escaped
character, a type that others with the same extension do not have, recorded headers, another status than 200) are in one
folder, named by content and type, and a map from URL to file leads there.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lanelab.driver.arm.servers.server import Content
from lanelab.driver.site.site import CONTENT_TYPE, Site, SiteObject

MAPPED = "lanelab-mapped"  # no host's folder: those are below "hosts"
HOSTS = "hosts"
INDEX = "index.html"
OK = 200
_PLAIN_PATH = re.compile(r"(?!.*//)(?!.*/\.\.?(/|$))[!#$&-~]*")  # a file's name says all of it
_PLAIN_TYPE = re.compile(r"[ !#%-:<-\[\]-~]+(;[ !#%-\[\]-~]+)*")  # no quotes, dollars or backslashes


@dataclass(frozen=True, slots=True)
class Layout:
    """A site on the server, below a folder of its own."""

    files: Mapping[str, SiteObject]  # name below that folder -> the object whose content it has
    types: Mapping[str, Mapping[str, str]]  # host -> extension with its dot -> type
    mapped_types: tuple[str, ...]  # the type of ".type0", ".type1", … in the folder of mapped ones
    maps: Mapping[str, Mapping[str, str]]  # host -> path with its query -> name in the folder of mapped ones
    answers: Mapping[str, SiteObject]  # URL -> the object, of mapped ones
    coded: Mapping[str, str]  # name -> coding, of files that are compressed before they are put there

    def digest(self) -> str:
        """The same for the same files in the same places."""
        listed = [[name, each.sha256, each.size, self.coded.get(name)] for name, each in sorted(self.files.items())]
        return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16]


def lay_out(site: Site, *, compressed_before: bool = False) -> Layout:
    """`compressed_before`: what the server is to compress is put there compressed."""
    objects = answered(site.objects)
    hosts = site.hosts
    types = {host: extension_types(each for each in objects if each.host == host) for host in hosts}
    files: dict[str, SiteObject] = {}
    maps: dict[str, dict[str, str]] = {}
    answers: dict[str, SiteObject] = {}
    coded: dict[str, str] = {}
    mapped_types: list[str] = []
    for each in objects:
        coding = each.compressed if compressed_before else None
        if is_natural(each, types[each.host]) and not coding:
            files[f"{HOSTS}/{each.host}{natural_path(each.path)}"] = each
            continue
        if content_type(each) not in mapped_types:
            mapped_types.append(content_type(each))
        name = f"{each.sha256[:20]}{'.' + coding if coding else ''}.type{mapped_types.index(content_type(each))}"
        files[f"{MAPPED}/{name}"] = each
        coded |= {f"{MAPPED}/{name}": coding} if coding else {}
        maps.setdefault(each.host, {})[each.path] = name
        answers[each.url] = each
    return Layout(files, types, tuple(mapped_types), maps, answers, coded)


def answered(objects: Iterable[SiteObject]) -> list[SiteObject]:
    """Return those that files can answer with: the first GET of each URL."""
    by_url: dict[str, SiteObject] = {}
    for each in objects:
        if each.method == "GET":
            by_url.setdefault(each.url, each)
    return list(by_url.values())


def content_type(each: SiteObject) -> str:
    """Return the type as it was recorded, with its parameters."""
    recorded = (value for name, value in each.headers if name.lower() == CONTENT_TYPE)
    return next((value for value in recorded if _PLAIN_TYPE.fullmatch(value)), each.mime)


def natural_path(path: str) -> str:
    return path + INDEX if path.endswith("/") else path


def is_natural(each: SiteObject, types: Mapping[str, str]) -> bool:
    """Return whether a web server finds it by its path alone, knows its type by its name alone, and adds nothing to
    it."""
    if "?" in each.path or not _PLAIN_PATH.fullmatch(each.path) or each.headers or each.status != OK:
        return False
    return type_by_name(natural_path(each.path), types) == each.mime


def type_by_name(path: str, types: Mapping[str, str]) -> str | None:
    """Return the type that every server takes from a file's name. None where they differ: nginx sees no extension in a
    name that begins or ends with a point, Apache does."""
    name = path.rpartition("/")[2]
    if name.startswith(".") or name.endswith("."):
        return None
    extensions = _extensions(path)
    return types.get(extensions[-1]) if extensions else None


def extension_types(objects: Iterable[SiteObject]) -> dict[str, str]:
    """Return the type that most objects with an extension have; at a tie the one that comes first."""
    counted: dict[str, Counter[str]] = {}
    for each in objects:
        extensions = _extensions(natural_path(each.path.partition("?")[0]))
        if extensions and "%" not in extensions[-1]:
            counted.setdefault(extensions[-1], Counter())[each.mime] += 1
    return {extension: counts.most_common(1)[0][0] for extension, counts in sorted(counted.items())}


def _extensions(path: str) -> list[str]:
    words = path.rpartition("/")[2].lower().split(".")
    return ["." + word for word in words[1:] if word]


def staged(site: Site, layout: Layout) -> Content:
    """Return what a server that answers from files answers from."""
    folders = tuple(f"{HOSTS}/{host}/" for host in site.hosts)

    def files() -> Mapping[str, bytes]:
        return {name: _content(name, site.file(each).read_bytes(), layout) for name, each in layout.files.items()}

    return Content(layout.digest(), files, folders)


def _content(name: str, body: bytes, layout: Layout) -> bytes:
    from lanelab.driver.site.coding import encode  # noqa: PLC0415 - its libraries are not for every command

    coding = layout.coded.get(name)
    return encode(body, coding) if coding else body
