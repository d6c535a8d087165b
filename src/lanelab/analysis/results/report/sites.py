"""The section of the report on the sites that were loaded."""

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report.sections import section
from lanelab.analysis.results.sites import about_sites, kind_words
from lanelab.driver.base.amounts import form_for
from lanelab.driver.site.about import AboutSite

GOOD_ENOUGH = 95.0  # below that, numbers of this site are to be doubted
NOTE = (
    "Fidelity: how far the replay is the same as the recording, over each protocol: requests, bytes, stability and "
    "picture, of which the least is the score. A site that was not verified may load otherwise than it did."
)


def section_of(run: Run) -> Html | None:
    about = about_sites(run)
    if not about:
        return None
    heads = ("site", "what it is", "objects", "bytes", "origins", "types", "fidelity")
    right = ("objects", "bytes", "origins")
    top = el("tr", [el("th", word, scope="col", class_="num" if word in right else None) for word in heads])
    rows = [_row(name, site) for name, site in about.items()]
    table = el("table", el("thead", top), el("tbody", rows))
    title = form_for(len(about), "Site")
    return section("sites", title, scroll(table), el("p", NOTE, class_="note"))


def _row(name: str, site: AboutSite) -> Html:
    numbers = (site.objects, site.bytes, site.origins)
    types = ", ".join(f"{kind} {part.objects:,}" for kind, part in site.composition.items())
    return el(
        "tr",
        el("td", el("b", name)),
        el("td", join(site.title, el("br"), el("span", f"{kind_words(site)}: {site.source}", class_="muted"))),
        [el("td", f"{number:,}", class_="num") for number in numbers],
        el("td", types),
        el("td", site.fidelity, class_="warn" if site.score is None or site.score < GOOD_ENOUGH else None),
    )
