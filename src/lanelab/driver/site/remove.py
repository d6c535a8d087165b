"""Removing an archived site: its folder and what was made of it, and nothing else."""

import re
import shutil
from pathlib import Path

from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.base.paths import build_folder, sites_folder
from lanelab.driver.site.content import CACHE
from lanelab.driver.site.load import site_folder

OF_SITE = r"-[0-9a-f]{12}"  # what the cache adds to a site's name; other sites may begin with the same name


def folders_of(name: str, archive: Path | None = None) -> list[Path]:
    """Return the site's folder, then those of the cache. Raises InputError where there is no such site of the
    user's."""
    site = site_folder(name, archive)  # one that cannot be read, above all, has to be removable
    if site.parent != (archive or sites_folder()):
        what = f"the site {name} is part of the installation, in {site.parent}"
        raise InputError(what, "Only sites of your own can be removed", key="NAME")
    cache = build_folder() / CACHE
    folders = cache.iterdir() if cache.is_dir() else iter(())
    pattern = re.compile(re.escape(name) + OF_SITE + "(-.*)?")
    return [site, *sorted(each for each in folders if pattern.fullmatch(each.name))]


def remove(folders: list[Path]) -> None:
    """The first is renamed before anything in it goes: a site that is there is whole."""
    site, *rest = folders
    try:
        if site.is_symlink():  # what it leads to is not the archive's
            site.unlink()
        else:
            aside = site.with_name(f".{site.name}.removed")
            shutil.rmtree(aside, ignore_errors=True)
            site.rename(aside)
            shutil.rmtree(aside)
        for folder in rest:
            shutil.rmtree(folder)
    except OSError as error:
        what = f"cannot remove the site {site.name} in {site.parent}: {error.strerror or error}"
        raise BedError(what, "Check whose files they are, and remove the rest by hand") from error
