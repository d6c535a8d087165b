"""Sites that controllers have sent to this machine, by their digest. They never get into the archive of sites."""

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lanelab.driver.base.errors import InputError, LanelabError, PackError, RecordError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.writing import writing
from lanelab.driver.run.folder.digests import file_digest
from lanelab.driver.run.served_sites import site_digest
from lanelab.driver.run.sweep.messages import SiteDone
from lanelab.driver.run.sweep.packs import unpack
from lanelab.driver.site import bodies
from lanelab.driver.site.site import Site

CACHE = "sites-of-controllers"  # below the build folder
SITE, BODIES = "site.json", "bodies"
SHA256 = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class SiteCache:
    """All workers of a machine share it. A site in it is whole, and what its digest says."""

    def __init__(self, arriving: Path) -> None:
        """Open the cache. `arriving` is a folder for pieces, of this worker alone."""
        self._arriving = arriving

    @property
    def _folder(self) -> Path:
        return build_folder() / CACHE

    def find(self, digest: str) -> Site | None:
        """The site with that digest; what is damaged is removed."""
        _require_digest(digest)
        folder = self._folder / digest
        if not folder.is_dir():  # nothing to remove: another worker may be putting it there now
            return None
        try:
            site = _read(folder)
        except (OSError, ValueError, LanelabError):
            shutil.rmtree(folder, ignore_errors=True)
            return None
        return site if site_digest(site) == digest else None

    def add_piece(self, digest: str, offset: int, data: bytes) -> None:
        """Add a part of the archive of its bodies. One at 0 begins it anew."""
        _require_digest(digest)
        with writing("keep a piece of a site"):
            self._arriving.mkdir(parents=True, exist_ok=True)
            with self._part(digest).open("r+b" if offset else "wb") as file:
                file.seek(offset)
                file.write(data)

    def finish(self, done: SiteDone) -> Site:
        """All pieces came. Raises PackError where they are not the site."""
        part = self._part(_require_digest(done.digest))
        try:
            if not part.is_file():
                raise PackError(f"no piece of the site {done.name} came")
            if part.stat().st_size != done.bytes or file_digest(part) != done.sha256:
                raise PackError(f"the site {done.name} came damaged")
            with _aside(self._folder) as aside:
                self._fill(aside, part, done)
                with contextlib.suppress(FileExistsError, OSError):  # another worker was faster
                    aside.rename(self._folder / done.digest)
        finally:
            part.unlink(missing_ok=True)
        site = self.find(done.digest)
        if site is None:
            raise PackError(f"the site {done.name} cannot be kept in {self._folder}", "Is it writable?")
        return site

    def _fill(self, aside: Path, part: Path, done: SiteDone) -> None:
        site = _site_of(done.site, aside / BODIES)
        with writing(f"keep the site {done.name}"):
            (aside / BODIES).mkdir()
            unpack(part, {each.sha256: each.size for each in site.objects}, aside / BODIES)
            bodies.verify(aside / BODIES, site.objects, "It is sent again")
            if site_digest(site) != done.digest:
                raise PackError(f"what came as the site {done.name} is another one")
            (aside / SITE).write_text(json.dumps({**site.to_json(), "content": ""}))
            aside.chmod(0o755)  # mkdtemp gives it to its owner alone

    def _part(self, digest: str) -> Path:
        return self._arriving / f"{digest}.part"


def _read(folder: Path) -> Site:
    site = _site_of(json.loads((folder / SITE).read_text()), folder / BODIES)
    bodies.verify(site.content, site.objects, "It is sent again")
    os.utime(folder)
    return site


def _site_of(data: object, content: Path) -> Site:
    """Raises PackError for what would not be a site, or would have files elsewhere."""
    try:
        site = Site.from_json(data, "site")
    except RecordError as error:
        raise PackError(f"what came is no site: {error}") from error
    if not NAME.fullmatch(site.name) or not all(SHA256.fullmatch(each.sha256) for each in site.objects):
        raise PackError(f"what came is no site: {site.name[:60]!r} has a name or a digest that is none")
    return replace(site, content=content)


def _require_digest(digest: str) -> str:
    if not SHA256.fullmatch(digest):
        raise InputError(f"{digest[:80]!r} is no digest of a site", "Use the same lanelab on both sides")
    return digest


@contextlib.contextmanager
def _aside(cache: Path) -> Iterator[Path]:
    """Give a folder that is not there any more afterwards, unless it got another name."""
    with writing("keep a site"):
        cache.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".", suffix=".making", dir=cache))
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)
