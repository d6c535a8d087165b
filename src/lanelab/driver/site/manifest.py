"""site.yaml: which objects a site has, read strictly. docs/reference/site.md describes it for users."""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.base.host_names import HOST, is_pattern
from lanelab.driver.base.settings.kinds import FLAG, Kind, choice, count, near_miss, whole_milliseconds
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.settings.source import Written, read_yaml
from lanelab.driver.base.units import Duration
from lanelab.driver.site.composition import Composition, Part
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.site import SiteObject, SitePage, hosts_of

MANIFEST = "site.yaml"
INDEX = "index.html"
REFERENCE = "See docs/reference/site.md"

_THINK = whole_milliseconds(Duration.parse("1ms"), Duration.parse("60s"), "a server cannot think for {time}")
LARGEST_SIZE = 9_999_999_999
SCALE = 50  # a site may have many objects, so its manifest may be so many times larger than an experiment


def _text(what: str, pattern: str = ".*", metavar: str = "TEXT") -> Kind:
    """Return a text of one line that the pattern describes."""

    def parse(value: object, key: str) -> str:
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise InputError(f"{value!r} is not a text of one line", REFERENCE, key=key)
        if not re.fullmatch(pattern, value):
            raise InputError(f"{value!r} is no {what}", REFERENCE, key=key)
        return value

    schema: JsonObject = {"type": ["string", "number"]}
    return Kind(metavar, what, parse, schema if pattern == ".*" else {**schema, "pattern": f"^{pattern}$"})


def _path(value: object, key: str) -> str:
    path: str = _text("path", r"/[!\"$-~]*").parse(value, key)  # ASCII without space and #, as a request line has it
    file = path.partition("?")[0]
    if {".", ".."} & set(file.split("/")) or "//" in file:
        raise InputError(f"{path!r} has an empty part, '.' or '..'", "Write it without", key=key)
    return path


_HOST = _text("host", HOST, "HOST")

PAGE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_FILE = r"[a-z0-9][a-z0-9._-]*"
_URL = _text("host and path", metavar="HOST/PATH")
_SHA256 = _text("sha256", "[0-9a-f]{64}", "HEX")


def _viewport(value: object, key: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", str(value))
    if not match or not int(match[1]) or not int(match[2]):
        raise InputError(f"{value!r} is no viewport", "Write width and height, like 1366x768", key=key)
    return int(match[1]), int(match[2])


def _date(value: object, key: str) -> str:
    text: str = _text("date", r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?").parse(value, key)
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"{text!r} is no date: {error}", "Write it like 2026-11-22T10:00:00Z", key=key) from error
    return text


# fmt: off
SITE = Table(
    (
        Setting("title", _text("title"), "", "what the site is", "The dummy page", required=True),
        Setting("source", _text("source"), "", "where it is from", "made by a recipe", required=True),
        Setting("entry", _URL, "", "the page that is loaded; with `https://` where it was recorded so",
                "example.test/index.html", required=True),
        Setting("pages", None, "", "where it has several: each page by its name, with a list of its address and what "
                "else it needs when it is loaded alone with an empty cache", "{home: [example.test/index.html]}"),
        Setting("date", Kind("UTC", "date", _date), "",
                "when it was recorded, in UTC", "2026-11-22T10:00:00Z"),
        Setting("user_agent", _text("user agent", r"[ -~]+"), "", "the browser's name while it was recorded",
                "Mozilla/5.0 (Windows Phone)"),
        Setting("viewport", Kind("WxH", "width x height in pixels", _viewport), "", "of the view, likewise", "412x823"),
        Setting("licence", _text("licence"), "", "what one may do with the content", "MIT"),
        Setting("synthetic", FLAG, "false", "whether the content was made up", "true"),
        Setting("objects", None, "", "everything that a browser may ask for, where the files lie in `content/` or a "
                "program makes them", "[{host: example.test, …}]"),
        Setting("generate", _text(f"name of a Python file beside {MANIFEST}", r"[a-z0-9_-]+\.py", "FILE"), "",
                "the program that makes the files", "generate.py"),
        Setting("archive", _text(f"name of a WARC file beside {MANIFEST}", _FILE, "FILE"), "",
                "the recording", "archive.warc.gz"),
        Setting("sha256", _SHA256, "", "of the recording", "64 hexadecimal digits"),
        Setting("recipe", _text(f"name of a recipe beside {MANIFEST}", _FILE, "FILE"), "",
                "what the site is generated from", "recipe.yaml"),
        Setting("fetch", None, "", "the package that has the files", "{from: npm, …}"),
        Setting("digest", _SHA256, "", "of all objects that a recipe or a package gives", "64 hexadecimal digits"),
        Setting("late", None, "", "objects that are asked for after the load event, or not in each load",
                "[example.test/beacon]"),
        Setting("unanswered", None, "", "what the page asks for and nobody answered when it was recorded",
                "[dead.example.test/ad.js]"),
        Setting("think", None, "", "how long servers thought about answers when it was recorded, beyond a round trip",
                "{example.test/: 120ms}"),
        Setting("distances", None, "", "the round trip to each host when it was recorded, or as you want it; "
                "links with [`distances: recorded`](link.md#distances) have these",
                "{cdn.example.test: 12ms, default: 80ms}"),
        Setting("left_out", None, "", "what the recording had and the site has not", "[a WebSocket]"),
        Setting("composition", None, "", "objects and bytes by type, as tools count them", "{image: {…}}"),
        Setting("fidelity", None, "", "how faithful the replay is, as `lanelab site verify` found", "{score: …}"),
    )
)
# fmt: on
MAKERS = ("objects", "archive", "recipe", "fetch")  # keys that say where the objects are from: exactly one is there
GET = "GET"
OBJECT = Table(
    (
        Setting("host", _HOST, "", "of the address", "example.test", required=True),
        Setting(
            "path", Kind("PATH", "path", _path), "", "of the address, with the query", "/index.html", required=True
        ),
        Setting("mime", _text("mime", "[a-z0-9.+-]+/[a-z0-9.+-]+"), "", "the media type", "text/html", required=True),
        Setting("size", count("BYTES", "bytes", 0, LARGEST_SIZE), "", "on disk", "14000", required=True),
        Setting("sha256", _SHA256, "", "of the file", "64 hexadecimal digits", required=True),
        Setting(
            "method",
            choice("METHOD", GET, "POST"),
            GET,
            "of the request; a POST is answered whatever it carries",
            "POST",
        ),
    )
)
Plain = Any  # what YAML and JSON consist of


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of site.yaml."""

    title: str
    source: str
    entry: str  # host and path
    objects: tuple[SiteObject, ...] = ()  # where the manifest lists them
    generate: str | None = None
    pages: tuple[SitePage, ...] = ()
    entry_scheme: str = "http"
    date: str | None = None
    user_agent: str | None = None
    viewport: tuple[int, int] | None = None
    licence: str | None = None
    synthetic: bool = False
    archive: str | None = None
    sha256: str | None = None
    recipe: str | None = None
    fetch: Plain = None  # read by driver/site/fetch
    digest: str | None = None
    late: tuple[str, ...] = ()  # host and path
    unanswered: tuple[str, ...] = ()  # likewise
    think: Mapping[str, int] = field(default_factory=dict)  # ms, by host and path
    distances: tuple[tuple[str, str], ...] = ()  # host, and the round trip to it
    left_out: tuple[str, ...] = ()
    composition: Composition | None = None
    fidelity: Fidelity | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        return hosts_of(self.entry.partition("/")[0], self.objects)

    @property
    def entry_host(self) -> str:
        return self.entry.partition("/")[0]

    @property
    def entry_path(self) -> str:
        return "/" + self.entry.partition("/")[2]

    @property
    def total_bytes(self) -> int:
        return sum(each.size for each in self.objects)

    def to_yaml(self) -> str:
        """The manifest as a file; read back it is the same."""
        data: dict[str, Plain] = {}
        for setting in SITE.settings:
            value = getattr(self, setting.name)
            if setting.name == "entry" and self.entry_scheme == "https":
                value = f"https://{self.entry}"
            if setting.name in _WRITTEN and value:
                value = _WRITTEN[setting.name](value)
            if value or (setting.required and value is not None):
                data[setting.name] = list(value) if isinstance(value, tuple) else value
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=10_000)


# How values are written that are not written as they are.
_WRITTEN: Mapping[str, Callable[[Any], Plain]] = {
    "viewport": lambda size: f"{size[0]}x{size[1]}",
    "objects": lambda objects: [_written(each) for each in objects],
    "pages": lambda pages: {each.name: list(each.needs) for each in pages},
    "distances": dict,
    "think": lambda times: {url: f"{ms}ms" for url, ms in times.items()},
    "composition": lambda parts: {name: part.to_json() for name, part in parts.items()},
    "fidelity": lambda fidelity: fidelity.to_json(),
}


def _written(each: SiteObject) -> dict[str, Plain]:
    return {key: getattr(each, key) for key in OBJECT.by_name if key != "method" or each.method != GET}


def file_of(each: SiteObject) -> str:
    """Return where it lies below `content/`. A query is a part of the file's name, as in an archive of wget's."""
    path, mark, query = each.path.partition("?")
    named = path + INDEX if path.endswith("/") else path
    return f"{each.host}{named}{mark}{query.replace('/', '%2F')}"


def read_manifest(file: Path) -> Manifest:
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or 'it is no text'}", REFERENCE
        ) from error
    return parse_manifest(text, str(file))


def parse_manifest(text: str, source: str) -> Manifest:
    """Return the manifest in that text. Errors name `source`, the line and the key."""
    root = read_yaml(text, source, REFERENCE, scale=SCALE)
    entries = SITE.entries(root)
    values = SITE.values_of(entries)
    values["fetch"] = entries["fetch"].plain() if "fetch" in entries else None
    values["pages"] = _pages(entries["pages"]) if "pages" in entries else ()
    values["composition"] = _composition(entries["composition"]) if "composition" in entries else None
    values["fidelity"] = _fidelity(entries["fidelity"]) if "fidelity" in entries else None
    for name in ("late", "unanswered", "left_out"):
        values[name] = tuple(entries[name].texts()) if name in entries else ()
    values["think"] = _think(entries["think"]) if "think" in entries else {}
    values["distances"] = _distances(entries["distances"]) if "distances" in entries else ()
    scheme, mark, rest = values["entry"].partition("://")
    if mark and scheme not in ("http", "https"):
        raise entries["entry"].error(f"{scheme!r} is no scheme of a page", "Write http or https, or leave it out")
    values |= {"entry": rest, "entry_scheme": scheme} if mark else {}
    if values["pages"] and values["entry"] not in {each.url for each in values["pages"]}:
        raise entries["pages"].error(f"the entry {values['entry']!r} is none of them", "List what it needs, too")
    _require_one_maker(root, entries)
    values["objects"] = _objects(entries, values["entry"]) if "objects" in entries else ()
    return Manifest(**values)


def _require_one_maker(root: Written, entries: Mapping[str, Written]) -> None:
    named = [name for name in MAKERS if name in entries]
    if not named:
        raise root.error("objects is missing", f"Write objects, archive, recipe or fetch. {REFERENCE}")
    if len(named) > 1:
        raise entries[named[1]].error(f"{named[0]} says already where the objects are from", "Leave one of them out")
    for name, needed in (("archive", "sha256"), ("recipe", "digest"), ("fetch", "digest")):
        if name in entries and needed not in entries:
            raise entries[name].error(f"{needed} is missing", f"Write the {needed} of what is there. {REFERENCE}")
    if "generate" in entries and "objects" not in entries:
        raise entries["generate"].error("objects is missing", "List what the program makes")


def _think(written: Written) -> dict[str, int]:
    times = {}
    for url, entry in written.entries().items():
        with entry.placed({}):
            times[url] = _THINK.parse(entry.text(), "").ns // 1_000_000
    return times


def _distances(written: Written) -> tuple[tuple[str, str], ...]:
    """Return the round trips as they are written. Whether hosts are the site's is known when it is loaded."""
    trips: list[tuple[str, str]] = []
    for host, entry in written.entries().items():
        if not is_pattern(host):
            raise entry.error(
                f"{host!r} is no host", "Write a host of the site, a pattern like '*.ads.example', or default"
            )
        with entry.placed({}):
            trip = Duration.parse(entry.text())
            if not trip:
                raise entry.error("a round trip of zero cannot be had", "Write 1ms or more")
        trips.append((host, entry.text().strip()))
    return tuple(trips)


def _pages(written: Written) -> tuple[SitePage, ...]:
    pages: list[SitePage] = []
    for name, each in written.entries().items():
        if not PAGE_NAME.fullmatch(name):
            raise each.error(f"{name!r} cannot name a page", "Write a to z, 0 to 9 and '-', like article-2")
        needs = tuple(dict.fromkeys(_URL.parse(text, name) for text in each.texts()))
        if same := next((other.name for other in pages if other.url == needs[0]), None):
            raise each.error(f"it is the page {same}", "Leave one of them out")
        pages.append(SitePage(name, needs[0], needs))
    return tuple(pages)


def _composition(written: Written) -> Composition:
    try:
        return {name: Part.from_json(each.plain(), name) for name, each in written.entries().items()}
    except RecordError as error:
        raise written.error(f"it is not what tools write: {error.what}", "Remove the key") from error


def _fidelity(written: Written) -> Fidelity:
    try:
        return Fidelity.from_json({"archive": None, **written.plain()})
    except RecordError as error:
        remedy = "Remove the key, and verify the site again: lanelab site verify NAME"
        raise written.error(f"it is not what lanelab writes: {error.what}", remedy) from error


def _objects(entries: Mapping[str, Written], entry: str) -> tuple[SiteObject, ...]:
    listed = entries["objects"]
    if not listed.is_list:
        raise listed.error("it is not a list of at least one object", REFERENCE)
    written = listed.elements()
    objects = tuple(SiteObject(**OBJECT.values_of(OBJECT.entries(each))) for each in written)
    _require_single(objects, written)
    if entry not in {each.url for each in objects}:
        near = near_miss(entry, (each.url for each in objects))
        remedy = near or "Write host and path, like example.test/index.html"
        raise entries["entry"].error(f"{entry!r} is none of the objects", remedy.strip())
    return objects


def _require_single(objects: Sequence[SiteObject], written: Sequence[Written]) -> None:
    """Refuse a URL that is there twice. Two URLs may share a file (/ and /index.html), and then they have the same size
    and sha256."""
    urls: set[str] = set()
    files: dict[str, tuple[int, str]] = {}
    for each, where in zip(objects, written, strict=True):
        if each.url in urls:
            raise where.error(f"{each.url} is there twice", "Leave one of them out")
        urls.add(each.url)
        if files.setdefault(file_of(each), (each.size, each.sha256)) != (each.size, each.sha256):
            what = f"{each.url} and another object are the file {file_of(each)}, with other contents"
            raise where.error(what, "Give both the same size and sha256")
