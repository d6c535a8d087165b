"""A new site in the archive, from what was recorded or imported: whole, or not there at all."""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from pathlib import Path
from types import MappingProxyType

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.paths import sites_folder
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.collect.measured_distances import measured_distances
from lanelab.driver.collect.page_scope import reached
from lanelab.driver.site.archive.addresses import NotServedError, address_of
from lanelab.driver.site.archive.limits import OF_LANELAB
from lanelab.driver.site.archive.objects import OK, Objects, objects_of
from lanelab.driver.site.archive.read_warc import read_warc, shown
from lanelab.driver.site.archive.secrets import without_secrets
from lanelab.driver.site.archive.write_warc import write_warc
from lanelab.driver.site.composition import composition_of
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.load import require_unused
from lanelab.driver.site.manifest import MANIFEST, PAGE_NAME, Manifest, parse_manifest
from lanelab.driver.site.redirects import REDIRECTS
from lanelab.driver.site.site import SiteObject, SitePage, StoredObject

ARCHIVE = "archive.warc.gz"
MAKING = ".making"  # the end of a folder's name that is not finished
HOME = "home"  # the entry, where it has no other name
HTML = ("text/html", "application/xhtml+xml")
MOST_WORDS = 1_000  # entries of a list in the manifest that people read
LONGEST_WORD = 300
YOUNG_S = 60.0
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_EXCHANGE, _HERE = 2, -100  # renameat2's RENAME_EXCHANGE, AT_FDCWD


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that are known of a recording besides its exchanges."""

    title: str
    source: str
    entry: str | None = None  # address of the page, with or without scheme; None: what is likely
    likely_entry: str | None = None  # what the recording takes for its page; where that has no answer, its first page
    date: str | None = None  # UTC; None: when the entry was answered
    user_agent: str | None = None
    viewport: tuple[int, int] | None = None
    licence: str | None = None
    synthetic: bool = False
    unanswered: tuple[str, ...] = ()  # host and path
    left_out: tuple[str, ...] = ()  # words
    pages: tuple["PageOf", ...] = ()  # where it is to have several
    of_one_load: bool = (
        True  # False: some of it may be of other pages, and what the page does not name is taken for late
    )


@dataclass(frozen=True, slots=True)
class PageOf:
    """A page that the site is to have."""

    name: str
    url: str  # with or without scheme
    targets: frozenset[str] = frozenset()  # host and path of what a load of it asked for before its load event
    is_whole: bool = False  # that is all it needs; else what HTML and CSS name as well: that load had a cache


@dataclass(frozen=True, slots=True)
class NewSite:
    folder: Path
    manifest: Manifest
    objects: int


def require_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        remedy = "Use a to z, 0 to 9 and '-', at most 64 of them, like news-2012"
        raise InputError(f"{name!r} is no name for a site", remedy, key="--name")


def require_free(name: str, archive_folder: Path | None = None, *, replace: bool = False) -> None:
    """Refuse a name that is taken before anything is recorded for it."""
    require_name(name)
    require_unused(name, archive_folder, replace=replace)


def add_site(
    name: str,
    exchanges: Iterable[Exchange],
    facts: Facts,
    archive_folder: Path | None = None,
    *,
    replace: bool = False,
    keep_secrets: bool = False,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> NewSite:
    """Return a folder in the archive with the recording and its manifest. `replace`: in the place of the one with that
    name. Secrets are left out and named, unless they are to be kept. `files`: what lies beside them, by name."""
    archive_folder = archive_folder or sites_folder()
    require_free(name, archive_folder, replace=replace)
    exchanges, secrets = (tuple(exchanges), ()) if keep_secrets else without_secrets(exchanges)
    objects = objects_of(exchanges)
    entry = _entry(objects, facts.entry, facts.likely_entry)
    pages = _pages(objects, facts)
    if pages:
        objects = _with_late(objects, frozenset(url for page in pages for url in page.needs), never_else=True)
    elif not facts.of_one_load:
        objects = _with_late(objects, reached(objects.exchanges, entry.url))
    manifest = _manifest(objects, entry, pages, facts, (*facts.left_out, *objects.left_out, *secrets))
    try:
        archive_folder.mkdir(parents=True, exist_ok=True)
        _sweep(archive_folder)
        aside = Path(tempfile.mkdtemp(prefix=f".{name}-", suffix=MAKING, dir=archive_folder))
        try:
            with _in_use(aside):
                manifest = _write(aside, objects, manifest)
                for file, data in files.items():
                    (aside / file).write_bytes(data)
                _put(aside, archive_folder / name, replace=replace)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        what = f"cannot write the site {name} to {archive_folder}: {error.strerror or error}"
        raise StoreError(what, "Free some space, or set LANELAB_SITES to a folder that can be written") from error
    return NewSite(archive_folder / name, manifest, len(objects.stored))


@contextlib.contextmanager
def _in_use(folder: Path) -> Iterator[bool]:
    """Keep others from sweeping this folder away. False: somebody else is using it. Ends with the process, however that
    ends."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    free = False
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        yield free
    finally:
        os.close(opened)


def _sweep(archive_folder: Path) -> None:
    """Remove what a lanelab left that was killed. Another may have made its folder and not yet say that it uses it, so
    what is young stays."""
    for left in archive_folder.glob(f".*{MAKING}"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > YOUNG_S:
                with _in_use(left) as free:
                    if free:
                        shutil.rmtree(left)


def _entry(objects: Objects, wanted: str | None, likely: str | None) -> SiteObject:
    """Return the page that is loaded: what was asked for, else what is likely, else the first page of the recording."""
    gets = [each.object for each in objects.stored if each.object.method == "GET"]
    if not gets:
        why = f": {objects.left_out[0]}" if objects.left_out else ""
        raise InputError(f"the recording has no page that can be served{why}", "See docs/reference/import.md")
    if wanted is None and likely is not None:
        with contextlib.suppress(InputError):
            return _entry(objects, likely, None)
    if wanted is None:
        pages = [each for each in gets if each.status == OK and each.mime in HTML]
        return (pages or [each for each in gets if each.status == OK] or gets)[0]
    scheme, mark, rest = wanted.partition("://")
    try:
        address = address_of(wanted if mark else f"http://{wanted}")
    except NotServedError as error:
        raise InputError(f"{wanted!r} cannot be the entry: {error}", "Name another page", key="--entry") from error
    entries = [each for each in gets if each.url == address.host + address.path]
    if not entries:
        near = near_miss(address.host + address.path, [each.url for each in gets])
        what = f"the recording has no answer for {shown(rest if mark else scheme)}"
        raise InputError(what, near.strip() or "Name a page that it has", key="--entry")
    return min(entries, key=lambda each: bool(mark) and each.scheme != address.scheme)


def _pages(objects: Objects, facts: Facts) -> tuple[SitePage, ...]:
    """Return the pages with what each needs, in the order of the recording."""
    pages = []
    for each in facts.pages:
        with _named(each.name):
            url = _entry(objects, each.url, None).url
        needs = each.targets if each.is_whole else each.targets | reached(objects.exchanges, url)
        others = _unique(one.object.url for one in objects.stored if one.object.url in needs and one.object.url != url)
        pages.append(SitePage(each.name, url, (url, *others)))
    return tuple(pages)


@contextlib.contextmanager
def _named(page: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(f"the page {page}: {error.what}", error.remedy, key="--page") from error


def read_pages(texts: Iterable[str]) -> dict[str, str]:
    """Read NAME=URL of each page. Raises InputError."""
    pages: dict[str, str] = {}
    for text in texts:
        name, mark, url = text.partition("=")
        if not mark or not url or not PAGE_NAME.fullmatch(name):
            raise InputError(f"{text!r} is no page", "Write NAME=URL, like article=example.org/a", key="--page")
        if name in pages or url in pages.values():
            raise InputError(f"{text!r} is there twice", "Leave one of them out", key="--page")
        pages[name] = url
    return pages


def with_home(entry: str, pages: Mapping[str, str]) -> dict[str, str]:
    """Return the pages with the entry, which is `home` where none of them is it."""
    if not pages or entry in pages.values():
        return dict(pages)
    if HOME in pages:
        raise InputError(f"{HOME} is the page {entry}", "Give the other page another name", key="--page")
    return {HOME: entry, **pages}


def _with_late(objects: Objects, needed: frozenset[str], *, never_else: bool = False) -> Objects:
    """Take for late what is not needed. `never_else`: nothing that is needed is late, whatever the recording says."""
    stored = (
        StoredObject(with_changes(each.object, late=late), each.body)
        for each in objects.stored
        for late in [each.object.url not in needed or (each.object.late and not never_else)]
    )
    return with_changes(objects, stored=tuple(stored))


def _manifest(
    objects: Objects, entry: SiteObject, pages: tuple[SitePage, ...], facts: Facts, left_out: Sequence[str]
) -> Manifest:
    objects_of_site = [each.object for each in objects.stored]
    page = f"{entry.scheme}://{entry.url}"
    exchange = next(each for each in objects.exchanges if address_of(each.url).url == page and each.method == "GET")
    user_agent = facts.user_agent or _user_agent(exchange)
    return Manifest(
        title=_line(facts.title) or entry.url,
        source=_line(facts.source) or "unknown",
        entry=entry.url,
        entry_scheme=entry.scheme,
        pages=pages,
        date=facts.date or exchange.at_utc,
        user_agent=user_agent,
        viewport=facts.viewport,
        licence=_line(facts.licence or "") or None,
        synthetic=facts.synthetic,
        archive=ARCHIVE,
        late=_unique(each.url for each in objects_of_site if each.late),
        unanswered=_unique(each for each in facts.unanswered if each.isprintable()),
        think=_think(objects.exchanges),
        distances=measured_distances(objects.exchanges),
        left_out=_few(left_out),
        composition=composition_of(objects_of_site),
    )


def _think(exchanges: Sequence[Exchange]) -> dict[str, int]:
    """Return how long the server thought, by host and path; of several answers that of the first. One that leads to
    the same address with TLS is left out: an arm has one scheme, and the page's answer alone."""
    times: dict[str, int] = {}
    urls = [address_of(each.url).url.partition("://")[2] for each in exchanges]
    answered = {url for each, url in zip(exchanges, urls, strict=True) if each.status not in REDIRECTS}
    for each, url in zip(exchanges, urls, strict=True):
        leads_away = each.status in REDIRECTS and url in answered
        if each.think_ms and url.isprintable() and not leads_away:
            times.setdefault(url, each.think_ms)
    return times


def _user_agent(exchange: Exchange) -> str | None:
    """Return what the browser called itself."""
    named = (value for name, value in exchange.request_headers if name.lower() == "user-agent")
    text = next(named, "").strip()
    return text if re.fullmatch("[ -~]+", text) else None


def _line(text: str) -> str:
    """One line that a manifest may have."""
    plain = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return plain if len(plain) <= LONGEST_WORD else plain[: LONGEST_WORD - 1] + "…"


def _few(words: Iterable[str]) -> tuple[str, ...]:
    listed = _unique(filter(None, map(_line, words)))
    more = (f"and {len(listed) - MOST_WORDS:,} more",) if len(listed) > MOST_WORDS else ()
    return (*listed[:MOST_WORDS], *more)


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _write(aside: Path, objects: Objects, manifest: Manifest) -> Manifest:
    """The folder's files, read back before anybody else sees them."""
    file = aside / ARCHIVE
    with file.open("wb") as out:
        write_warc(out, objects.exchanges, manifest.title)
        out.flush()
        os.fsync(out.fileno())
    data = file.read_bytes()
    manifest = with_changes(manifest, sha256=hashlib.sha256(data).hexdigest())
    again = objects_of(read_warc(data, ARCHIVE, OF_LANELAB).exchanges, OF_LANELAB, by_lanelab=True)
    if _without_late(again.stored) != _without_late(objects.stored):
        raise StoreError("what was written of the site is not what was to be written", "Please report this")
    text = manifest.to_yaml()
    parse_manifest(text, MANIFEST)
    (aside / MANIFEST).write_text(text)
    aside.chmod(0o755)  # mkdtemp gives it to its owner alone
    return manifest


def _without_late(stored: Iterable[StoredObject]) -> list[StoredObject]:
    """The archive does not say what was late: the manifest does."""
    return [StoredObject(with_changes(each.object, late=False), each.body) for each in stored]


def _put(aside: Path, folder: Path, *, replace: bool) -> None:
    if replace and folder.is_dir() and not folder.is_symlink():
        _swap(aside, folder)
        return
    try:
        aside.rename(folder)
    except OSError as error:
        if os.path.lexists(folder):
            raise InputError(f"there is {folder} already", "Choose another name, or remove it") from error
        raise


def _swap(aside: Path, folder: Path) -> None:
    """Swap the two at once: there is a whole site at any moment, the old one or the new one."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_HERE, os.fsencode(aside), _HERE, os.fsencode(folder), _EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
