"""The archive of sites: what there is, and a site ready to be served or prepared.

A site is made once, into a folder of the cache that is named by everything that it is made from.
"""

import difflib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from lanelab.driver.base.errors import BedError, InputError, RecordError
from lanelab.driver.base.paths import build_folder, site_archives
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.site import bodies, content, fetch, generate
from lanelab.driver.site.archive import make as archive_maker
from lanelab.driver.site.content import CACHE
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.manifest import MANIFEST, Manifest, read_manifest
from lanelab.driver.site.site import PAGE_MARK, Site, SiteObject, SitePage, StoredObject, page_named

Maker = Callable[[Path, Manifest], Iterable[StoredObject]]
# By the key of the manifest that says where the objects are from.
MAKERS: Mapping[str, Maker] = {
    "objects": content.make,
    "archive": archive_maker.make,
    "recipe": generate.make,
    "fetch": fetch.make,
}

OBJECTS, BODIES = "objects.json", "bodies"
FORMAT = "2"  # of the cache; another one is made anew


def site_names(archive: Path | None = None) -> list[str]:
    """Return the names of that archive's sites; without one, of all that there are."""
    return sorted(_folders(archive))


def site_folder(name: str, archive: Path | None = None) -> Path:
    """Return where the site is. Raises InputError where there is none. Whether its manifest can be read is not
    asked."""
    folders = _folders(archive)
    if name not in folders:
        near = difflib.get_close_matches(name.lower(), folders, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        known = ", ".join(sorted(folders)) or "none"
        raise InputError(f"there is no site {name!r}", f"{hint}Sites are {known}", key="sites")
    return folders[name]


def require_unused(name: str, archive: Path | None = None, *, replace: bool = False) -> None:
    """Raises InputError where something has that name already, and is not to be replaced. What lanelab brings is not
    overwritten then: the user's own goes first."""
    if not replace and any(os.path.lexists(each / name) for each in ((archive,) if archive else site_archives())):
        raise InputError(f"there is a site {name} already", "Choose another name, or add --replace", key="--name")


def _folders(archive: Path | None) -> dict[str, Path]:
    """Return every folder with a manifest, by its name. Of two with one name the user's own goes first."""
    folders: dict[str, Path] = {}
    for each in (archive,) if archive else site_archives():
        try:
            whole = [folder for folder in each.iterdir() if not folder.name.startswith(".")]  # those are not finished
            folders = {**{folder.name: folder for folder in whole if (folder / MANIFEST).is_file()}, **folders}
        except OSError as error:
            raise InputError(f"cannot read the archive of sites {each}: {error.strerror}", "Bring it back") from error
    return folders


def read_site_manifest(name: str, archive: Path | None = None) -> Manifest:
    """Return what a site consists of, without its files."""
    return read_manifest(site_folder(name, archive) / MANIFEST)


def load_site(name: str, archive: Path | None = None) -> Site:
    """Return the site, ready to be served; of SITE@PAGE what that page needs. Makes its bodies where they are not
    there; refuses what is not the manifest's."""
    base, mark, page = name.partition(PAGE_MARK)
    whole = _load_whole(base, archive)
    return replace(whole.of_page(page_named(whole.name, whole.pages, page)), name=name) if mark else whole


def _load_whole(name: str, archive: Path | None) -> Site:
    place = site_folder(name, archive)
    manifest = read_manifest(place / MANIFEST)
    folder = _folder_in_cache(name, place, manifest)
    objects = _marked(manifest, _listed(folder))
    digest = digest_of(objects)
    if manifest.digest and digest != manifest.digest:
        what = f"the site {name} was made with other content than its manifest says: digest {digest}"
        raise InputError(what, f"Correct {place}, or write this digest into {MANIFEST}")
    if manifest.entry not in {each.url for each in objects}:
        near = difflib.get_close_matches(manifest.entry, [each.url for each in objects], n=1)
        hint = f"Did you mean {near[0]}?" if near else "Correct the entry"
        raise InputError(f"the site {name} has no object {manifest.entry}, which is its entry", hint)
    return Site(
        name=name,
        title=manifest.title,
        entry_host=manifest.entry_host,
        entry_path=manifest.entry_path,
        objects=objects,
        content=folder / BODIES,
        entry_scheme=manifest.entry_scheme,
        user_agent=manifest.user_agent,
        viewport=manifest.viewport,
        date=manifest.date,
        distances=manifest.distances,
        unanswered=manifest.unanswered,
        think=tuple(manifest.think.items()),
        pages=_require_pages(place, manifest, objects),
    )


def _require_pages(place: Path, manifest: Manifest, objects: Iterable[SiteObject]) -> tuple[SitePage, ...]:
    """Return the pages. Raises InputError where one needs what the site does not have."""
    known = {each.url for each in objects}
    for page in manifest.pages:
        if absent := [url for url in page.needs if url not in known]:
            what = f"{place / MANIFEST}: the page {page.name} needs {absent[0]}, which the site does not have"
            raise InputError(what, (near_miss(absent[0], known) or "Correct its list").strip(), key="pages")
    return manifest.pages


def objects_of(folder: Path, manifest: Manifest) -> Iterable[StoredObject]:
    """Return what the site's maker gives."""
    return MAKERS[_maker(manifest)](folder, manifest)


def _maker(manifest: Manifest) -> str:
    named = {"archive": manifest.archive, "recipe": manifest.recipe, "fetch": manifest.fetch}
    return next((name for name, value in named.items() if value), "objects")


def _marked(manifest: Manifest, objects: Iterable[SiteObject]) -> tuple[SiteObject, ...]:
    """Return the objects with the manifest's word on what is late."""
    late = frozenset(manifest.late)
    return tuple(replace(each, late=True) if each.url in late else each for each in objects)


def _folder_in_cache(name: str, folder: Path, manifest: Manifest) -> Path:
    """Return the folder of the cache with this site, whole."""
    folder_of_site = build_folder() / CACHE / f"{name}-{_key(folder, manifest)}"
    if manifest.objects and manifest.generate is None:
        content.verify(folder / content.CONTENT, manifest.objects, f"Bring it back, or correct {folder / MANIFEST}")
    if not folder_of_site.is_dir():
        _make(name, folder, manifest, folder_of_site)
    remedy = f"Remove the folder {folder_of_site}; it is made again when it is needed"
    bodies.verify(folder_of_site / BODIES, _listed(folder_of_site), remedy)
    return folder_of_site


def _key(folder: Path, manifest: Manifest) -> str:
    """A name for what this makes: another archive or recipe gets another folder, and old runs keep theirs."""
    digest = hashlib.sha256(FORMAT.encode())
    plain = [each.to_json() for each in manifest.objects]
    digest.update(json.dumps([plain, manifest.fetch, manifest.digest], sort_keys=True).encode())
    if manifest.archive:  # of what others make, the manifest has a digest
        digest.update(_archive_code())
    for file in filter(None, (manifest.generate, manifest.archive, manifest.recipe)):
        try:
            digest.update((folder / file).read_bytes() + b"\0")
        except OSError as error:
            raise InputError(f"cannot read {folder / file}: {error.strerror}", "Bring it back") from error
    return digest.hexdigest()[:12]


@cache
def _archive_code() -> bytes:
    """The same for the same code: other code may make other objects of a recording."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted([here / "coding.py", *(here / "archive").glob("*.py")]):
        digest.update(file.read_bytes())
    return digest.digest()


def _listed(folder_of_site: Path) -> tuple[SiteObject, ...]:
    try:
        return tuple(SiteObject.from_json(each) for each in json.loads((folder_of_site / OBJECTS).read_text()))
    except (OSError, ValueError, RecordError) as error:
        remedy = f"Remove the folder {folder_of_site}; it is made again when it is needed"
        raise InputError(
            f"the list of the site's objects cannot be read: {folder_of_site / OBJECTS}", remedy
        ) from error


def _make(name: str, folder: Path, manifest: Manifest, folder_of_site: Path) -> None:
    """Make the folder under a lock and aside, then rename it: nobody sees a part of it."""
    cache = folder_of_site.parent
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder_of_site.is_dir():
                return
            for leftover in cache.glob(f".{name}-*.making"):
                shutil.rmtree(leftover)
            aside = Path(tempfile.mkdtemp(prefix=f".{name}-", suffix=".making", dir=cache))
            try:
                (aside / BODIES).mkdir()
                objects = bodies.store(aside / BODIES, objects_of(folder, manifest))
                (aside / OBJECTS).write_text(json.dumps([each.to_json() for each in objects]))
                aside.chmod(0o755)  # mkdtemp gives it to its owner alone
                aside.rename(folder_of_site)
            finally:
                shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        what = f"cannot make the site {name} in {cache}: {error.strerror or error}"
        raise BedError(what, "Free some space, or set LANELAB_BUILD to a folder that can be written") from error
