"""site.yaml: which objects a site has, read strictly. docs/reference/site.md describes it for users."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.errors import InputError
from model.settings.kinds import Kind, count, near_miss
from model.settings.setting import Setting, Table
from model.settings.source import Written, read_yaml

MANIFEST = "site.yaml"
INDEX = "index.html"
REFERENCE = "See docs/reference/site.md"

LARGEST_SIZE = 9_999_999_999
SCALE = 50  # a site may have many objects, so its manifest may be so many times larger than an experiment


def _text(what: str, pattern: str = ".*", metavar: str = "TEXT") -> Kind:
    """A text of one line that the pattern describes."""

    def parse(value: object, key: str) -> str:
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise InputError(f"{value!r} is not a text of one line", REFERENCE, key=key)
        if not re.fullmatch(pattern, value):
            raise InputError(f"{value!r} is no {what}", REFERENCE, key=key)
        return value

    return Kind(metavar, what, parse)


def _path(value: object, key: str) -> str:
    path: str = _text("path", r"/[!\"$-~]*").parse(value, key)  # ASCII without space and #, as a request line has it
    file = path.partition("?")[0]
    if {".", ".."} & set(file.split("/")) or "//" in file:
        raise InputError(f"{path!r} has an empty part, '.' or '..'", "Write it without", key=key)
    return path


_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = _text("host", rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*", "HOST")
_GENERATOR = _text(f"name of a Python file beside {MANIFEST}", r"[a-z0-9_-]+\.py", "FILE")

SITE = Table(
    (
        Setting("title", _text("title"), "", "what the site is", "The dummy page", required=True),
        Setting("source", _text("source"), "", "where it is from", "made by a recipe", required=True),
        Setting(
            "entry", _text("host and path"), "", "the page that is loaded", "example.test/index.html", required=True
        ),
        Setting(
            "objects", None, "", "everything that a browser may ask for", "[{host: example.test, …}]", required=True
        ),
        Setting("generate", _GENERATOR, "", "the program that makes the files", "generate.py"),
    )
)
OBJECT = Table(
    (
        Setting("host", _HOST, "", "of the address", "example.test", required=True),
        Setting(
            "path", Kind("PATH", "path", _path), "", "of the address, with the query", "/index.html", required=True
        ),
        Setting("mime", _text("mime", "[a-z0-9.+-]+/[a-z0-9.+-]+"), "", "the media type", "text/html", required=True),
        Setting("size", count("BYTES", "bytes", 0, LARGEST_SIZE), "", "on disk", "14000", required=True),
        Setting("sha256", _text("sha256", "[0-9a-f]{64}"), "", "of the file", "64 hexadecimal digits", required=True),
    )
)


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
        return {key: getattr(self, key) for key in OBJECT.by_name}


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
    """The manifest in that text. Errors name `source`, the line and the key."""
    root = read_yaml(text, source, REFERENCE, scale=SCALE)
    entries = SITE.entries(root)
    values = SITE.values_of(entries)
    listed = entries["objects"]
    if not listed.is_list:
        raise listed.error("it is not a list of at least one object", REFERENCE)
    written = listed.elements()
    objects = tuple(SiteObject(**OBJECT.values_of(OBJECT.entries(each))) for each in written)
    _require_single(objects, written)
    if values["entry"] not in {each.url for each in objects}:
        near = near_miss(values["entry"], (each.url for each in objects))
        remedy = near or "Write host and path, like example.test/index.html"
        raise entries["entry"].error(f"{values['entry']!r} is none of the objects", remedy.strip())
    return Manifest(objects=objects, **values)


def _require_single(objects: Sequence[SiteObject], written: Sequence[Written]) -> None:
    """Each URL once. Two URLs may share a file (/ and /index.html), and then they have the same size and sha256."""
    urls: set[str] = set()
    files: dict[str, tuple[int, str]] = {}
    for each, where in zip(objects, written, strict=True):
        if each.url in urls:
            raise where.error(f"{each.url} is there twice", "Leave one of them out")
        urls.add(each.url)
        if files.setdefault(each.file, (each.size, each.sha256)) != (each.size, each.sha256):
            what = f"{each.url} and another object are the file {each.file}, with other contents"
            raise where.error(what, "Give both the same size and sha256")
