"""What follows the figures in a study's report: differences, methods, self-tests, failures, provenance."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import Table, text_table, words
from lanelab.analysis.results.layout.page import parts_on_page
from lanelab.analysis.results.model import Arm, Run
from lanelab.analysis.results.numbers import span
from lanelab.analysis.results.report.provenance import provenance_parts, tree
from lanelab.analysis.results.report.sections import date_words, section
from lanelab.analysis.results.sections.doubts import failure_parts
from lanelab.analysis.results.sections.links import self_test_parts
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.amounts import counted, form_for
from lanelab.driver.run.study.study import Study

METHOD_HEADS = ("figure", "site", "links", "arms", "rounds", "beds", "trials", "took")


def differences(study: Study) -> Html | None:
    if not study.differences:
        return None
    title = "Differences from the published work"
    return section("differences", title, parts_on_page([replace(difference_table(study), style="prose")]))


def difference_table(study: Study) -> Table:
    """Lay out what is not as in the published work."""
    rows = [(each.what, each.then, each.now, each.effect) for each in study.differences]
    return text_table(("what", "then", "now", "effect"), rows)


def methods(read: ReadStudyRun) -> Html:
    """Return how it was measured: each figure's cells, and every setting of arms and links."""
    begun = _begun(read)
    arms = [
        el("details", el("summary", el("b", name), f", {where}"), tree(settings))
        for name, where, settings in arms_of(begun)
    ]
    links = {link.label: link.settings for run in begun.values() for link in run.links}
    about = read.about
    asked = [
        f"loads at {about.scale:g} of the users and the time" if about.scale else "",
        f"{about.trials} trials of each cell, instead of the experiments' own" if about.trials else "",
        f"{about.beds} beds" if about.beds else "",
        f"seed {about.seed}",
    ]
    paragraphs = [el("p", text) for text in about.study.description.split("\n\n") if text.strip()]
    return section(
        "methods",
        "Methods",
        paragraphs,
        el("p", el("b", f"Variant {about.variant}: "), about.study.variants.get(about.variant))
        if about.variant
        else None,
        el("p", f"With {', '.join(filter(None, asked))}."),
        parts_on_page([method_table(begun)]) if begun else None,
        el("h3", "Arms") if arms else None,
        arms,
        el("details", el("summary", "Every setting of the links"), tree(links)) if links else None,
    )


def method_table(begun: Mapping[int, Run]) -> Table:
    """Lay out how much was measured for each figure."""
    return text_table(METHOD_HEADS, [method_words(number, run) for number, run in begun.items()])


def method_words(number: int, run: Run) -> tuple[str, ...]:
    """In the order of METHOD_HEADS."""
    sites = ", ".join(dict.fromkeys(cell.site for cell in run.cells))
    rounds = max((trial.round for trial in run.trials), default=0)
    took = span(sum(trial.wall_s for trial in run.trials))
    arms = ", ".join(arm.name for arm in run.arms)
    beds = len({trial.bed for trial in run.trials})
    return tuple(map(str, (number, sites, len(run.links), arms, rounds, beds, len(run.trials), took)))


def arms_of(begun: Mapping[int, Run]) -> list[tuple[str, str, Mapping[str, object]]]:
    """Return (name, in which figures, settings): arms of one name and other settings apart."""
    found: dict[str, tuple[Arm, list[int]]] = {}
    for number, run in begun.items():
        for arm in run.arms:
            key = json.dumps([arm.name, dict(arm.settings)], sort_keys=True, default=str)
            found.setdefault(key, (arm, []))[1].append(number)
    return [
        (arm.name, f"{form_for(len(numbers), 'figure')} {', '.join(map(str, numbers))}", arm.settings)
        for arm, numbers in found.values()
    ]


def self_tests(read: ReadStudyRun) -> Html:
    return _by_figure(
        read, "links", "The links, measured", _tested, lambda run: join(*parts_on_page(self_test_parts(run)))
    )


def _tested(run: Run) -> str:
    passed = sum(test.passed for test in run.self_tests)
    return f"{passed} of {counted(len(run.self_tests), 'self-test')} within tolerance"


def failures(read: ReadStudyRun) -> Html:
    failed = {number: run for number, run in _begun(read).items() if run.failed}
    if not failed:
        return section("failures", "Failures", el("p", "No trial failed."))
    return _by_figure(
        read, "failures", "Failures", lambda run: f"{len(run.failed)} of {len(run.trials)} trials failed",
        lambda run: join(*parts_on_page(failure_parts(run) if run.failed else words(["No trial failed."]))),
    )  # fmt: skip


def provenance(read: ReadStudyRun) -> Html:
    about = read.about
    facts = {
        "study": about.study.name,
        "source": about.study.source,
        "variant": about.variant,
        "begun": date_words(about.created_utc),
        "lanelab": about.lanelab,
        "seed": about.seed,
        "experiments (SHA-256)": {f"figure {each.figure}": each.experiment_sha256 for each in about.figures},
    }
    begun = _begun(read)
    runs = [
        el("details", el("summary", f"Figure {number}: {_sessions(run)}"), el("noscript", provenance_parts(run)),
           _experiment(run))
        for number, run in begun.items()
    ]  # fmt: skip
    return section("provenance", "Provenance", tree(facts), runs)


def _sessions(run: Run) -> str:
    return f"{date_words(run.created_utc)}, {counted(len(run.sessions), 'session')}, {run.state}"


def _experiment(run: Run) -> Html:
    text = el("pre", el("code", run.experiment or "not in the run folder"))
    return el("details", el("summary", "The experiment file, verbatim"), text)


def _by_figure(
    read: ReadStudyRun, name: str, title: str, words: Callable[[Run], str], content: Callable[[Run], Html]
) -> Html:
    """Return one folded part for each figure that has begun."""
    made = [
        el("details", el("summary", f"Figure {number}: {words(run)}"), el("noscript", content(run)))
        for number, run in _begun(read).items()
    ]
    return section(name, title, made or el("p", "No figure has begun.", class_="muted"))


def _begun(read: ReadStudyRun) -> dict[int, Run]:
    return {number: run for number, run in read.runs.items() if run}
