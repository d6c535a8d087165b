"""The first page: every run in the folder, with a filter, an order, and two that are compared."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.run_summary import RunSummary
from lanelab.driver.page.documents import document
from lanelab.driver.page.errors import detail
from lanelab.driver.page.language import date, say, text, whole

Entry = tuple[str, RunSummary]  # of the library: the name by which it has an address, and the run
ORDERS: dict[str, tuple[str, Callable[[Entry], object], bool]] = {  # title, by what, the largest first
    "begun": (text("begun (UTC)"), lambda entry: entry[1].created_utc, True),
    "run": (text("run"), lambda entry: entry[0].lower(), False),
    "name": (text("of"), lambda entry: entry[1].name.lower(), False),
    "state": (text("state"), lambda entry: entry[1].state, False),
    "cells": (text("cells"), lambda entry: entry[1].cells, True),
    "counted": (text("trials"), lambda entry: entry[1].counted, True),
    "failed": (text("failed"), lambda entry: entry[1].failed, True),
    "flagged": (text("flagged"), lambda entry: entry[1].flagged, True),
    "claims": (text("claims"), lambda entry: entry[1].claims, True),
}
STATES = {  # as they are shown
    "running": text("running"),
    "finished": text("finished"),
    "stopped": text("stopped"),
    "failed": text("failed"),
    "killed": text("killed"),
    "unreadable": text("unreadable"),
}
COMMAND = "lanelab run quickstart"  # the same in every language
NUMBERS = ("cells", "counted", "failed", "flagged", "claims")


def state_words(state: str) -> str:
    """Return the state of a run."""
    return say(STATES[state])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the reader asked for: words that a run has to have, a state, an order."""

    words: str = ""
    state: str = ""
    order: str = "begun"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "Wanted":
        order = query.get("order", "begun")
        return cls(query.get("words", ""), query.get("state", ""), order if order in ORDERS else "begun")

    def takes(self, entry: Entry) -> bool:
        name, run = entry
        text = f"{name} {run.name}".lower()
        return all(word in text for word in self.words.lower().split()) and self.state in ("", run.state)


def library(runs: Mapping[str, RunSummary], wanted: Wanted, *, plain: bool = False, begins: bool = False) -> str:
    """Return the page. plain: without forms, for a web server that only has files. begins: for who may begin a run, and
    may know where on the server a run is that cannot be read."""
    _, by, descending = ORDERS[wanted.order]
    entries = sorted(filter(wanted.takes, runs.items()), key=by, reverse=descending)  # type: ignore[arg-type]
    head = el("header", el("p", "lanelab", class_="eyebrow"), el("h1", say("Runs")), el("p", _count(entries, runs)))
    if not runs and not plain:
        return document(say("Runs"), head, _first_steps(begins=begins))
    table = _table(entries, wanted, plain=plain, begins=begins)
    if plain:
        return document(say("Runs"), head, table)
    compare = el("p", el("button", say("Compare the two that are ticked"), type="submit"))
    return document(say("Runs"), head, _filter(runs, wanted), el("form", table, compare, action="compare/"))


def _count(shown: list[Entry], runs: Mapping[str, RunSummary]) -> str:
    if not runs:
        return say("There is no run yet.")
    if len(shown) < len(runs):
        return say("{n} of {all}", n=whole(len(shown)), all=whole(len(runs)))
    return say("{n} in all", n=whole(len(runs)))


def _first_steps(*, begins: bool) -> Html:
    """Return what can be done where nothing was done yet."""
    first = el("a", say("Begin a first one"), href="begin/?experiment=quickstart")
    steps = [
        (first, say("two links, four ways to load a page, about two minutes.")) if begins else None,
        (el("code", COMMAND), say("the same on a command line. Its run appears here by itself.")),
        (
            el("a", say("Link bench"), href="bench/"),
            say("what a link does to a page, before and after it is measured."),
        ),
        (el("a", say("Race"), href="race/"), say("two protocols on one clock.")),
        (el("a", say("Labs"), href="labs/"), say("exercises for a class: predict, run, find out why.")),
    ]
    return el("ul", [el("li", what, ": ", words) for what, words in filter(None, steps)], class_="labs")


def _filter(runs: Mapping[str, RunSummary], wanted: Wanted) -> Html:
    states = sorted({run.state for run in runs.values()})
    options = [el("option", state_words(state), value=state, selected=state == wanted.state) for state in states]
    orders = [el("option", say(ORDERS[name][0]), value=name, selected=name == wanted.order) for name in ORDERS]
    return el(
        "form",
        el("label", say("Words in the name"), el("input", type="search", name="words", value=wanted.words)),
        el("label", say("State"), el("select", el("option", say("any"), value=""), options, name="state")),
        el("label", say("In order of"), el("select", orders, name="order")),
        el("button", say("Show"), type="submit"),
        class_="filter",
        role="search",
    )


def _table(entries: list[Entry], wanted: Wanted, *, plain: bool, begins: bool) -> Html:
    def title(name: str) -> Html:
        classes = " ".join(("num " if name in NUMBERS else "", "sorted" if name == wanted.order else "")).strip()
        return el("th", say(ORDERS[name][0]), scope="col", class_=classes or None)

    order = ("run", "name", "begun", "state", *NUMBERS)
    tick = None if plain else el("th", el("span", say("compare"), class_="visually-hidden"), scope="col")
    head = el("thead", el("tr", tick, [title(name) for name in order]))
    body = el("tbody", [_row(name, run, plain=plain, begins=begins) for name, run in entries])
    return scroll(el("table", head, body, class_="runs"))


def _row(name: str, run: RunSummary, *, plain: bool, begins: bool) -> Html:
    tick = el("td", el("input", type="checkbox", name="run", value=name, aria_label=say("compare {name}", name=name)))
    link = el("td", el("a", name, href=f"runs/{quote(name)}/"))
    if run.problem:
        words = detail(run.problem) if begins else say("This run cannot be read.")
        return el("tr", None if plain else el("td"), link, el("td", words, colspan=8, class_="bad"))
    mood = {"failed": "bad", "killed": "bad", "running": "good", "stopped": "warn"}.get(run.state)
    numbers = (run.cells, run.counted, run.failed, run.flagged, run.claims)
    return el(
        "tr",
        None if plain else tick,
        link,
        el("td", run.name),
        el("td", date(run.created_utc)),
        el("td", state_words(run.state), class_=mood),
        [el("td", whole(number), class_="num") for number in numbers],
    )
