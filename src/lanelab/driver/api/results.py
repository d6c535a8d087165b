"""Results of a run as programs have them: each can be printed, written as Markdown or JSON, and shows itself in
notebooks."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from rich.console import Group, RenderableType
from rich.text import Text

from lanelab.analysis.results.claims.claim_family import together
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.analysis.results.comparisons import ComparisonRow
from lanelab.analysis.results.conditions import caveats
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.model import table
from lanelab.analysis.results.layout.terminal import fitted
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.claims import behind, columns, lines_of, summary
from lanelab.analysis.results.study.claim_verdicts import StudyVerdict
from lanelab.driver.api.result import WIDTH, Result
from lanelab.driver.base.coded import Json

if TYPE_CHECKING:
    import pyarrow

    from lanelab.analysis.results.against import Against
    from lanelab.analysis.results.explain.run import Explained
    from lanelab.analysis.results.export_tables import Row
    from lanelab.driver.api.checks import Check


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Result):
    """An arm against another, on each site and link that has both."""

    rows: tuple[ComparisonRow, ...]

    def summary(self) -> str:
        pairs = dict.fromkeys(f"{row.cell.arm.name} against {row.base.name}" for row in self.rows)
        verdicts = (row.comparison.verdict if row.comparison else "not compared" for row in self.rows)
        return f"{', '.join(pairs)}: {_counted(verdicts)}"

    def to_json(self) -> list[Json]:
        """Return what `lanelab show --json` prints of them."""
        return list(data_of(self.rows))

    def table(self) -> "pyarrow.Table":
        """Return a row for each site and link: the ratio with its interval, p, and the verdict."""
        from lanelab.analysis.results.export_tables import arrow_table

        return arrow_table(map(_compared, self.rows))


def _counted(words: Iterable[str]) -> str:
    return ", ".join(f"{number} {word}" for word, number in Counter(words).items()) or "none"


def _compared(row: ComparisonRow) -> "Row":
    one = row.comparison
    return {
        "site": row.cell.site,
        "link": row.cell.link.label,
        "arm": row.cell.arm.name,
        "base": row.base.name,
        "rounds": one.n if one else 0,
        "ratio": one.ratio.value if one else None,
        "ratio_low": one.ratio.low if one else None,
        "ratio_high": one.ratio.high if one else None,
        "difference": one.difference.value if one else None,
        "p": one.p if one else None,
        "p_adjusted": one.adjusted_p if one else None,
        "verdict": one.verdict if one else "not compared",
        "why_not": None if one else row.why,
    }


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Result):
    """The agreement of another run with this one, within a margin."""

    against: "Against"

    def summary(self) -> str:
        one = self.against
        return f"{one.other.name} with {one.first.name}, within {one.margin:.3g}: {self.verdict}"

    @property
    def verdict(self) -> str:
        """agree, differ, or not told: they cannot be told apart."""
        from lanelab.analysis.results.against import status

        return status([self.against])

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab compare --json` prints of two runs."""
        return agreement_json([self])

    def check(self) -> "Check":
        """Return which cells and changes agree, for a program that has to decide."""
        return check_agreements([self])


def agreement_json(agreements: Sequence[Agreement]) -> dict[str, Json]:
    """Return what `lanelab compare --json` prints: several runs, each against the first one."""
    from lanelab.analysis.results.against import AgreementJson, about_run, status

    compared = [each.against for each in agreements]
    first, margin = compared[0].first, compared[0].margin
    whole: AgreementJson = {
        "first": about_run(first),
        "within": margin,
        "verdict": status(compared),
        "compared": compared,
    }
    return dict(data_of(whole))


def check_agreements(agreements: Sequence[Agreement]) -> "Check":
    """Return which cells and changes of several runs agree with those of the first one."""
    from lanelab.driver.api.checks import check_of_agreements

    sections = tuple(section for each in agreements for section in each.sections)
    return check_of_agreements([each.against for each in agreements], sections)


class ClaimsJson(TypedDict):
    """The claims of a run, each with its verdict."""

    claims: list[StudyVerdict]
    tested: int
    false_at_most: float  # so many verdicts chance alone makes wrong, on average at most
    caveats: list[str]


@dataclass(frozen=True, slots=True, repr=False)
class Claims(Result):
    """The verdicts on the claims of a run."""

    judged: tuple[Judged, ...]
    run: Run

    def summary(self) -> str:
        return f"{self.run.name}: {_counted(str(one.verdict) for one in self.judged)}"

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab claims --json` prints."""
        family = together(self.judged)
        whole: ClaimsJson = {
            "claims": lines_of(self.judged),
            "tested": family.tested,
            "false_at_most": family.false_at_most,
            "caveats": caveats(self.run),
        }
        return dict(data_of(whole))

    def check(self) -> "Check":
        """Return which claims hold, for a program that has to decide."""
        from lanelab.driver.api.checks import check_of_claims

        return check_of_claims(self.run, self.judged, self.sections)

    def renderable(self) -> RenderableType:
        """Return the verdicts, what is behind each, and what keeps them from being believed."""
        lines = [Text(), *map(Text, self._behind()), Text(), Text(summary(self.judged))]
        cautions = (Text(textwrap.fill(sentence, WIDTH)) for sentence in caveats(self.run))
        return Group(fitted(table(columns(), lines_of(self.judged))), *lines, *cautions)

    def _behind(self) -> Iterator[str]:
        for first, *others in map(behind, self.judged):
            yield textwrap.fill(first, WIDTH, subsequent_indent="  ")
            yield from (
                textwrap.fill(line.strip(), WIDTH, initial_indent="  ", subsequent_indent="    ") for line in others
            )

    def table(self) -> "pyarrow.Table":
        """Return a row for each claim: its name, what it says, its verdict and why."""
        from lanelab.analysis.results.export_tables import arrow_table

        return arrow_table(
            {
                "claim": one.claim.name,
                "says": one.claim.says,
                "verdict": str(one.verdict),
                "detail": one.detail,
                "p": one.p,
                "changed": one.changed,
            }
            for one in self.judged
        )


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Result):
    """Why load times are what they are."""

    explained: "Explained"

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab explain --json` prints."""
        return dict(data_of(self.explained))
