"""Where a site's objects are on the server, and how it knows their types and odd names. Pure.

Most objects are where their URL says, as on any web server. Those that a file name cannot say (a query, an escaped
character, a type that others with the same extension do not have) are in one folder, named by content and type, and a
map from URL to file leads there. So every object is sent with exactly the manifest's type, and nothing else is sent.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from model.site.site import Site, SiteObject

MAPPED = "mapped"  # no host's folder: those are below "hosts"
HOSTS = "hosts"
INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class Layout:
    """A site on the server, below a folder of its own."""

    files: Mapping[str, SiteObject]  # name below that folder -> the object whose content it has
    types: Mapping[str, Mapping[str, str]]  # host -> extension with its dot -> type
    mapped_types: tuple[str, ...]  # the type of ".type0", ".type1", … in the folder of mapped ones
    maps: Mapping[str, Mapping[str, str]]  # host -> path with its query -> name in the folder of mapped ones

    def digest(self) -> str:
        """The same for the same files in the same places."""
        listed = [[name, each.sha256, each.size] for name, each in sorted(self.files.items())]
        return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16]


def lay_out(site: Site) -> Layout:
    types = {host: extension_types(each for each in site.objects if each.host == host) for host in site.hosts}
    files: dict[str, SiteObject] = {}
    maps: dict[str, dict[str, str]] = {}
    mapped_types: list[str] = []
    for each in site.objects:
        if is_natural(each, types[each.host]):
            files[f"{HOSTS}/{each.host}{natural_path(each.path)}"] = each
            continue
        if each.mime not in mapped_types:
            mapped_types.append(each.mime)
        name = f"{each.sha256[:20]}.type{mapped_types.index(each.mime)}"
        files[f"{MAPPED}/{name}"] = each
        maps.setdefault(each.host, {})[each.path] = name
    return Layout(files, types, tuple(mapped_types), maps)


def natural_path(path: str) -> str:
    return path + INDEX if path.endswith("/") else path


def is_natural(each: SiteObject, types: Mapping[str, str]) -> bool:
    """Whether a web server finds it by its path alone, and knows its type by its name alone."""
    if "?" in each.path or "%" in each.path:
        return False
    return type_by_name(natural_path(each.path), types) == each.mime


def type_by_name(path: str, types: Mapping[str, str]) -> str | None:
    """The type that every server takes from a file's name. None where they differ: nginx sees no extension in a name
    that begins or ends with a point, Apache does."""
    name = path.rpartition("/")[2]
    if name.startswith(".") or name.endswith("."):
        return None
    extensions = _extensions(path)
    return types.get(extensions[-1]) if extensions else None


def extension_types(objects: Iterable[SiteObject]) -> dict[str, str]:
    """The type that most objects with an extension have; at a tie the one that comes first."""
    counted: dict[str, Counter[str]] = {}
    for each in objects:
        extensions = _extensions(natural_path(each.path.partition("?")[0]))
        if extensions and "%" not in extensions[-1]:
            counted.setdefault(extensions[-1], Counter())[each.mime] += 1
    return {extension: counts.most_common(1)[0][0] for extension, counts in sorted(counted.items())}


def _extensions(path: str) -> list[str]:
    words = path.rpartition("/")[2].lower().split(".")
    return ["." + word for word in words[1:] if word]


def not_reproduced(site: Site) -> Iterator[str]:
    """What a server that answers from files answers otherwise than it was recorded, in words."""
    for each in site.objects:
        for what in _lost(each):
            yield f"{each.method} {each.url}: {what}"


def _lost(each: SiteObject) -> Iterator[str]:
    if each.method != "GET":
        yield "only GET is answered"
    if each.status != 200:
        yield f"status {each.status}"
    if each.headers:
        yield "recorded headers"
