"""The report of a study's run: its claims are judged, and the page is one HTML file that asks nothing of the network,
verdicts first."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from lanelab.analysis.results.claims.judge import judge_as_kept
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.analysis.results.layout.markup import el
from lanelab.analysis.results.layout.model import Fold, Head, Points, Words, words
from lanelab.analysis.results.layout.page import head_on_page, on_page
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.report.page import contents, document
from lanelab.analysis.results.run_folder import with_places
from lanelab.analysis.results.sections.head import date_words
from lanelab.analysis.results.sections.study import verdicts_section
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy, judged_study
from lanelab.analysis.results.study.closing_sections import (
    differences_section,
    failures_section,
    methods_section,
    provenance_section,
    self_tests_section,
)
from lanelab.analysis.results.study.figure_section import figure_section
from lanelab.analysis.results.study.run import ReadStudyRun, read_study_run
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.run.study.study import STUDY_REPORT

Now = Mapping[int, Sequence[Claim]]  # by figure: its claims as the experiment file has them now
MOST_CAVEATS = 2  # that stand before the verdicts; more would hide them


def write_study_report(folder: Path, output: Path | None = None, now: Now | None = None) -> Path:
    """Write the report of the study's run in this folder; returns where it is."""
    read = read_study_run(folder)
    return write_page(read, judge_study(read, now), output)


def write_page(read: ReadStudyRun, judged: JudgedStudy, output: Path | None = None) -> Path:
    """Write the page of a run that was read and judged; returns where it is."""
    target = output or read.folder / STUDY_REPORT
    write_whole(target, study_page(read, judged).encode())
    return target


def judge_study(read: ReadStudyRun, now: Now | None = None) -> JudgedStudy:
    """Return the verdicts of all figures that have begun, by the claims that they began with. What claims of `now` ask
    of series is read, as of a run's own."""
    verdicts: dict[int, Sequence[Judged]] = {}
    for number, run in read.runs.items():
        if run:
            claims = None if now is None else now.get(number, ())
            verdicts[number] = judge_as_kept(with_places(run, claims or ()), claims)
    return judged_study(read.about.study, verdicts)


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
        *map(on_page, figures),
        on_page(differences_section(study)),
        on_page(methods_section(read)),
        on_page(self_tests_section(read)),
        on_page(failures_section(read)),
        on_page(provenance_section(read)),
    ]
    present = [part for part in parts if part]
    skip = el("a", "Skip to the contents", href="#contents", class_="skip")
    body = el(
        "body",
        skip,
        el("main", head_on_page(_head(read, judged)), contents(present), present),
        el("footer", f"Made by lanelab from the run folder {read.folder.resolve().name}. "
           "Nothing on this page is loaded from elsewhere."),
    )  # fmt: skip
    title = ", ".join(filter(None, [study.title, read.about.variant]))
    return document(f"{title} - lanelab study", body, style=_resource("style.css"), script=_resource("script.js"))


def _head(read: ReadStudyRun, judged: JudgedStudy) -> Head:
    about, caveats = read.about, read.caveats()
    begun = [run for run in read.runs.values() if run]
    is_finished = len(begun) == len(read.runs) and all(run.is_finished for run in begun)
    variant = f", variant {about.variant}" if about.variant else ""
    trials = sum(len(run.ok) for run in begun)
    measured = f"{len(begun)} of {len(read.runs)} figures, {trials:,} trials that count{variant}"
    few = caveats if len(caveats) <= MOST_CAVEATS else ()
    cautions = f"{counted(len(caveats), 'caution')}, for example of links that did not stay what was asked for"
    return Head(
        "lanelab study",
        about.study.title,
        f"Reproduces: {about.study.source}",
        f"{date_words(about.created_utc)}, {measured}",
        (
            Points(words([judged.outcome(), *few]), style="said"),
            *([] if few or not caveats else [Fold(Words(cautions), (Points(words(caveats)),))]),
        ),
        "" if is_finished else "not finished: more will come",
    )


def _resource(name: str) -> str:
    return resources.files("lanelab.analysis.results.study").joinpath(name).read_text()
