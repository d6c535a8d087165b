"""What follows the figures in a study's report: differences, methods, self-tests, failures, provenance. Pure, but for
one record of each server."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from lanelab.analysis.results.layout.model import Fold, Part, Section, Table, Tree, Where, Words, text_table, words
from lanelab.analysis.results.model import Arm, LinkCase, Run
from lanelab.analysis.results.numbers import span
from lanelab.analysis.results.sections.doubts import failure_parts
from lanelab.analysis.results.sections.head import date_words
from lanelab.analysis.results.sections.links import self_test_parts
from lanelab.analysis.results.sections.provenance import experiment_fold, provenance_parts
from lanelab.analysis.results.study.facts import browsers, built, machine, program, routers, servers
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.amounts import counted, form_for
from lanelab.driver.run.study.study import Study

VERBATIM = "The experiment file, verbatim"
METHOD_HEADS = ("figure", "site", "links", "arms", "rounds", "beds", "trials", "took")


def differences_section(study: Study) -> Section | None:
    """Lay out what is not as in the published work."""
    if not study.differences:
        return None
    return Section("differences", "Differences from the published work", (difference_table(study),))


def difference_table(study: Study) -> Table:
    """Lay out the same without a title."""
    rows = [(each.what, each.then, each.now, each.effect) for each in study.differences]
    return text_table(("what", "then", "now", "effect"), rows, style="prose")


def methods_section(read: ReadStudyRun) -> Section:
    """Lay out how it was measured: each figure's cells, and every setting of arms and links."""
    begun, about = _begun(read), read.about
    runs = list(begun.values())
    options = [
        f"loads at {about.scale:g} of the users and the time" if about.scale else "",
        f"{about.trials} trials of each cell, instead of the experiments' own" if about.trials else "",
        f"{about.beds} beds" if about.beds else "",
        f"seed {about.seed}",
    ]
    variant = f"Variant {about.variant}: {about.study.variants.get(about.variant, '')}" if about.variant else ""
    parts: list[Part] = [*words(text for text in about.study.description.split("\n\n") if text.strip())]
    parts += words([variant, f"With {', '.join(filter(None, options))}."])
    if runs:
        facts = [
            ("program", program(runs)), ("compiled", built(runs)), ("browser", browsers(runs)),
            ("server", servers(runs)), ("kernel of the router", routers(runs)), ("machine", machine(runs)),
        ]  # fmt: skip
        parts += [text_table(METHOD_HEADS, [method_words(number, run) for number, run in begun.items()])]
        parts += [text_table(("what", "as noted by the run"), facts)]
    arms = [(f"{name} ({where})", settings) for name, where, settings in arms_of(begun)]
    return Section("methods", "Methods", (*parts, *_settings("arm", arms), *_settings("link", links_of(begun))))


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
    arms: dict[str, tuple[Arm, list[int]]] = {}
    for number, run in begun.items():
        for arm in run.arms:
            key = json.dumps([arm.name, dict(arm.settings)], sort_keys=True, default=str)
            arms.setdefault(key, (arm, []))[1].append(number)
    return [(arm.name, _figures(numbers), arm.settings) for arm, numbers in arms.values()]


def links_of(begun: Mapping[int, Run]) -> list[tuple[str, Mapping[str, object]]]:
    """Return (name, settings): a label says what the links of one figure differ in, so links of one label and other
    settings are apart, each with its figures."""
    links: dict[tuple[str, str], tuple[LinkCase, list[int]]] = {}
    for number, run in begun.items():
        for link in run.links:
            key = link.label, json.dumps(dict(link.settings), sort_keys=True)
            links.setdefault(key, (link, []))[1].append(number)
    labels = Counter(link.label for link, _ in links.values())
    return [
        (f"{link.label} ({_figures(numbers)})" if labels[link.label] > 1 else link.label, link.settings)
        for link, numbers in links.values()
    ]


def _figures(numbers: Sequence[int]) -> str:
    return f"{form_for(len(numbers), 'figure')} {', '.join(map(str, numbers))}"


def _settings(noun: str, named: Sequence[tuple[str, Mapping[str, object]]]) -> Iterator[Part]:
    """Yield a table of what they differ in, and one sentence of what all have."""
    if not named:
        return
    names = list(dict.fromkeys(key for _, settings in named for key in settings if key != "name"))
    values = {name: [_words(settings.get(name)) for _, settings in named] for name in names}
    differ = [name for name in names if len(set(values[name])) > 1]
    rows = [(name, *(values[key][place] for key in differ)) for place, (name, _) in enumerate(named)]
    yield text_table((noun, *differ), rows, title=f"{noun.capitalize()}s")
    alike = [f"{name}: {values[name][0]}" for name in names if name not in differ and values[name][0] != "-"]
    whose = f"Of the {noun} {named[0][0]}" if len(named) == 1 else "Alike in all"
    yield from words([f"{whose}: {', '.join(alike)}."] if alike else [])


def _words(value: object) -> str:
    if value is None or value in ("", [], {}):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " ".join(map(_words, value))
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_words(each)}" for key, each in value.items())
    return str(value)


def self_tests_section(read: ReadStudyRun) -> Section:
    """Lay out the links as they were measured for each figure."""
    return _by_figure(_begun(read), "links", "The links, measured", _tested, self_test_parts)


def _tested(run: Run) -> str:
    passed = sum(test.passed for test in run.self_tests)
    return f"{passed} of {counted(len(run.self_tests), 'self-test')} within tolerance"


def failures_section(read: ReadStudyRun) -> Section:
    """Lay out why trials of each figure failed. Pages alone have it."""
    failed = {number: run for number, run in _begun(read).items() if run.failed}
    if not failed:
        return Section("failures", "Failures", words(["No trial failed."], where="page"))

    def counts(run: Run) -> str:
        return f"{len(run.failed)} of {len(run.trials)} trials failed"

    return _by_figure(failed, "failures", "Failures", counts, failure_parts, "page")


def _by_figure(
    runs: Mapping[int, Run],
    name: str,
    title: str,
    text: Callable[[Run], str],
    content: Callable[[Run], tuple[Part, ...]],
    where: Where = "long",
) -> Section:
    folds = [
        Fold(Words(f"Figure {number}: {text(run)}"), content(run), where, is_large=True) for number, run in runs.items()
    ]
    return Section(name, title, (*folds, *words([] if folds else ["No figure has begun."], "muted", "page")))


def provenance_section(read: ReadStudyRun) -> Section:
    """Lay out where the numbers come from."""
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
    runs = [
        Fold(Words(f"Figure {number}: {_sessions(run)}"), (*provenance_parts(run), experiment_fold(run, VERBATIM)),
             is_large=True)
        for number, run in _begun(read).items()
    ]  # fmt: skip
    return Section("provenance", "Provenance", (Tree(facts), *runs))


def _sessions(run: Run) -> str:
    return f"{date_words(run.created_utc)}, {counted(len(run.sessions), 'session')}, {run.state}"


def _begun(read: ReadStudyRun) -> dict[int, Run]:
    return {number: run for number, run in read.runs.items() if run}
