"""The form with which a run is begun, and what is seen until it has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.driver.api.plans import Plan
from lanelab.driver.api.run_apart import Apart
from lanelab.driver.api.studies import MOST_TRIALS
from lanelab.driver.base.settings.kinds import LARGEST_SEED
from lanelab.driver.page.choices import refusal
from lanelab.driver.page.documents import document
from lanelab.driver.page.errors import TELL
from lanelab.driver.page.language import in_english, say, text, whole

FIRST = "quickstart"  # what a newcomer begins with; the others are in the order of whose they are
TRIALS, SEED = text("Trials of each cell, instead of what it says"), text("Seed of the order")


@dataclass(frozen=True, slots=True)
class Wish:
    """A choice, and what is typed so far. `problem`: why it is not begun."""

    experiment: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)
    plan: Plan | None = None
    problem: Html | None = None


def begin_page(descriptions: Mapping[str, str], wish: Wish) -> str:
    """Return the page on which a run is begun. `descriptions`: of each experiment by its name; it may be empty."""
    ordered = sorted(descriptions, key=lambda name: name != FIRST)
    options = [el("option", name, value=name, selected=name == wish.experiment) for name in ordered]
    choice = el(
        "form",
        el("label", say("Experiment"), el("select", options, name="experiment")),
        el("button", say("Show"), type="submit"),
        class_="filter",
    )
    head = el("header", el("h1", say("Begin a run")))
    parts = _planned(wish, wish.plan) if wish.plan else [_list({name: descriptions[name] for name in ordered})]
    return document(say("Begin a run"), head, choice, refusal(wish.problem), *parts, up=1)


def _list(descriptions: Mapping[str, str]) -> Html:
    """Return what there is to choose from: each leads to its plan, and to how long that takes."""
    return el(
        "dl",
        [
            [el("dt", el("a", name, href=f"?{urlencode({'experiment': name})}")), in_english(el("dd", description))]
            for name, description in descriptions.items()
        ],
    )


def _planned(wish: Wish, plan: Plan) -> list[Html | None]:
    lines = [*plan.words(), *(f"mind: {warning}" for warning in plan.warnings)]
    form = el(
        "form",
        el("input", type="hidden", name="experiment", value=wish.experiment),
        _number(wish, "trials", say(TRIALS), 1, MOST_TRIALS),
        _number(wish, "seed", say(SEED), 0, LARGEST_SEED),
        el("button", say("Begin"), type="submit"),
        method="post",
        action="./",
        class_="filter",
    )
    return [
        el("h2", wish.experiment),
        in_english(el("p", plan.experiment.description)) if plan.experiment.description else None,
        in_english(el("pre", "\n".join(lines), tabindex=0)),
        form,
        el("p", say("It goes on when this page is closed, and when the server ends."), class_="muted"),
    ]


def _number(wish: Wish, name: str, words: str, least: int, most: int) -> Html:
    """Return a field of a whole number, which may be left empty. The server judges what is typed, in its own words."""
    range_words = say("{least} to {most}, or nothing", least=whole(least), most=whole(most))
    value = wish.typed.get(name, "")
    return el("label", f"{words} ({range_words})", el("input", name=name, value=value, inputmode="numeric"))


def waiting_page(name: str, apart: Apart, *, may_run: bool) -> str:
    """Return what is seen of a run that has no folder yet, or none any more. What it said has paths of the server."""
    ended = apart.status is not None
    title = say("It did not begin") if ended else say("It is about to begin")
    head = el("header", el("p", name, class_="eyebrow"), el("h1", title))
    words = say("This is what it said.") if ended else say("Programs are made ready. This page follows.")
    if not may_run:
        return document(title, head, el("p", say(TELL) if ended else words), up=2)
    again = el("p", el("a", say("Begin a run"), href="../../begin/")) if ended else None
    return document(title, head, el("p", words), in_english(el("pre", apart.words(), tabindex=0)), again, up=2)
