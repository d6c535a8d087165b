"""The verdicts of a study: each claim of its figures under the published claim that it is about. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.claims.verdict import Judged
from analysis.claims.words import counts_words
from analysis.numbers import counted
from analysis.stats import holm
from model.study import PublishedClaim, Study


@dataclass(frozen=True, slots=True)
class StudyVerdict:
    """One claim of a figure's experiment, judged."""

    figure: int
    judged: Judged
    adjusted_p: float | None  # for all claims of the study together; None where no verdict was given

    @property
    def address(self) -> str:
        """Its id on a page. Names of claims are unique within a figure."""
        return f"claim-{self.figure}-{self.judged.claim.name}"


@dataclass(frozen=True, slots=True)
class JudgedStudy:
    published: tuple[tuple[PublishedClaim, tuple[StudyVerdict, ...]], ...]  # all of them, also those without a verdict
    further: tuple[StudyVerdict, ...]  # claims that are about none of the published ones

    @property
    def all(self) -> list[StudyVerdict]:
        return [*(each for _, several in self.published for each in several), *self.further]

    def of_figure(self, number: int) -> list[StudyVerdict]:
        return [each for each in self.all if each.figure == number]

    @property
    def changed(self) -> list[StudyVerdict]:
        """Claims that were edited after the run began."""
        return [each for each in self.all if each.judged.changed]

    def outcome(self) -> str:
        """One sentence."""
        if not self.all:
            return "No claim of this study can be judged yet."
        checked = sum(bool(several) for _, several in self.published)
        of = f"{checked} of {counted(len(self.published), 'published claim')} checked"
        return f"{of}, by {counted(len(self.all), 'test')}: {counts_words([each.judged for each in self.all])}."


def judged_study(study: Study, judged: Mapping[int, Sequence[Judged]]) -> JudgedStudy:
    """`judged`: by figure."""
    listed = [(figure, each) for figure, several in judged.items() for each in several]
    adjusted = iter(holm([each.p for _, each in listed if each.p is not None]))
    verdicts = [StudyVerdict(figure, each, None if each.p is None else next(adjusted)) for figure, each in listed]
    by_source: dict[str, list[StudyVerdict]] = {}
    for verdict in verdicts:
        by_source.setdefault(verdict.judged.claim.source, []).append(verdict)
    published = tuple((claim, tuple(by_source.pop(f"{study.name}#{claim.number}", ()))) for claim in study.claims)
    return JudgedStudy(published, tuple(each for several in by_source.values() for each in several))
