"""The runs that a matrix is made of: of each variant of each study the newest, and for figures that it lacks those
before it, also of other machines. Each says where it is from. Pure, but for the run folders that they were read from.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.model import Column, Section, Table, Words, table, words
from lanelab.analysis.results.sections.head import date_words
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy, StudyVerdict
from lanelab.analysis.results.study.page import judge_study
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.run.folder.format import ID
from lanelab.driver.run.study.decisive import Decisive, decisive, difference
from lanelab.driver.run.study.figures import Wishes
from lanelab.driver.run.study.run_folder import begun_with, experiment_of, wishes_of
from lanelab.driver.run.study.study import PublishedClaim

AS_IT_IS = "as it is"  # a study without variants


class RunJson(TypedDict):
    """A run of which a matrix has verdicts. run: the address of its folder or artifact. figures: those whose verdicts
    are from it. artifact_sha256: of the archive; None: it is a folder."""

    study: str
    variant: str
    run: str
    ids: list[str]
    begun_utc: str
    lanelab: str
    artifact_sha256: str | None
    figures: list[int]
    report: str


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that was read, and where it is."""

    read: ReadStudyRun
    address: str  # of its folder or its artifact
    artifact_sha256: str | None = None  # of the archive; None: it is a folder

    @property
    def key(self) -> tuple[str, str]:
        return self.read.about.study.name, self.read.about.variant


@dataclass(frozen=True, slots=True)
class Share:
    """A run with the figures whose verdicts a matrix takes from it. `report`: its address, seen from the matrix."""

    run: FoundRun
    judged: JudgedStudy
    figures: tuple[int, ...]
    report: str
    changes: Mapping[int, str]  # by the figure: how the variant's newest run asks for another experiment

    @property
    def read(self) -> ReadStudyRun:
        return self.run.read

    @property
    def begun_utc(self) -> str:
        return self.read.about.created_utc

    @property
    def day(self) -> str:
        """Return the day on which it began, in words."""
        return _day(self.run)

    @property
    def ids(self) -> list[str]:
        """Return the ids of its figures' runs, which they keep wherever they are."""
        runs = (run for number, run in self.read.runs.items() if run and number in self.figures)
        return list(dict.fromkeys(run.meta[ID] for run in runs if run.meta.get(ID)))

    def of(self, claim: PublishedClaim) -> list[StudyVerdict]:
        """Return the checks of a statement by its figures. An earlier run may have had another statement under that
        number."""
        same = [
            several for one, several in self.judged.published if (one.number, one.says) == (claim.number, claim.says)
        ]
        return [check for several in same for check in several if check.figure in self.figures]

    def to_json(self) -> RunJson:
        return {
            "study": self.read.about.study.name,
            "variant": self.read.about.variant or AS_IT_IS,
            "run": self.run.address,
            "ids": self.ids,
            "begun_utc": self.begun_utc,
            "lanelab": self.read.about.lanelab,
            "artifact_sha256": self.run.artifact_sha256,
            "figures": list(self.figures),
            "report": self.report,
        }


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a statement. `is_earlier`: of a run before the newest, which lacks its figure."""

    verdict: StudyVerdict
    share: Share
    is_earlier: bool

    @property
    def change(self) -> str:
        """Return how the newest run asks for another experiment there; "" where it does not."""
        return self.share.changes.get(self.verdict.figure, "")

    @property
    def since(self) -> str:
        """Return from when it is, where that is not the newest run; else ""."""
        changed = f", {self.change}" if self.change else ""
        return f" (figure {self.verdict.figure} of {self.share.day}{changed})" if self.is_earlier else ""


@dataclass(frozen=True, slots=True)
class MatrixRun:
    """A variant of a study: its newest run, and behind it those that have figures which that one lacks. `left_out`:
    figures of earlier runs that are not taken, and why."""

    shares: tuple[Share, ...]
    left_out: tuple[str, ...] = ()

    @property
    def read(self) -> ReadStudyRun:
        """Return the newest."""
        return self.shares[0].read

    @property
    def study(self) -> str:
        return self.read.about.study.name

    @property
    def variant(self) -> str:
        return self.read.about.variant or AS_IT_IS

    def of(self, claim: PublishedClaim) -> list[Check]:
        """Return the checks of a statement, in the order of figures."""
        newest = self.shares[0]
        checks = [Check(each, share, share is not newest) for share in self.shares for each in share.of(claim)]
        return sorted(checks, key=lambda check: check.verdict.figure)


def newest_runs(runs: Iterable[FoundRun]) -> tuple[MatrixRun, ...]:
    """Return each variant of each study."""
    by_variant: dict[tuple[str, str], list[FoundRun]] = {}
    for one in runs:
        by_variant.setdefault(one.key, []).append(one)
    return tuple(_matrix_run(several) for _, several in sorted(by_variant.items()))


def _matrix_run(several: Iterable[FoundRun]) -> MatrixRun:
    runs = sorted(several, key=lambda one: one.read.about.created_utc, reverse=True)
    taken, left_out = _figures_of(runs)
    pairs = zip(runs, taken, strict=True)
    with_figures = [(run, numbers) for run, numbers in pairs if numbers or run is runs[0]]
    return MatrixRun(
        tuple(
            Share(run, judge_study(run.read), numbers, _report(run, place), _changes(run, runs[0], numbers))
            for place, (run, numbers) in enumerate(with_figures)
        ),
        left_out,
    )


def _figures_of(runs: Sequence[FoundRun]) -> tuple[list[tuple[int, ...]], tuple[str, ...]]:
    """Return the figures that are taken from each run: each from the newest that has it whole, else from the newest in
    which it has begun. And which are not, as the study has put another experiment under their number since."""
    taken: list[list[int]] = [[] for _ in runs]
    left_out = []
    for number in runs[0].read.runs:
        file = _file_of(runs[0], number)
        best = _best(runs, number)
        place = _best([one if _file_of(one, number) == file else None for one in runs], number)
        if place is not None:
            taken[place].append(number)
        if best is not None and best != place:
            left_out.append(_another(runs[best], number, file))
    return [tuple(each) for each in taken], tuple(left_out)


def _best(runs: Sequence[FoundRun | None], number: int) -> int | None:
    """Return the place of the run that a figure is taken from; None: it has not begun in any."""
    begun = {place: run for place, one in enumerate(runs) if one and (run := one.read.runs.get(number))}
    whole = [place for place, run in begun.items() if run.is_finished]
    return next(iter((*whole, *begun)), None)


def _file_of(run: FoundRun, number: int) -> str | None:
    """Return the experiment's file that a study had for a figure when that run began; None: it had none."""
    return next((each.file for each in run.read.about.study.figures if each.number == number), None)


def _changes(run: FoundRun, newest: FoundRun, numbers: Iterable[int]) -> dict[int, str]:
    """Return how what was measured of these figures is not what the newest run asks for."""
    changes = {number: _change(run, newest, number) for number in numbers}
    return {number: words for number, words in changes.items() if words}


def _change(run: FoundRun, newest: FoundRun, number: int) -> str:
    if run is newest or _asked_in(run, number) == _asked_in(newest, number):
        return ""
    then, now = _decisive_in(run, number), _decisive_in(newest, number)
    return difference(then, now) if then and now else "and its experiment was changed since"


def _asked_in(run: FoundRun, number: int) -> tuple[Wishes, str]:
    """Return what a run asked for of a figure, as it noted it down."""
    return wishes_of(run.read.about), begun_with(run.read.about, number).experiment_sha256


def _decisive_in(run: FoundRun, number: int) -> Decisive | None:
    """Return what decided, by the run's own copy of the experiment; None where this lanelab cannot read that."""
    about = run.read.about
    try:
        return decisive(wishes_of(about).of(experiment_of(run.read.folder, about, number)))
    except (InputError, StoreError):
        return None


def _another(run: FoundRun, number: int, file: str | None) -> str:
    study = " ".join(filter(None, run.key))
    then = f"was another experiment then ({_file_of(run, number)}, and now {file})"
    return f"{study}: figure {number} of {_day(run)} is left out: it {then}."


def _day(run: FoundRun) -> str:
    return date_words(run.read.about.created_utc).partition(",")[0]


def _report(run: FoundRun, earlier: int) -> str:
    words = [*run.key, f"earlier-{earlier}" if earlier else ""]
    return "-".join(filter(None, words)) + ".html"


def runs_section(runs: Iterable[MatrixRun]) -> Section:
    """Return what the verdicts are from: each run leads to its report. And what of earlier runs is left out."""
    several = tuple(runs)
    columns = (
        Column[Share]("study", lambda share: Words(share.read.about.study.name, page=_link(share))),
        Column[Share]("variant", lambda share: share.read.about.variant or AS_IT_IS),
        Column[Share]("figures", lambda share: ", ".join(map(str, share.figures)) or "none yet"),
        Column[Share]("begun", lambda share: date_words(share.begun_utc)),
        Column[Share]("lanelab", lambda share: share.read.about.lanelab),
        Column[Share]("from", lambda share: Path(share.run.address).name),
        Column[Share]("ids of its runs", lambda share: ", ".join(share.ids) or None, spare=2),
        Column[Share]("artifact's SHA-256", lambda share: share.run.artifact_sha256, spare=1),
    )
    listed: Table = table(columns, [share for run in several for share in run.shares])
    left_out = [each for run in several for each in run.left_out]
    return Section("runs", "Runs", (*words(left_out), listed))


def _link(share: Share) -> Html:
    return el("a", share.read.about.study.name, href=share.report, title="its report")
