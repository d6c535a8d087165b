"""How the numbers of report.md were made: margins with their reasons, methods, self-tests. Pure, but for one record of
each server."""

from collections.abc import Iterator, Mapping, Sequence

from lanelab.analysis.results import self_tests as tests_of
from lanelab.analysis.results.claims.words import published_words
from lanelab.analysis.results.layout.markdown import plain, table_markdown
from lanelab.analysis.results.layout.markdown import written_table as table
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.links import self_test_table
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.closing_sections import arms_of, method_table
from lanelab.analysis.results.study.facts import browsers, built, machine, program, routers, servers
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.amounts import counted

NO_REASON = "no reason is given"


def margins(read: ReadStudyRun, judged: JudgedStudy) -> Iterator[str]:
    """Yield what counts as reproduced, why, and since when that is fixed."""
    rows = [
        (str(each.figure), each.judged.claim.says, published_words(each.judged.claim),
         each.judged.claim.because or (NO_REASON if each.judged.claim.published else ""))
        for each in judged.all
    ]  # fmt: skip
    if not rows:
        return
    yield "### What counts as reproduced"
    yield table(("figure", "claim", "reproduced if", "because"), rows)
    kept = [(number, run.claims_digest) for number, run in read.runs.items() if run and run.claims_digest]
    if kept:
        digests = ", ".join(f"figure {number} {digest}" for number, digest in kept)
        yield f"Claims and margins are those from before the first trial (SHA-256: {digests})."


def methods(read: ReadStudyRun) -> Iterator[str]:
    begun = {number: run for number, run in read.runs.items() if run}
    if not begun:
        return
    about, runs = read.about, list(begun.values())
    yield "## Methods"
    yield from (plain(text) for text in about.study.description.split("\n\n") if text.strip())
    if about.variant:
        yield plain(f"Variant {about.variant}: {about.study.variants.get(about.variant, '')}")
    yield table_markdown(method_table(begun))
    facts = [
        ("program", program(runs)), ("compiled", built(runs)), ("browser", browsers(runs)), ("server", servers(runs)),
        ("kernel of the router", routers(runs)), ("machine", machine(runs)), ("seed", str(about.seed)),
    ]  # fmt: skip
    yield table(("what", "as noted by the run"), facts)
    arms = [(f"{name} ({where})", settings) for name, where, settings in arms_of(begun)]
    yield from _settings("Arms", "arm", arms)
    links = {link.label: link.settings for run in runs for link in run.links}
    yield from _settings("Links", "link", list(links.items()))


def _settings(title: str, noun: str, named: Sequence[tuple[str, Mapping[str, object]]]) -> Iterator[str]:
    """Yield a table of what they differ in, and one sentence of what all have."""
    if not named:
        return
    names = list(dict.fromkeys(key for _, settings in named for key in settings if key != "name"))
    values = {name: [_words(settings.get(name)) for _, settings in named] for name in names}
    differ = [name for name in names if len(set(values[name])) > 1]
    yield f"### {title}"
    if differ or len(named) > 1:
        columns = zip(*(values[name] for name in differ), strict=True) if differ else [()] * len(named)
        yield table((noun, *differ), [(name, *row) for (name, _), row in zip(named, columns, strict=True)])
    alike = [f"{name}: {values[name][0]}" for name in names if name not in differ and values[name][0] != "-"]
    whose = f"Of the {noun} {named[0][0]}" if len(named) == 1 else "Alike in all"
    yield plain(f"{whose}: {', '.join(alike)}.") if alike else ""


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


def self_tests(read: ReadStudyRun) -> Iterator[str]:
    """Yield the links as they were measured."""
    begun = {number: run for number, run in read.runs.items() if run}
    if not begun:
        return
    yield "## The links, measured"
    for number, run in begun.items():
        yield from _of_figure(number, run)


def _of_figure(number: int, run: Run) -> Iterator[str]:
    told = tests_of.told_tests(run)
    if not told:
        yield f"Figure {number}: no link was measured."
        return
    passed = sum(test.passed for test in run.self_tests)
    count = f"{passed} of {counted(len(run.self_tests), 'self-test')} within tolerance"
    yield plain(f"Figure {number}: {count}. {tests_of.outcome(told)}")
    yield table_markdown(self_test_table(told))
