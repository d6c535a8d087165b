"""What mod_pagespeed's filters make of a site."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.analysis.results.sections.site import minify_section
from lanelab.driver.api.arguments import argument
from lanelab.driver.api.result import Result
from lanelab.driver.base.coded import Json
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.programs.needs import programs
from lanelab.driver.site import bodies
from lanelab.driver.site.coding import decoded
from lanelab.driver.site.minify import Wish, minify, parse_minify
from lanelab.driver.site.minify.effects import Minified
from lanelab.driver.site.minify.report import MinifyReport, report_of, write_minified
from lanelab.driver.site.prepare.schemes import unify
from lanelab.driver.site.site import Site, StoredObject


@dataclass(frozen=True, slots=True, repr=False)
class MinifiedSite(Result):
    """The objects of a site as minify leaves them, and the effects of each filter."""

    report: MinifyReport
    minified: Minified

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab site minify --json` prints."""
        return self.report.to_json()

    def write(self, folder: str | Path) -> int:
        """Write the objects and the report into a new folder. Return how many objects there are."""
        write_minified(Path(folder), self.report, self.minified)
        return len(self.minified.objects)


def wish_of(filters: str, user_agent: str | None) -> Wish:
    """Return what is to be done. Raises InputError."""
    with argument("filters"):
        wish = parse_minify(filters, "filters")
        if wish is None:
            raise InputError("nothing is to be minified", "Name a set or filters")
    return replace(wish, user_agent=user_agent or "")


def minify_site(site: Site, scheme: str, wish: Wish) -> MinifiedSite:
    """Minify a site. Installs what that calls, or says how."""
    whole = replace(wish, user_agent=wish.user_agent or site.user_agent or "")
    if whole.calls_jpegtran:
        prepare(programs("minify"))
    before = _plain(site, scheme)
    after = minify(before, site.entry_host, site.entry_path, whole)
    report = report_of(site.name, whole.filters, whole.generation.name, before, after)
    return MinifiedSite((minify_section(report),), report, after)


def _plain(site: Site, scheme: str) -> Sequence[StoredObject]:
    """Return the site's objects as minify takes them: of one scheme, decoded."""
    stored = [bodies.read(site.content, each) for each in site.objects]
    return [decoded(each) for each in unify(stored, scheme)]
