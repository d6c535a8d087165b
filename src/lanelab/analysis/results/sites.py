"""What a run has noted of the sites that it loads."""

import json
from collections.abc import Mapping

from lanelab.analysis.results.model import Run
from lanelab.driver.run.folder.format import ABOUT_SITES
from lanelab.driver.site.site_notes import AboutSite


def about_sites(run: Run) -> Mapping[str, AboutSite]:
    """Return sites by name."""
    noted = json.loads(run.meta.get(ABOUT_SITES) or "{}")
    return {name: AboutSite.from_json(data, f"{ABOUT_SITES}.{name}") for name, data in noted.items()}


def sentences(run: Run) -> list[str]:
    """Return one for each site: how faithful its replay is."""
    return [f"site {name}: {kind_words(about)}, fidelity {about.fidelity}" for name, about in about_sites(run).items()]


def kind_words(about: AboutSite) -> str:
    when = f" on {about.date.partition('T')[0]}" if about.kind == "recorded" and about.date else ""
    return f"{about.kind}{when}{', synthetic' if about.synthetic else ''}"
