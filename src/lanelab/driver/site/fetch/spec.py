"""The key `fetch` of site.yaml: which packages have a site's files, and which of these are its objects."""

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, choice, one_line
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.settings.source import Written, read_yaml

REFERENCE = "See docs/reference/generate.md"
KINDS = ("npm", "pypi", "debian")
INDEX = "index.html"  # the file of a folder's address


def _text(what: str, regex: str, metavar: str) -> Kind:
    def parse(value: object, key: str) -> str:
        text = one_line(value, key, what)
        if not re.fullmatch(regex, text):
            raise InputError(f"{text!r} is no {what}", REFERENCE, key=key)
        return text

    return Kind(metavar, what, parse, {"type": ["string", "number"], "pattern": f"^{regex}$"})


# No name begins with "-", so none can be an option of the program that it is given to.
_NAME = _text("name of a package", r"(?:@[a-z0-9][a-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9+._-]*", "NAME")
_VERSION = _text("version", r"[A-Za-z0-9][A-Za-z0-9+~:._-]*", "VERSION")
_SHA256 = _text("sha256", "[0-9a-f]{64}", "HEX")
_PART = r"(?!\.\.?/)[^/\s\\]+/"
_ROOT = _text("folder inside the package", rf"({_PART})*(?!\.\.?$)[^/\s\\]*", "FOLDER")
_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_ADDRESS = rf'(?:https?://)?{_LABEL}(?:\.{_LABEL})+/[!"$-~]*'

# fmt: off
PACKAGE = Table(
    (
        Setting("from", choice("KIND", *KINDS), "", "the registry: npm's, Python's (wheels), or that of the "
                "Debian that this machine runs", "npm", required=True),
        Setting("package", _NAME, "", "its name there", "reveal.js", required=True),
        Setting("version", _VERSION, "", "exactly this one", "6.0.2", required=True),
        Setting("sha256", _SHA256, "", "of the file that the registry gives", "64 hexadecimal digits", required=True),
        Setting("root", _ROOT, "", "the folder in it whose files are served", "package/dist",
                default_words="all of it"),
        Setting("at", _text("host and path", _ADDRESS + "(?<=/)", "HOST/PATH/"), "", "the address of that folder",
                "reveal.test/", required=True),
    )
)
FETCH = Table(
    (
        Setting("packages", None, "", "the packages; where two have a file, the first one gives it", "[{from: npm, …}]",
                written="a list of mappings", required=True),
        Setting("objects", None, "", "what the page asks for. With `https://` what it names so",
                "[reveal.test/index.html]", written="a list of addresses", required=True),
    )
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Address:
    scheme: str
    host: str
    path: str

    @property
    def url(self) -> str:
        return self.host + self.path


@dataclass(frozen=True, slots=True)
class Package:
    kind: str
    name: str
    version: str
    sha256: str
    root: str  # without a slash at its end
    at: str  # host and path, with a slash at its end

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    def has(self, address: Address) -> bool:
        """Return whether the file could be in it."""
        return address.url.startswith(self.at)

    def member(self, address: Address) -> str:
        """Return the name of the file in the package."""
        path = address.url.removeprefix(self.at).partition("?")[0]
        path += INDEX if not path or path.endswith("/") else ""
        return posixpath.normpath(f"{self.root}/{path}" if self.root else path)


@dataclass(frozen=True, slots=True)
class Fetch:
    packages: tuple[Package, ...]
    objects: tuple[Address, ...]


def read_fetch(file: Path) -> Fetch:
    """Read the packages of a manifest. Errors name the file, the line and the key."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}", REFERENCE) from error
    return parse_fetch(text, str(file))


def parse_fetch(text: str, source: str) -> Fetch:
    root = read_yaml(text, source, REFERENCE, scale=50)
    written = root.entries().get("fetch")
    if written is None:
        raise root.error("fetch is missing", REFERENCE)
    entries = FETCH.entries(written)
    packages = tuple(_package(each) for each in entries["packages"].elements())
    objects = tuple(_address(each) for each in entries["objects"].elements())
    urls = [each.url for each in objects]
    for each, where in zip(objects, entries["objects"].elements(), strict=True):
        if urls.count(each.url) > 1:
            raise where.error(f"{each.url} is there twice", "Leave one of them out")
    return Fetch(packages, objects)


def _package(written: Written) -> Package:
    values = PACKAGE.values_of(PACKAGE.entries(written))
    at = values["at"].partition("://")[2] or values["at"]
    return Package(
        kind=values["from"],
        name=values["package"],
        version=values["version"],
        sha256=values["sha256"],
        root=(values["root"] or "").rstrip("/"),
        at=at,
    )


def _address(written: Written) -> Address:
    text = written.text()
    if not re.fullmatch(_ADDRESS, text):
        raise written.error(f"{text!r} is no host and path", "Write one like reveal.test/index.html")
    scheme, mark, rest = text.partition("://")
    host, _, path = (rest if mark else text).partition("/")
    return Address(scheme if mark else "http", host, f"/{path}")
