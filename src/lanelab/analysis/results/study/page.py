"""The page of a study's report: one HTML file that asks nothing of the network, verdicts first. Pure but for what it
reads of trials."""

from collections.abc import Sequence
from importlib import resources

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import on_page
from lanelab.analysis.results.report.page import contents, document
from lanelab.analysis.results.report.sections import date_words
from lanelab.analysis.results.sections.study import verdicts_section
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.closing_sections import (
    differences_section,
    failures_section,
    methods_section,
    provenance,
    self_tests_section,
)
from lanelab.analysis.results.study.figure_section import figure_section
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.amounts import counted


def study_page(read: ReadStudyRun, judged: JudgedStudy) -> str:
    """Return the whole page."""
    study = read.about.study
    figures = [
        figure_section(figure, read.runs.get(figure.number), judged.of_figure(figure.number))
        for figure in study.figures
        if figure.number in read.runs
    ]
    parts = [
        on_page(verdicts_section(judged)),
        *figures,
        on_page(differences_section(study)),
        on_page(methods_section(read)),
        on_page(self_tests_section(read)),
        on_page(failures_section(read)),
        provenance(read),
    ]
    present = [part for part in parts if part]
    skip = el("a", "Skip to the contents", href="#contents", class_="skip")
    body = el(
        "body",
        skip,
        el("main", _header(read, judged), contents(present), present),
        el("footer", f"Made by lanelab from the run folder {read.folder.resolve().name}. "
           "Nothing on this page is loaded from elsewhere."),
    )  # fmt: skip
    title = ", ".join(filter(None, [study.title, read.about.variant]))
    return document(f"{title} - lanelab study", body, style=_own("style.css"), script=_own("script.js"))


MOST_CAVEATS = 2  # that stand before the verdicts; more would hide them


def _few(caveats: Sequence[str]) -> Sequence[str]:
    return caveats if len(caveats) <= MOST_CAVEATS else ()


def _folded(caveats: Sequence[str]) -> Html | None:
    if not caveats:
        return None
    words = f"{counted(len(caveats), 'caution')}, for example of links that did not stay what was asked for"
    return el("details", el("summary", words), el("ul", [el("li", each) for each in caveats]))


def _header(read: ReadStudyRun, judged: JudgedStudy) -> Html:
    about = read.about
    begun = [run for run in read.runs.values() if run]
    trials = sum(len(run.ok) for run in begun)
    missing = len(read.runs) - len(begun)
    unfinished = missing or not all(run.is_finished for run in begun)
    badge = el("span", "not finished: more will come", class_="badge") if unfinished else None
    variant = f", variant {about.variant}" if about.variant else ""
    caveats = read.caveats()
    measured = f"{len(begun)} of {len(read.runs)} figures, {trials:,} trials that count{variant}"
    return el(
        "header",
        el("p", "lanelab study", class_="eyebrow"),
        el("h1", about.study.title),
        el("p", f"Reproduces: {about.study.source}", class_="lead"),
        el("p", date_words(about.created_utc), ", ", measured, badge and [" ", badge], class_="date"),
        el("ul", [el("li", said) for said in (judged.outcome(), *_few(caveats))], class_="said"),
        _folded(caveats) if not _few(caveats) else None,
    )


def _own(name: str) -> str:
    return resources.files("lanelab.analysis.results.study").joinpath(name).read_text()
