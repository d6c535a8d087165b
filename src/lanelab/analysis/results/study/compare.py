"""Two runs of one study side by side: two variants, two machines, two dates. Pure.

Claims are matched by their names, and cells as `lanelab compare` matches them: by their settings, or by their names
where settings differ, as they do between variants. Nothing is paired between runs.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TypedDict

from lanelab.analysis.results.against import Against
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.claims.words import effects_of, interval_words, measured_words, verdict_words
from lanelab.analysis.results.compare_runs import against
from lanelab.analysis.results.conditions import differing
from lanelab.analysis.results.layout.data import key
from lanelab.analysis.results.numbers import NONE
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy, StudyVerdict
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError
from lanelab.driver.run.folder.format import ID

WORDS = ("agree", "differ", "inconclusive in both", "not tested", "missing")
IS_ITSELF = "Both are one run: that their numbers and verdicts agree says nothing."
MARGIN = 0.05  # within which medians are said to agree
NOT_PAIRED = (
    "Trials of two runs have nothing in common, so nothing is paired between them: the change of a cell is the shift "
    "between its trials in both runs. Its interval holds what trials differ by, and not what beds or machines do."
)


class SideJson(TypedDict):
    """A claim in one of two runs; None: it is not judged there."""

    verdict: Verdict | None
    words: str
    effect: str
    interval_95: str


_Outcome = TypedDict("_Outcome", {"told": str})  # noqa: UP013 - a key that was published, and is no name for code


class ClaimPairJson(_Outcome):
    """A claim in two runs. told: whether their verdicts agree."""

    name: str
    says: str
    figure: int
    first: SideJson
    other: SideJson


class StudySide(TypedDict):
    """One of two runs of a study."""

    folder: str
    variant: str
    created_utc: str
    lanelab: str


class DifferingCondition(TypedDict):
    """A condition that is not the same in two runs."""

    name: str
    first: str
    other: str


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim in both runs; None where a run does not judge it."""

    name: str
    says: str
    figure: int
    first: StudyVerdict | None
    other: StudyVerdict | None

    @property
    def agree(self) -> bool:
        """Return whether both runs give the same verdict."""
        return self.words == "agree"

    @property
    def words(self) -> str:
        if self.first is None or self.other is None:
            return "missing"
        verdicts = {self.first.judged.verdict, self.other.judged.verdict}
        if Verdict.NOT_TESTED in verdicts:  # which is no verdict: two of them agree on nothing
            return "not tested"
        if verdicts == {Verdict.INCONCLUSIVE}:  # which says nothing that two runs could agree on
            return "inconclusive in both"
        return "agree" if len(verdicts) == 1 else "differ"

    def to_json(self) -> ClaimPairJson:
        return {
            "name": self.name,
            "says": self.says,
            "figure": self.figure,
            "told": self.words,
            "first": _side(self.first),
            "other": _side(self.other),
        }


@dataclass(frozen=True, slots=True)
class FigurePair:
    """A figure in both runs; `against` is None where they cannot be compared, and `why_not` says why."""

    number: int = field(metadata=key("figure"))
    title: str
    against: Against | None = field(metadata=key("compared"))
    why_not: str


class StudyComparisonJson(TypedDict):
    """Two runs of one study side by side."""

    study: str
    first: StudySide
    other: StudySide
    verdicts_agree: bool
    caveats: list[str]
    claims: tuple[ClaimPair, ...]
    figures: tuple[FigurePair, ...]
    conditions: list[DifferingCondition]


@dataclass(frozen=True, slots=True)
class StudyComparison:
    first: ReadStudyRun
    other: ReadStudyRun
    claims: tuple[ClaimPair, ...]
    figures: tuple[FigurePair, ...]
    conditions: tuple[tuple[str, str, str], ...]  # what differs besides: its name, its value in each

    @property
    def all_agree(self) -> bool:
        """Whether there are verdicts, and each is the same in both."""
        return bool(self.claims) and all(pair.agree for pair in self.claims)

    def caveats(self) -> list[str]:
        """Return what makes the numbers and verdicts of each run mean less."""
        sides = zip(names_of(self), (self.first, self.other), strict=True)
        same = [IS_ITSELF] if is_same(self.first, self.other) else []
        return [*same, *(f"Run {name}: {sentence}" for name, read in sides for sentence in read.caveats())]

    def outcome(self) -> str:
        """Return one sentence."""
        counts = [(word, sum(pair.words == word for pair in self.claims)) for word in WORDS]
        numbers = ", ".join(f"{number} {word}" for word, number in counts if number)
        return f"Verdicts on {counted(len(self.claims), 'claim')}: {numbers or 'there are none'}."

    def to_json(self) -> StudyComparisonJson:
        return {
            "study": self.first.about.study.name,
            "first": _about(self.first),
            "other": _about(self.other),
            "verdicts_agree": self.all_agree,
            "caveats": self.caveats(),
            "claims": self.claims,
            "figures": self.figures,
            "conditions": [{"name": name, "first": one, "other": two} for name, one, two in self.conditions],
        }


def compare_studies(
    first: tuple[ReadStudyRun, JudgedStudy], other: tuple[ReadStudyRun, JudgedStudy], *, figures: Collection[int] = ()
) -> StudyComparison:
    """Compare two runs of a study. `figures` are those that are compared; none: all of them. InputError where the runs
    are of different studies."""
    one, two = first[0], other[0]
    if one.about.study.name != two.about.study.name:
        what = f"{one.folder} is a run of the study {one.about.study.name}, and {two.folder} of {two.about.study.name}"
        raise InputError(what, "Compare two runs of the same study")
    wanted = [each for each in one.about.study.figures if not figures or each.number in figures]
    pairs = tuple(_claims(first[1], other[1], {each.number for each in wanted}))
    compared = tuple(_figure(one, two, each.number, each.title) for each in wanted)
    conditions = dict.fromkeys(row for each in compared if each.against for row in each.against.conditions)
    return StudyComparison(one, two, pairs, compared, tuple(conditions))


def _claims(first: JudgedStudy, other: JudgedStudy, wanted: Collection[int]) -> Iterator[ClaimPair]:
    ours = {each.judged.claim.name: each for each in first.all if each.figure in wanted}
    theirs = {each.judged.claim.name: each for each in other.all if each.figure in wanted}
    for name in dict.fromkeys([*ours, *theirs]):
        known = ours.get(name) or theirs[name]
        yield ClaimPair(name, known.judged.claim.says, known.figure, ours.get(name), theirs.get(name))


def _figure(first: ReadStudyRun, other: ReadStudyRun, number: int, title: str) -> FigurePair:
    one, two = first.runs.get(number), other.runs.get(number)
    if one is None or two is None:
        missing = " and ".join(word for word, run in (("first", one), ("other", two)) if run is None)
        return FigurePair(number, title, None, f"not measured in the {missing} run")
    try:
        return FigurePair(number, title, against(one, two, MARGIN, differing(one, two)), "")
    except InputError as error:
        return FigurePair(number, title, None, error.what)


# --- as words and as JSON


def verdict_cells(verdict: StudyVerdict | None) -> tuple[str, str, str]:
    """Return the verdict, what was measured, and its interval where it is one."""
    if verdict is None:
        return NONE, NONE, NONE
    judged = verdict.judged
    effects = effects_of(judged.places)
    interval = interval_words(judged.claim, effects[0].interval_95) if len(effects) == 1 else NONE
    return verdict_words(judged.verdict, judged.detail), measured_words(judged), interval


def _side(verdict: StudyVerdict | None) -> SideJson:
    words, effect, interval = verdict_cells(verdict)
    given = verdict.judged.verdict if verdict else None
    return {"verdict": given, "words": words, "effect": effect, "interval_95": interval}


def is_same(first: ReadStudyRun, other: ReadStudyRun) -> bool:
    """Whether both are one run, wherever their folders are. An artifact has a copy of its run."""
    ours, theirs = ({run.meta.get(ID) for run in read.runs.values() if run} - {None, ""} for read in (first, other))
    return bool(ours & theirs)


def names_of(compared: StudyComparison) -> tuple[str, str]:
    """Return what to call both runs: by their variants, where these differ."""
    one, two = compared.first.about.variant, compared.other.about.variant
    return (one, two) if one and two and one != two else ("first", "other")


def _about(read: ReadStudyRun) -> StudySide:
    about = read.about
    return {
        "folder": str(read.folder),
        "variant": about.variant,
        "created_utc": about.created_utc,
        "lanelab": about.lanelab,
    }
