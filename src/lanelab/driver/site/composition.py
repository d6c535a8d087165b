"""What a site consists of: how many objects of which type, with how many bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.site.site import SiteObject

OTHER = "other"
TYPES = ("html", "css", "script", "image", "font", "media", "data", OTHER)
_OF_MIME = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/css": "css",
    "text/javascript": "script",
    "application/wasm": "script",
    "application/vnd.ms-fontobject": "font",
    "text/plain": "data",
    "text/csv": "data",
    "application/json": "data",
    "application/xml": "data",
    "text/xml": "data",
    "application/vnd.apple.mpegurl": "media",
}
_OF_FAMILY = {"image": "image", "font": "font", "audio": "media", "video": "media"}


@dataclass(frozen=True, slots=True)
class Part(Coded):
    """The objects of one type."""

    objects: int
    bytes: int  # of bodies as they are stored


Composition = Mapping[str, Part]


def type_of(mime: str) -> str:
    """Return one of TYPES."""
    family, _, kind = mime.lower().partition("/")
    if mime.lower() in _OF_MIME:
        return _OF_MIME[mime.lower()]
    if family in _OF_FAMILY:
        return _OF_FAMILY[family]
    words = (("javascript", "script"), ("ecmascript", "script"), ("font", "font"), ("+json", "data"), ("+xml", "data"))
    return next((type_name for word, type_name in words if word in kind), OTHER)


def composition_of(objects: Iterable[SiteObject]) -> Composition:
    """By type, in the order of TYPES; types that are not there are left out."""
    listed = list(objects)
    parts = {}
    for name in TYPES:
        sizes = [each.size for each in listed if type_of(each.mime) == name]
        if sizes:
            parts[name] = Part(len(sizes), sum(sizes))
    return parts
