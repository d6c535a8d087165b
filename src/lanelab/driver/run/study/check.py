"""A study's artifact on another machine: unpacked, with its own sites, ready to be run as it was run there."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.base import configuration
from lanelab.driver.base.errors import ArtifactError, InputError, LanelabError, RecordError
from lanelab.driver.base.writing import writing
from lanelab.driver.run.served_sites import site_digest
from lanelab.driver.run.start import load_target
from lanelab.driver.run.study.archive import file_digest, unpack
from lanelab.driver.run.study.artifact import ABOUT, ARTIFACT_FORMAT, RUN, SITES, ArtifactAbout
from lanelab.driver.site.load import site_folder, site_names
from lanelab.driver.site.manifest import MANIFEST, read_manifest
from lanelab.driver.site.site import site_of

UNPACKED, CHOSEN, HERE, PAGE, ARCHIVE_DIGEST = "artifact", "sites", "run", "check.md", "archive.sha256"
_SITE = re.compile(r"[a-z0-9][a-z0-9._-]*")
_OTHER = "Get the archive again from where it was published"


@dataclass(frozen=True, slots=True)
class Unpacked:
    """An artifact in a folder of a check."""

    folder: Path  # of the check
    about: ArtifactAbout

    @property
    def run(self) -> Path:
        """The run in the archive."""
        return self.folder / UNPACKED / RUN

    @property
    def here(self) -> Path:
        """The run that is made here."""
        return self.folder / HERE

    @property
    def sites(self) -> list[str]:
        return sorted({site_of(target) for target in self.about.sites})


def opened(archive: Path, folder: Path) -> Unpacked:
    """Unpack into the folder, or go on with what is there, if it is of the same archive."""
    noted, inner = folder / ARCHIVE_DIGEST, folder / UNPACKED
    if not archive.is_file():
        raise ArtifactError(f"there is no archive {archive}", "Name the file that lanelab study artifact wrote")
    digest = file_digest(archive)
    with writing(f"use the folder {folder}"):
        if noted.is_file() and inner.is_dir():
            if noted.read_text().strip() != digest:
                what = f"the folder {folder} is of a check of another archive"
                raise InputError(what, "Name another folder", key="--out")
        elif folder.is_dir() and {path.name for path in folder.iterdir()} - {UNPACKED, ARCHIVE_DIGEST}:
            raise InputError(f"the folder {folder} is not empty, and no check", "Name another folder", key="--out")
        else:
            shutil.rmtree(inner, ignore_errors=True)
            unpack(archive, inner)
            noted.write_text(digest + "\n")
    return Unpacked(folder, _about(archive, inner))


def _about(archive: Path, inner: Path) -> ArtifactAbout:
    try:
        data = json.loads((inner / ABOUT).read_bytes())
        version = data.get("format") if isinstance(data, dict) else None
        if version != ARTIFACT_FORMAT:
            what = f"{archive} has format {version}, and this lanelab reads format {ARTIFACT_FORMAT}"
            raise ArtifactError(what, "Use the lanelab that made it")
        about = ArtifactAbout.from_json(data)
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{archive}: {ABOUT} cannot be read", _OTHER) from error
    except RecordError as error:
        raise ArtifactError(f"{archive}: {ABOUT} is not as its format says: {error.what}", _OTHER) from error
    for name in (about.study, *(site_of(target) for target in about.sites)):
        if not _SITE.fullmatch(name):
            raise ArtifactError(f"{archive}: {ABOUT} has {name[:60]!r}, which is no name", _OTHER)
    return about


# --- its sites


@contextmanager
def its_sites(unpacked: Unpacked, *, run_programs: bool) -> Iterator[list[str]]:
    """Inside, the archive of sites is that of the artifact. Gives what was chosen for each site. One that is here with
    the same digest is taken from here; the bytes are the same, and nothing of others' has to be run."""
    is_here = {name: _is_here(unpacked, name) for name in unpacked.sites}
    before, chosen = configuration.current(), unpacked.folder / CHOSEN
    sentences = []
    with writing(f"write {chosen}"):
        shutil.rmtree(chosen, ignore_errors=True)
        chosen.mkdir()
        for name, here in is_here.items():
            source = site_folder(name) if here else unpacked.folder / UNPACKED / SITES / name
            if not here:
                _check_folder(source, name, run_programs=run_programs)
            shutil.copytree(source, chosen / name, ignore=shutil.ignore_patterns("__pycache__"))
            sentences.append(
                f"{name}: {'the one that is here: it has the same digest' if here else 'from the archive'}"
            )
    configuration.hold(replace(before, sites=chosen.resolve(), shipped_sites=None))
    try:
        for target, digest in unpacked.about.sites.items():
            if site_digest(load_target(target)) != digest:
                what = f"the site {target} of the archive is not what the run there has loaded"
                raise ArtifactError(what, "Its files or this lanelab differ: use the lanelab that made the archive")
        yield sentences
    finally:
        configuration.hold(before)


def _is_here(unpacked: Unpacked, name: str) -> bool:
    """Return whether this machine's archive of sites has the very same site."""
    if name not in site_names():
        return False
    targets = [target for target in unpacked.about.sites if site_of(target) == name]
    try:
        return all(site_digest(load_target(target)) == unpacked.about.sites[target] for target in targets)
    except LanelabError:  # a local site that is broken, or has not that object, is another one
        return False


def _check_folder(folder: Path, name: str, *, run_programs: bool) -> None:
    if not (folder / MANIFEST).is_file():
        raise ArtifactError(f"the archive does not have the site {name}", _OTHER)
    program = read_manifest(folder / MANIFEST).generate
    if program and not run_programs:
        what = f"the site {name} is made by a program of the archive, {folder / program}, which would run here"
        raise ArtifactError(what, "Read it, and then say --run-programs")
