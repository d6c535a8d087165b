"""The form with which a race is begun: a site, a link, two arms. What it makes is an ordinary experiment of two cells,
whose loads take turns on one bed."""

from collections.abc import Mapping
from urllib.parse import quote

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import section_on_page
from lanelab.analysis.results.run_summary import RunSummary
from lanelab.driver.page.choices import LINK, Choice, ForAll, accept_field, arm_field, checked, refusal, site_field
from lanelab.driver.page.documents import document
from lanelab.driver.page.language import date, say, text

NAME = "race"  # of the experiments that are made here
ARMS = ("quickstart: HTTP", "quickstart: HTTP/2")
USUAL = Choice("dummy", ARMS, {key: value for key, (_, value) in LINK.items()}, "6")
LEAD = text("Two arms over one link. Their loads take turns on one bed, and each pair is played on one clock.")
WATCHES = text("This link may watch: whoever may run begins the races.")
NOTE = text(
    "Values have their units, as in experiment files: 100ms, 1.5mbit, 2%, and a queue of 50p, 64KiB or 1bdp. Below 6 "
    "rounds a verdict is provisional."
)


def race_file(choice: Choice) -> str:
    """Return the experiment. Raises InputError for what cannot be."""
    if len(set(choice.arms)) != 2:
        raise ForAll(say("a race takes two different arms"), say("Choose another one"), key=say("Against it"))
    whole = choice.text(NAME, trace="filmstrip")
    checked(whole)
    return whole


def form_page(choice: Choice, races: Mapping[str, RunSummary], *, may_run: bool, problem: Html | None = None) -> str:
    """Return the page. races: those that there are; problem: why none was begun."""
    return document(
        say("Race"),
        el("header", el("p", say("One against the other"), class_="eyebrow"), el("h1", say("Race")),
           el("p", say(LEAD), class_="lead")),
        refusal(problem),
        _form(choice) if may_run else el("p", say(WATCHES)),
        _before(races),
        up=1,
    )  # fmt: skip


def _form(choice: Choice) -> Html:
    one, other, *_ = [*choice.arms, *ARMS]
    link = [
        el("label", say(LINK[name][0]), el("input", name=name, value=value, size=8, autocomplete="off"))
        for name, value in choice.link.items()
    ]
    rounds = el("input", type="number", name="rounds", value=choice.rounds, min=1, max=100)
    return el(
        "form",
        el("div", site_field(choice.site), arm_field(say("One"), one), arm_field(say("Against it"), other),
           class_="filter"),
        el("div", link, el("label", say("Rounds"), rounds), class_="filter"),
        el("p", say(NOTE), class_="note"),
        accept_field(),
        el("button", say("Begin the race"), type="submit"),
        method="post", action="./", id="race-form",
    )  # fmt: skip


def _before(races: Mapping[str, RunSummary]) -> Html | None:
    """Return links to the races of before: each is played again."""
    links = [
        el("li", el("a", name, href=f"../runs/{quote(name)}/race/"), f" {date(run.created_utc)}")
        for name, run in races.items()
    ]
    return section_on_page("races", say("Races before"), el("ul", links)) if links else None
