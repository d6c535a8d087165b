"""The archived sites for programs: lanelab.sites, lanelab.site.

A method imports what it alone needs, as those of a run do.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.difference import Difference, difference
from lanelab.driver.site.facts import SiteFacts, facts_of
from lanelab.driver.site.load import load_site, read_site_manifest, site_folder, site_names
from lanelab.driver.site.manifest import MANIFEST
from lanelab.driver.site.own_sites import own_sites_told
from lanelab.driver.site.site import Site as LoadedSite
from lanelab.driver.site.site import site_of

if TYPE_CHECKING:
    from lanelab.driver.api.described_site import DescribedSite
    from lanelab.driver.api.minified_site import MinifiedSite
    from lanelab.driver.collect.skeleton import SkeletonSite

__all__ = ["Difference", "Site", "SiteFacts", "own_sites_told", "site", "site_named", "sites"]
Scheme = Literal["http", "https"]


@dataclass(frozen=True, slots=True)
class Site:
    """An archived site. archive: the folder that has it, where that is none of lanelab's and the user's."""

    name: str
    archive: Path | None = None

    @property
    def is_fetched(self) -> bool:
        """Return whether its files are in packages of public registries, from which they are fetched once."""
        return bool(read_site_manifest(self.name, self.archive).fetch)

    def facts(self) -> SiteFacts:
        """Return what its manifest says of it. Makes no files. Raises InputError where that cannot be read."""
        return facts_of(self.name, read_site_manifest(self.name, self.archive))

    def load(self) -> LoadedSite:
        """Return it as it is served: its files are fetched and made where they are not there yet."""
        return load_site(self.name, self.archive)

    def describe(self) -> "DescribedSite":
        """Return what it consists of, and how faithful its replay is. Makes its files."""
        from lanelab.driver.api.described_site import describe_site

        return describe_site(self.load(), read_site_manifest(self.name, self.archive))

    def difference(self, new: "Site") -> Difference:
        """Return what `new` has of the same, and what it has otherwise. Makes the files of both."""
        return difference(self.load().objects, new.load().objects)

    def minify(
        self, filters: str = "core-2012", scheme: Scheme = "http", *, user_agent: str | None = None
    ) -> "MinifiedSite":
        """Return what mod_pagespeed's filters make of it. scheme: of the page. user_agent: of the browser; without it
        the recording's, or Chromium's own."""
        from lanelab.driver.api.minified_site import minify_site, wish_of

        wish = wish_of(filters, user_agent)
        return minify_site(self.load(), scheme, wish)

    def skeleton(self, name: str, *, keep_addresses: bool = False, replace: bool = False) -> "SkeletonSite":
        """Make the site `name`: the same objects, sizes and ways in which one asks for another, with other content."""
        from lanelab.driver.collect.skeleton import add_skeleton

        return add_skeleton(self.load(), name, keep_addresses=keep_addresses, replace=replace)

    def folders(self) -> list[Path]:
        """Return its folder, and those with what was made of it. Raises InputError where a run is using it."""
        from lanelab.driver.site.remove import folders_of

        folders = folders_of(self.name, self.archive)
        _require_unused(self.name)
        return folders

    def remove(self) -> None:
        """Remove it from the archive, and what was made of it. Raises InputError where a run is using it."""
        from lanelab.driver.site.remove import remove

        remove(self.folders())


def sites() -> list[Site]:
    """Return the sites that there are: what an experiment can name."""
    return [Site(name) for name in site_names()]


def site(name: str, archive: str | Path | None = None) -> Site:
    """Return the site of that name. Raises InputError where there is none."""
    folder = Path(archive) if archive is not None else None
    site_folder(name, folder)
    return Site(name, folder)


def site_named(text: str) -> Site:
    """Return the site of a name, or the one in a folder of another archive."""
    folder = Path(text)
    if "/" in text and (folder / MANIFEST).is_file():
        whole = folder.resolve()
        return Site(whole.name, whole.parent)
    return Site(text)


def _require_unused(name: str) -> None:
    from lanelab.analysis.results.run_folder import read_run
    from lanelab.analysis.results.runs import list_runs

    for line in list_runs():
        if line.state == "running" and name in {site_of(cell.site) for cell in read_run(line.folder).cells}:
            what = f"the run {line.folder} is using the site {name}"
            raise InputError(what, "Wait for its end, or stop it")
