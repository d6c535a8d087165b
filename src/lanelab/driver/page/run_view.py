"""A run: what it shows first and with what caution, its numbers, its latest trials. It is short, so that a run of 5,000
trials is there within a second. The report, which has everything, is a page of its own."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import NONE
from lanelab.analysis.results.layout.page import head_on_page, on_page, parts_on_page, scroll, section_on_page
from lanelab.analysis.results.model import Run, Trial
from lanelab.analysis.results.numbers import shown
from lanelab.analysis.results.report.page import report_parts
from lanelab.analysis.results.sections.cells import cells_section
from lanelab.analysis.results.sections.claims import claims_section
from lanelab.analysis.results.sections.comparisons import comparisons_section
from lanelab.analysis.results.sections.doubts import failures_section
from lanelab.analysis.results.sections.head import head, tiles
from lanelab.analysis.results.sections.load import load_section
from lanelab.analysis.results.sections.seen import Seen
from lanelab.driver.page.documents import document
from lanelab.driver.page.language import in_english, many, number_words, say, text
from lanelab.driver.page.now_view import Controls, now_section
from lanelab.driver.run.folder.format import EXPERIMENT

SECTIONS = (claims_section, cells_section, load_section, comparisons_section, failures_section)
LATEST = 10  # trials that the page of a run has
ON_A_PAGE = 500
COLUMNS = (text("trial"), text("round"), text("site"), text("link"), text("arm"), text("outcome"), text("flags"))


def run_page(run: Run, controls: Controls | None = None, *, plain: bool = False) -> str:
    """Return the page of a run; one that goes on is loaded again when there is news. `controls`: what it does now, and
    what a reader may do about it. plain: without its trials, which have pages only while lanelab serves them."""
    seen = Seen(run)
    begin = head(seen)
    trials = (
        None if plain else [" · ", el("a", many(len(run.trials), "The one trial", "All {n} trials"), href="trials/")]
    )
    race = [" · ", el("a", say("Race"), href="race/")] if len(run.cells) > 1 and not plain else None
    links = el("p", el("a", say("Report"), href="report/"), trials, race)
    parts = [
        el("div", in_english(head_on_page(begin)), id="head"),
        now_section(run, controls) if controls else None,
        el("div", progress(run), [in_english(each) for each in parts_on_page([tiles(seen)])], links, id="tiles"),
        *(in_english(on_page(section)) if (section := section_of(seen)) else None for section_of in SECTIONS),
        None
        if plain
        else section_on_page("latest", say("The latest trials"), trial_table(run, _latest(run), "trials/")),
        commands_section(run),
    ]
    return document(begin.title, *parts, up=2, changes="changes" if run.state == "running" and not plain else "")


def _latest(run: Run) -> Sequence[Trial]:
    return run.trials[: -LATEST - 1 : -1]


def progress(run: Run) -> Html | None:
    """Return how far a run is that goes on: what counts of what it has begun, in which round."""
    if run.state != "running" or not run.trials:
        return None
    last = run.trials[-1]
    words = say(
        "Round {round}. The last trial: {cell}, {outcome}.",
        round=last.round,
        cell=last.cell,
        outcome=outcome_words(run, last),
    )
    return el("p", words, role="status")


def commands_section(run: Run) -> Html:
    """Return the commands that show the run and repeat it. They scroll, also by keyboard."""
    return section_on_page(
        "commands", say("On a command line"), el("pre", el("code", commands(run.folder)), tabindex=0)
    )


def commands(folder: Path) -> str:
    """Return the commands that show and repeat it."""
    place, experiment = (shlex.quote(str(path)) for path in (folder, folder / EXPERIMENT))
    return f"lanelab show {place}\nlanelab run {experiment}\nlanelab run --resume {place}"


def report_page(run: Run) -> str:
    """Return the whole report."""
    report = report_parts(run)
    return document(report.title, *map(in_english, report.main), in_english(el("footer", report.footer)), up=3)


def trials_page(run: Run, page: int) -> str:
    """Return one of the pages with all trials."""
    pages = max(1, -(-len(run.trials) // ON_A_PAGE))
    page = min(max(page, 1), pages)
    trials = run.trials[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
    others = [
        el("b", number) if number == page else el("a", number, href=f"?page={number}") for number in range(1, pages + 1)
    ]
    turn = el("nav", join(*others), aria_label=say("Pages of trials")) if pages > 1 else None
    title = say("Trials of {name}", name=run.name)
    head = el("header", el("p", el("a", say("The run"), href="../"), class_="eyebrow"), el("h1", title))
    return document(title, head, turn, trial_table(run, trials, ""), turn, up=3)


def trial_table(run: Run, trials: Sequence[Trial], to: str) -> Html:
    """Return a row for each of these trials, with a link to its page."""
    titles = map(say, COLUMNS)
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    return scroll(el("table", head, el("tbody", [_row(run, trial, to) for trial in trials])))


def _row(run: Run, trial: Trial, to: str) -> Html:
    cell = trial.cell
    place = trial.number, trial.round, cell.site, cell.link.label, cell.arm.name
    link, *rest = [el("td", each) for each in place]
    link = el("td", el("a", trial.number, href=f"{to}{trial.number}/"))
    outcome = el("td", outcome_words(run, trial), class_=None if trial.ok else "bad")
    return el("tr", link, rest, outcome, el("td", ", ".join(flag.name for flag in trial.flags), class_="warn"))


def outcome_words(run: Run, trial: Trial) -> str:
    """Return what a trial came to."""
    if not trial.ok:
        return ", ".join(dict.fromkeys(failure.reason for failure in trial.failures)) or say("failed")
    return NONE if trial.value is None else number_words(f"{shown(run.primary, trial.value)} {run.primary.unit}")
