"""All studies on one page: each published statement of each work, what was published, and the verdicts of each variant.
Pure, but for the run folders that it was read from."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypedDict

from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.claims.words import MOODS, measured_words, published_words, verdict_words
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import Cell, Column, Group, Row, Section, Table, Words, words
from lanelab.analysis.results.layout.page import on_page
from lanelab.analysis.results.report.page import document
from lanelab.analysis.results.sections.head import date_words
from lanelab.analysis.results.study.matrix_runs import Check, MatrixRun, RunJson, runs_section
from lanelab.driver.base.amounts import counted
from lanelab.driver.run.study.study import PublishedClaim

TITLE = "What published works said, and what holds"
LEAD = (
    "What published works said of web performance, and what comes out today. A statement stands where all of its "
    "checks are reproduced; what is not checked says so. Each verdict leads to its figure, its trials and its margin."
)


class CheckJson(TypedDict):
    """One check of a statement, with its verdict in words and numbers as reports have them. run, begun_utc: of what the
    figure is taken from, which may be an earlier run than the variant's newest. experiment_changed: whether the figure
    is asked for otherwise in that newest run: settings, rounds, beds or claims."""

    claim: str
    run: str
    begun_utc: str
    figure: int
    experiment_changed: bool
    verdict: str
    detail: str
    published: str
    measured: str


class StandingOfVariant(TypedDict):
    """The standing of a statement in a variant: the verdict that all of its checks have, "mixed" or "not checked"."""

    standing: str
    run: str
    begun_utc: str
    checks: list[CheckJson]


class StatementJson(TypedDict):
    number: int
    says: str
    variants: dict[str, StandingOfVariant]


class WorkJson(TypedDict):
    study: str
    title: str
    claims: list[StatementJson]


class MatrixJson(TypedDict):
    """The JSON that `lanelab study matrix` prints."""

    studies: list[WorkJson]
    runs: list[RunJson]


@dataclass(frozen=True, slots=True)
class Statement:
    """A published statement, with the run of each variant of its study."""

    claim: PublishedClaim
    runs: Sequence[MatrixRun]

    @property
    def published(self) -> str | None:
        """Return what was published, of each of its checks in any variant; None where it has none."""
        checks = [check for run in self.runs for check in run.of(self.claim)]
        return "; ".join(dict.fromkeys(published_words(check.verdict.judged.claim) for check in checks)) or None


@dataclass(frozen=True, slots=True)
class Matrix:
    """Each variant of each study, by its newest runs."""

    runs: tuple[MatrixRun, ...]

    @property
    def variants(self) -> list[str]:
        return list(dict.fromkeys(run.variant for run in self.runs))

    def studies(self) -> Mapping[str, Sequence[MatrixRun]]:
        ordered = sorted(self.runs, key=lambda run: run.study)
        return {name: list(runs) for name, runs in groupby(ordered, key=lambda run: run.study)}

    def outcome(self) -> str:
        """Return one sentence for each variant."""
        sentences = []
        for variant in self.variants:
            verdicts = [_standing(run.of(claim)) for run in self.runs if run.variant == variant
                        for claim in run.read.about.study.claims]  # fmt: skip
            counts = ", ".join(f"{verdicts.count(each)} {each}" for each in ORDER if each in verdicts)
            sentences.append(f"{variant}: {counted(len(verdicts), 'statement')}: {counts}.")
        return " ".join(sentences)

    def section(self) -> Section:
        heads = [
            Column[Statement]("statement", lambda one: f"{one.claim.number}. {one.claim.says}"),
            Column[Statement]("published", lambda one: one.published),
            *(Column[Statement](each, functools.partial(_verdicts, variant=each)) for each in self.variants),
        ]
        rows = [
            Row(tuple(head.of(one) for head in heads), _group(runs[0]))
            for runs in self.studies().values()
            for one in (Statement(claim, runs) for claim in runs[0].read.about.study.claims)
        ]
        return Section("matrix", "Statements", (*words([self.outcome()]), Table(heads, rows, style="verdicts")))

    def sections(self) -> tuple[Section, Section]:
        """Return the statements, and the runs that they are judged by."""
        return self.section(), runs_section(self.runs)

    def page(self) -> str:
        """Return the whole page, which asks nothing of the network but the reports beside it."""
        dates = [share.begun_utc for run in self.runs for share in run.shares]
        measured = f"{counted(len(self.studies()), 'work')}, {counted(len(dates), 'run')}"
        span = " to ".join(dict.fromkeys(date_words(each) for each in (min(dates), max(dates))))
        head = el(
            "header",
            el("p", "lanelab", class_="eyebrow"),
            el("h1", TITLE),
            el("p", LEAD, class_="lead"),
            el("p", f"{measured}, begun {span}", class_="date"),
        )
        body = el("body", el("main", head, *map(on_page, self.sections())), el("footer", "Made by lanelab."))
        return document(f"{TITLE} - lanelab", body)

    def to_json(self) -> "MatrixJson":
        return {
            "studies": [
                {
                    "study": name,
                    "title": runs[0].read.about.study.title,
                    "claims": [
                        {
                            "number": claim.number,
                            "says": claim.says,
                            "variants": {run.variant: _json_of(run, claim) for run in runs},
                        }
                        for claim in runs[0].read.about.study.claims
                    ],
                }
                for name, runs in self.studies().items()
            ],
            "runs": [share.to_json() for run in self.runs for share in run.shares],
        }


MIXED, UNCHECKED = "mixed", "not checked"
ORDER = (*map(str, Verdict), MIXED, UNCHECKED)


def standing(verdicts: Iterable[str]) -> str:
    """Return what the verdicts of its checks say of a statement together: the one that all have, else that they
    differ."""
    different = set(verdicts)
    if not different:
        return UNCHECKED
    return different.pop() if len(different) == 1 else MIXED


def _standing(checks: Sequence[Check]) -> str:
    return standing(str(check.verdict.judged.verdict) for check in checks)


def _group(run: MatrixRun) -> Group:
    return Group((run.read.about.study.title,), run.read.about.study.source, run.study)


def _verdicts(one: Statement, variant: str) -> Cell:
    run = next((run for run in one.runs if run.variant == variant), None)
    if run is None:
        return Words("not run", "muted")
    checks = run.of(one.claim)
    if not checks:
        return Words(UNCHECKED, "muted")
    mood = "" if _standing(checks) == MIXED else MOODS[checks[0].verdict.judged.verdict]
    return Words("; ".join(map(_line, checks)), mood, page=join(*map(_link, checks)))


def _line(check: Check) -> str:
    judged = check.verdict.judged
    return f"{verdict_words(judged.verdict, judged.detail)}, {measured_words(judged)}{check.since}"


def _link(check: Check) -> Html:
    judged = check.verdict.judged
    verdict = el("b", judged.verdict, class_=MOODS[judged.verdict])
    where = f"{check.share.report}#{check.verdict.address}"
    measured = f" {measured_words(judged)}{check.since}"
    return el("div", el("a", verdict, href=where, title=judged.claim.says), measured)


def _json_of(run: MatrixRun, claim: PublishedClaim) -> "StandingOfVariant":
    checks = run.of(claim)
    return {
        "standing": _standing(checks),
        "run": run.shares[0].run.address,
        "begun_utc": run.read.about.created_utc,
        "checks": [_json_of_check(each) for each in checks],
    }


def _json_of_check(check: Check) -> CheckJson:
    judged = check.verdict.judged
    return {
        "claim": judged.claim.name,
        "run": check.share.run.address,
        "begun_utc": check.share.begun_utc,
        "figure": check.verdict.figure,
        "experiment_changed": bool(check.change),
        "verdict": str(judged.verdict),
        "detail": judged.detail,
        "published": published_words(judged.claim),
        "measured": measured_words(judged),
    }
