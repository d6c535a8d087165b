"""site.yaml: which objects a site has, read strictly. docs/reference/site.md describes it for users."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from model.errors import InputError

MANIFEST = "site.yaml"
INDEX = "index.html"
REFERENCE = "See docs/reference/site.md"

SITE_KEYS = ("title", "source", "entry", "objects", "generate")
REQUIRED_KEYS = ("title", "source", "entry", "objects")
OBJECT_KEYS = ("host", "path", "mime", "size", "sha256")

_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
_PATH = re.compile(r"/[!\"$-~]*")  # printable ASCII without the space and the fragment's #: as a request line has it
_MIME = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SiteObject:
    """One thing that a browser may ask for."""

    host: str
    path: str  # as a request line has it: with the query, beginning with "/"
    size: int  # bytes on disk
    mime: str
    sha256: str

    @property
    def url(self) -> str:
        """Without a scheme: an arm has that."""
        return self.host + self.path

    @property
    def file(self) -> str:
        """Where it lies below the site's content. A query is a part of the file's name, as in an archive of wget's."""
        path, mark, query = self.path.partition("?")
        named = path + INDEX if path.endswith("/") else path
        return f"{self.host}{named}{mark}{query.replace('/', '%2F')}"

    def to_json(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in OBJECT_KEYS}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What site.yaml says."""

    title: str
    source: str
    entry: str  # host and path
    objects: tuple[SiteObject, ...]
    generate: str | None

    @property
    def hosts(self) -> tuple[str, ...]:
        return hosts_of(self.entry.partition("/")[0], self.objects)

    @property
    def total_bytes(self) -> int:
        return sum(each.size for each in self.objects)


def hosts_of(entry_host: str, objects: Iterable[SiteObject]) -> tuple[str, ...]:
    """The entry's first, then in order of appearance."""
    return tuple(dict.fromkeys([entry_host, *(each.host for each in objects)]))


def read_manifest(file: Path) -> Manifest:
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or 'it is no text'}", REFERENCE
        ) from error
    return parse_manifest(text, str(file))


def parse_manifest(text: str, source: str) -> Manifest:
    """The manifest in that text; errors begin with `source`."""
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        what = f"{source}{where}: this is no YAML: {getattr(error, 'problem', None) or error!r}"
        raise InputError(what, REFERENCE) from error
    found = _mapping(data, source, SITE_KEYS, REQUIRED_KEYS)
    objects = found["objects"]
    if not isinstance(objects, list) or not objects:
        raise InputError(f"{source}: objects: it is not a list of at least one object", REFERENCE)
    read = tuple(_object(entry, f"{source}: objects[{number}]") for number, entry in enumerate(objects))
    _require_single(read, source)
    entry = _text(found, "entry", source)
    if entry not in {each.url for each in read}:
        near = difflib.get_close_matches(entry, [each.url for each in read], n=1)
        remedy = f"Did you mean {near[0]}?" if near else "Write host and path, like example.test/index.html"
        raise InputError(f"{source}: entry: {entry!r} is none of the objects", remedy)
    return Manifest(
        title=_text(found, "title", source),
        source=_text(found, "source", source),
        entry=entry,
        objects=read,
        generate=_generator(found, source),
    )


def _mapping(data: object, where: str, known: tuple[str, ...], required: tuple[str, ...]) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise InputError(f"{where}: it is not a mapping with the keys {', '.join(known)}", REFERENCE)
    for key in data:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"Did you mean {near[0]}? " if near else ""
            raise InputError(f"{where}: {key}: there is no such key", f"{hint}Keys are {', '.join(known)}")
    for key in required:
        if key not in data:
            raise InputError(f"{where}: {key} is missing", REFERENCE)
    return data


def _text(found: Mapping[str, object], key: str, where: str, pattern: re.Pattern[str] | None = None) -> str:
    value = found[key]
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(f"{where}: {key}: {value!r} is not a text of one line", REFERENCE)
    if pattern and not pattern.fullmatch(value):
        raise InputError(f"{where}: {key}: {value!r} is no {key}", REFERENCE)
    return value


def _object(data: object, where: str) -> SiteObject:
    found = _mapping(data, where, OBJECT_KEYS, OBJECT_KEYS)
    size = found["size"]
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InputError(f"{where}: size: {size!r} is not a whole number of bytes", REFERENCE)
    path = _text(found, "path", where, _PATH)
    if {".", ".."} & set(path.partition("?")[0].split("/")) or "//" in path.partition("?")[0]:
        raise InputError(f"{where}: path: {path!r} has an empty part, '.' or '..'", "Write it without")
    return SiteObject(
        host=_text(found, "host", where, _HOST),
        path=path,
        size=size,
        mime=_text(found, "mime", where, _MIME),
        sha256=_text(found, "sha256", where, _SHA256),
    )


def _require_single(objects: tuple[SiteObject, ...], source: str) -> None:
    """Each URL once; two URLs may share a file (/ and /index.html), but then they say the same of it."""
    urls: set[str] = set()
    files: dict[str, tuple[int, str]] = {}
    for each in objects:
        if each.url in urls:
            raise InputError(f"{source}: objects: {each.url} is there twice", "Leave one of them out")
        urls.add(each.url)
        if files.setdefault(each.file, (each.size, each.sha256)) != (each.size, each.sha256):
            what = f"{source}: objects: {each.url} and another object are the file {each.file}, with other contents"
            raise InputError(what, "Give both the same size and sha256")


def _generator(found: Mapping[str, object], source: str) -> str | None:
    if "generate" not in found:
        return None
    name = _text(found, "generate", source)
    if not re.fullmatch(r"[a-z0-9_-]+\.py", name):
        raise InputError(f"{source}: generate: {name!r} is not the name of a Python file beside {MANIFEST}", REFERENCE)
    return name
