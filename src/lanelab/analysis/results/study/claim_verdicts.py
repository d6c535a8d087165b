"""The verdicts of a study: each claim of its figures under the published claim that it is about. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lanelab.analysis.results.claims.claim_family import together, wrong_by_chance
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.analysis.results.claims.words import counts_words
from lanelab.analysis.results.layout.data import LEFT_OUT, key, spread
from lanelab.driver.base.amounts import counted
from lanelab.driver.run.study.study import PublishedClaim, Study


@dataclass(frozen=True, slots=True)
class StudyVerdict:
    """One claim of a figure's experiment, judged."""

    figure: int = field(metadata=LEFT_OUT)  # 0: of a run by itself
    judged: Judged = field(metadata=spread())
    # for all claims of the study or the run together; None where no verdict was given
    adjusted_p: float | None = field(metadata=key("p_adjusted"))

    @property
    def address(self) -> str:
        """Its id on a page. Names of claims are unique within a figure."""
        return f"claim-{f'{self.figure}-' if self.figure else ''}{self.judged.claim.name}"


@dataclass(frozen=True, slots=True)
class JudgedStudy:
    published: tuple[tuple[PublishedClaim, tuple[StudyVerdict, ...]], ...]  # all of them, also those without a verdict
    further: tuple[StudyVerdict, ...]  # claims that are about none of the published ones
    tested: int
    false_at_most: float  # so many verdicts are expected to be false, and no more
    so_far: bool  # whether figures have not begun: their claims are not among these

    @property
    def all(self) -> list[StudyVerdict]:
        return [*(each for _, several in self.published for each in several), *self.further]

    def of_figure(self, number: int) -> list[StudyVerdict]:
        return [each for each in self.all if each.figure == number]

    @property
    def unchecked(self) -> str:
        """Return what is said of a published claim without a verdict."""
        return "not checked by what was measured so far" if self.so_far else "not checked by any experiment"

    @property
    def changed(self) -> list[StudyVerdict]:
        """Claims that were edited after the run began."""
        return [each for each in self.all if each.judged.changed]

    def expected_false(self) -> str:
        """Return how many verdicts may be wrong; "" where there are none."""
        if not self.tested:
            return ""
        each = "Each verdict is wrong with a probability of 5% at most"
        return f"{each}. {wrong_by_chance(self.false_at_most, self.tested)}".strip()

    def outcome(self) -> str:
        """Return one sentence."""
        if not self.all:
            return "No claim of this study can be judged yet."
        checked = sum(bool(several) for _, several in self.published)
        of = f"{checked} of {counted(len(self.published), 'published claim')} checked"
        return f"{of}, by {counted(len(self.all), 'test')}: {counts_words([each.judged.verdict for each in self.all])}."


def judged_study(study: Study, judged: Mapping[int, Sequence[Judged]]) -> JudgedStudy:
    """Judge a study. `judged` has the verdicts of each figure that has begun."""
    so_far = any(figure.number not in judged for figure in study.figures)
    listed = [(figure, each) for figure, several in judged.items() for each in several]
    whole = together([each for _, each in listed])
    verdicts = [StudyVerdict(figure, each, p) for (figure, each), p in zip(listed, whole.adjusted, strict=True)]
    by_source: dict[str, list[StudyVerdict]] = {}
    for verdict in verdicts:
        by_source.setdefault(verdict.judged.claim.source.strip(), []).append(verdict)
    published = tuple((claim, tuple(by_source.pop(f"{study.name}#{claim.number}", ()))) for claim in study.claims)
    further = tuple(each for several in by_source.values() for each in several)
    return JudgedStudy(published, further, whole.tested, whole.false_at_most, so_far)
