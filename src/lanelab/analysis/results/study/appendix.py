"""ARTIFACT.md: the artifact appendix of a study's run, in the form that ACM conferences ask for. Filled from facts;
what is not known is said to be. Pure, but for one record of each server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.analysis.results.layout.markdown import plain, table_markdown
from lanelab.analysis.results.layout.markdown import written_table as table
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.numbers import span
from lanelab.analysis.results.sections.study import verdict_table
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.closing_sections import difference_table
from lanelab.analysis.results.study.facts import UNKNOWN, browsers, built, either, machine, program, routers, servers
from lanelab.analysis.results.study.markdown import published_list
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.amounts import counted


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """A site in the artifact, as its manifest describes it."""

    name: str
    title: str
    source: str
    licence: str  # "" where the manifest has none
    made_by: str  # files, archive, recipe, fetch, or a program


@dataclass(frozen=True, slots=True)
class Appendix:
    """The facts that the appendix writes down."""

    read: ReadStudyRun
    judged: JudgedStudy
    sites: Sequence[SiteFacts]
    archive: str  # its file name
    unpacked_bytes: int
    captures: bool
    captures_bytes: int  # of all trials' files, also where they are not in it


def appendix(facts: Appendix) -> str:
    """Return the whole text."""
    study = facts.read.about.study
    parts = [
        f"# Artifact appendix: {plain(study.title)}",
        "## Abstract", *_abstract(facts),
        "## Checklist", *_checklist(facts),
        "## Description", *_description(facts),
        "## Installation", *_installation(),
        "## Experiment workflow", *_workflow(facts),
        "## Evaluation and expected results", *_expected(facts),
        "## Customisation", *_customisation(facts),
        "## Notes", *_notes(facts),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _abstract(facts: Appendix) -> Iterator[str]:
    study, about = facts.read.about.study, facts.read.about
    yield f"This artifact reproduces: {plain(study.source)}."
    yield plain(study.description)
    variant = (
        f", variant {plain(about.variant)} ({plain(study.variants.get(about.variant, ''))})" if about.variant else ""
    )
    yield f"It holds one run of the study{variant}, begun {about.created_utc}. {plain(facts.judged.outcome())}"
    yield "\n".join(f"- {plain(sentence)}" for sentence in facts.read.caveats())


def _checklist(facts: Appendix) -> Iterator[str]:
    begun = _begun(facts)
    rows = [
        ("Program", program(begun)),
        ("Compilation", ("lanelab builds its gateway (Go) and its modules for Apache (C) when they are first needed; "
         f"as built for this run: {built(begun)}")),
        ("Data sets", f"{counted(len(facts.sites), 'site')}: {', '.join(site.name for site in facts.sites)}"),
        ("Run-time environment", (f"{either(begun, 'machine', 'system')}; browser {browsers(begun)}; server "
         f"{servers(begun)}; Python {either(begun, 'python', 'version')}; kernel of the router {routers(begun)}")),
        ("Hardware", machine(begun)),
        ("Metrics", ", ".join(dict.fromkeys(each.judged.claim.metric for each in facts.judged.all)) or UNKNOWN),
        ("Output", "a verdict on each claim with its effect and interval; a report of the study and of each figure"),
        ("Experiments", (f"{counted(len(begun), 'figure')} of {len(facts.read.runs)} measured, "
         f"{counted(sum(len(run.trials) for run in begun), 'trial')}")),
        ("Disk space", f"{_mb(facts.unpacked_bytes)} unpacked; captures of a run {_mb(facts.captures_bytes)} more"),
        ("Time to prepare", f"{UNKNOWN}: it depends on what is installed already, and was not measured"),
        ("Time to run", (f"{span(sum(trial.wall_s for run in begun for trial in run.trials))} of trials, as measured; "
         "beds and measurements of links come on top")),
        ("Publicly available", f"{UNKNOWN} to lanelab: whoever publishes {plain(facts.archive)} writes where it is"),
        ("Licence", f"lanelab: Apache-2.0. Sites: {_licences(facts.sites)}"),
    ]  # fmt: skip
    yield table(("item", "value"), rows)


def _description(facts: Appendix) -> Iterator[str]:
    yield "### How to access"
    yield f"Everything is in the archive `{facts.archive}`. Where it was published is {UNKNOWN} to lanelab."
    yield "### What is inside"
    files = [
        ("artifact.json", "the study, its variant, and the digest of each site"),
        ("SHA256SUMS", "the digest of every other file"),
        ("run/", "the run of the study: lanelab study report artifact/run reads it"),
        ("run/study/", "the study's folder as it was when the run began: study.yaml, experiments, README"),
        ("run/figure-N/", "database, experiment and report of a figure, and trials.sha256: digests of every capture "
         "and log" + (", which are in trials/" if facts.captures else "; the files themselves are not in the archive")),
        ("claims.csv", "the verdict on each claim, for programs"),
        ("sites/", "each site with its manifest"),
        ("locks/", "the versions of all Python packages, with their hashes"),
    ]  # fmt: skip
    yield table(("file", "what"), files)
    yield "### Sites"
    rows = [(site.name, site.title, site.source, site.made_by, site.licence or UNKNOWN) for site in facts.sites]
    yield table(("site", "title", "source", "made by", "licence"), rows)


def _installation() -> Iterator[str]:
    yield "Get lanelab at the commit that the checklist names. It needs Linux, Python 3.11 or later, and no root:"
    yield "```sh\n./lanelab doctor\n```"
    yield "`doctor` says what is missing on a machine, and how to get it."


def _workflow(facts: Appendix) -> Iterator[str]:
    about = facts.read.about
    yield "Verify the archive, run the study with the archive's own sites, and compare the verdicts:"
    yield f"```sh\n./lanelab study check {facts.archive}\n```"
    yield "The same for one figure and with few trials, to see that everything works:"
    first = next(iter(facts.read.runs))
    yield f"```sh\n./lanelab study check {facts.archive} --figure {first} --trials 1 --out trial\n```"
    trials = f"{about.trials} trials" if about.trials else "the experiments' own trials"
    beds = f"{about.beds} beds" if about.beds else "their own beds"
    yield f"The run in the archive was made with {trials}, {beds} and seed {about.seed}; `check` takes the same."


def _expected(facts: Appendix) -> Iterator[str]:
    yield "A reproduction gives the verdicts of this table. Exit status 0 says that all agree, 3 that some do not."
    yield published_list(facts.judged)
    yield table_markdown(verdict_table(facts.judged, unchecked=False))
    yield plain(facts.judged.expected_false())


def _customisation(facts: Appendix) -> Iterator[str]:
    variants = facts.read.about.study.variants
    yield (
        "`--figure`, `--trials` and `--beds` of `lanelab study check` make it shorter or longer; its options for "
        "beds choose other machines. The experiments in `run/study/` are plain text: copy the folder, change it, "
        "and run it with `lanelab study run FOLDER`."
    )
    if variants:
        yield table(("variant", "what it stands for"), variants.items())


def _notes(facts: Appendix) -> Iterator[str]:
    yield "Names of the machine and folders of its user were taken out of what is in the archive. " + (
        "Captures and logs of trials are as they were written." if facts.captures else ""
    )
    changed = [each.judged.claim.name for each in facts.judged.changed]
    if changed:
        yield f"Claims that were changed after the run began: {', '.join(changed)}."
    missing = [str(number) for number, run in facts.read.runs.items() if run is None]
    if missing:
        yield f"Not measured: figure {', '.join(missing)}."
    study = facts.read.about.study
    if study.differences:
        yield "Differences from the published work:"
        yield table_markdown(difference_table(study))


# --- facts


def _begun(facts: Appendix) -> list[Run]:
    return [run for run in facts.read.runs.values() if run]


def _licences(sites: Sequence[SiteFacts]) -> str:
    return "; ".join(f"{site.name}: {site.licence or UNKNOWN}" for site in sites) or UNKNOWN


def _mb(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
