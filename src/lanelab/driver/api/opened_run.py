"""A run that was opened, for programs: tables of its trials, what they say, charts, and its report.

A method imports what it alone needs: commands that show one thing would wait for everything else.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lanelab.analysis.results.layout.model import Section
from lanelab.analysis.results.model import Cell, State
from lanelab.analysis.results.model import Run as RunData
from lanelab.analysis.results.run_folder import read_run, with_places
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.sections.of_run import each_section, results_markdown, sections_of
from lanelab.analysis.results.sections.seen import Seen
from lanelab.driver.api.arguments import argument, known, whole
from lanelab.driver.api.result import Result
from lanelab.driver.api.results import Agreement, Claims, Comparison, Explanation
from lanelab.driver.base.coded import Json
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.units import Ratio
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.record.evidence.parts import Parts
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.run.folder.format import LATEST

if TYPE_CHECKING:
    import pyarrow
    from altair.typing import ChartType
    from pyarrow.compute import Expression

    from lanelab.analysis.results.export_files import Exported, Kind
    from lanelab.driver.api.trial import Trial
    from lanelab.driver.record.record import TrialRecord
    from lanelab.driver.run.missing import MissingCell


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its folder had it when it was opened. `data` has all that the run folder says of it."""

    data: RunData

    @property
    def folder(self) -> Path:
        return self.data.folder

    @property
    def name(self) -> str:
        return self.data.name

    @property
    def state(self) -> State:
        """running, finished, stopped, failed or killed."""
        return self.data.state

    @property
    def workload(self) -> str:
        """page_load, load or fetch."""
        return self.data.workload

    @property
    def loads_pages(self) -> bool:
        """Whether its trials are loads of pages by a browser, or of objects without one, which have requests; else
        they put a server under load."""
        return self.workload != LOAD

    @property
    def cells(self) -> Sequence[Cell]:
        return self.data.cells

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.data.arms)

    @property
    def links(self) -> tuple[str, ...]:
        return tuple(link.label for link in self.data.links)

    @property
    def missing(self) -> "tuple[MissingCell, ...]":
        """The cells that have fewer trials that count than were asked for."""
        from lanelab.driver.api.missing_cells import missing_cells

        return missing_cells(self.data)

    # --- tables

    def trials(self) -> "pyarrow.Table":
        """Return a row for each trial, also of those that failed: where it belongs, its status, every measure, every
        setting of its link and its arm."""
        from lanelab.analysis.results import export, export_tables

        return export_tables.arrow_table(export.trial_rows(self.data))

    def requests(self) -> "pyarrow.Table":
        """Return a row for each request of each trial. InputError for a load of a server, which has none."""
        from lanelab.analysis.results import export, export_tables

        if not self.loads_pages:
            what = "a load of a server has no request of a browser"
            raise InputError(what, "Use trials() or series()")
        return export_tables.arrow_table(export.request_rows(self.data))

    def series(self, name: str | None = None) -> "pyarrow.Table":
        """Return a row for each point of this series of each trial, or of all series."""
        from lanelab.analysis.results import export, export_tables

        rows = list(export.series_rows(self.data))
        if name is None:
            return export_tables.arrow_table(rows)
        known = list(dict.fromkeys(str(row["series"]) for row in rows))
        if name not in known:
            remedy = f"{near_miss(name, known)}It has {', '.join(known) or 'none'}"
            raise ArgumentError(f"no trial of this run has a series {name!r}", remedy, key="name")
        return export_tables.arrow_table(row for row in rows if row["series"] == name)

    def packets(self, filter: "Expression | None" = None) -> "pyarrow.Table":  # noqa: A002 - as pyarrow calls it
        """Return a row for each packet of each trial that has a capture. `filter`: an expression of pyarrow over the
        columns, which is used trial by trial: all packets of a large run are many."""
        from lanelab.driver.api.captures import packets_of_run

        return packets_of_run(self.data, filter)

    def median(self, metric: str, by: Sequence[str] = ("site", "link", "arm")) -> "pyarrow.Table":
        """Return the median of each group of trials, how many `trials` are behind it, and how many are `left_out`:
        those that failed, or whose cell is refused."""
        from lanelab.analysis.results import export_tables
        from lanelab.analysis.results.medians import measure_named, medians

        name = measure_named(self.data, metric)  # a median of whole numbers may lie between two
        names = [by] if isinstance(by, str) else list(by) if isinstance(by, Iterable) else []
        if not names:
            raise ArgumentError(
                f"{by!r} names no column", "Write site, link, arm, or a setting like link.rtt", key="by"
            )
        return export_tables.arrow_table(medians(self.data, metric, names), {name: "float"})

    # --- what it says

    def compare(self, of: str, to: str) -> Comparison:
        """Return how much arm `of` changes the primary metric against arm `to`, round by round, wherever the
        experiment compares them: p values hold for all of its comparisons together."""
        from lanelab.analysis.results.sections.comparisons import comparisons_section

        for key, name in (("of", of), ("to", to)):
            if name not in self.arms:
                remedy = f"{near_miss(name, self.arms)}It has {', '.join(self.arms)}"
                raise ArgumentError(f"the run has no arm {name!r}", remedy, key=key)
        seen = Seen(self.data)
        rows = [row for row in seen.compared if (row.cell.arm.name, row.base.name) == (of, to)]
        if not rows:
            raise self._not_compared(of, to)
        seen.compared = rows
        seen.pooled = [row for row in seen.pooled if (row.arm.name, row.base.name) == (of, to)]
        return Comparison(self._with_cautions(comparisons_section(seen)), tuple(rows))

    def _with_cautions(self, section: Section | None) -> tuple[Section, ...]:
        """Return a part of the run below what takes the meaning from its numbers."""
        from lanelab.analysis.results.sections.doubts import cautions_section

        return tuple(each for each in (cautions_section(self.data), section) if each)

    def _not_compared(self, of: str, to: str) -> InputError:
        pairs = dict.fromkeys((cell.arm.name, base.arm.name) for base, cell in self.data.plan.compared)
        known = "; ".join(f"{one} to {other}" for one, other in pairs) or "none"
        remedy = f"It compares {known}. Write `compare` into the experiment before a run"
        return ArgumentError(f"the experiment does not compare {of} to {to}", remedy, key="of")

    def against(
        self, other: "Run | str | Path", within: str = "5%", *, letters: tuple[str, str] = ("A", "B")
    ) -> Agreement:
        """Return whether another run agrees with this one within a margin. other: a run, its folder or its name.
        letters: what the two are called in it."""
        from lanelab.analysis.results.compare_runs import against
        from lanelab.analysis.results.conditions import differing
        from lanelab.analysis.results.sections.compare import against_section

        with argument("other"):
            other = open_run(other) if isinstance(other, str | Path) else other
        if not isinstance(other, Run):
            raise ArgumentError(f"{other!r} is no run", "Write a run, its folder, or its name", key="other")
        with argument("within"):
            ratio = Ratio.parse(within)
            if not ratio:
                raise InputError("two runs never agree within 0%", "Write a margin like 5%")
        if self.folder.resolve() == other.folder.resolve():
            raise ArgumentError(f"{other.folder} is the same run", "Name different runs", key="other")
        one = against(self.data, other.data, float(ratio.fraction), differing(self.data, other.data))
        return Agreement((against_section(one, letters),), one)

    def claims(self, file: str | Path | None = None) -> Claims:
        """Return the verdict on each claim, as the claims were when the run began. `file`: the experiment as it is now,
        to tell which of them were edited since. InputError where there are no claims."""
        from lanelab.analysis.results.claims.judge import judge_as_kept
        from lanelab.analysis.results.sections.claims import claims_section

        now = _claims_of(Path(file), self.data.variant) if file else None
        if not (self.data.claims if now is None else now):
            raise InputError(
                f"the experiment of {self.name} has no claims" if file is None else f"{file} has no claims",
                "Write them into the experiment file before a run: docs/reference/claims.md",
            )
        run = with_places(self.data, now or ())
        seen = Seen(run)
        seen.judged = judge_as_kept(run, now)
        return Claims(self._with_cautions(claims_section(seen)), tuple(seen.judged), run)

    def explain(
        self, arm: str | None = None, against: str | None = None, *, trial: int | None = None, step: str | None = None
    ) -> Explanation:
        """Return why load times are what they are. arm: of this arm, or of this cell, alone. against: why `arm` is
        faster or slower than this one. trial: one trial beside the others of its cell. step: of `arm` and `against`, in
        this step of a journey alone."""
        from lanelab.analysis.results.explain import explain, explain_steps
        from lanelab.analysis.results.sections.explained import explained_sections

        if (arm is not None and trial is not None) or (against is not None and arm is None):
            raise ArgumentError(
                "there is too much, or too little, to explain", "Name an arm, two, or a trial", key="arm"
            )
        names = [name for name in (against, arm) if name is not None]
        if step is not None and trial is not None:
            raise ArgumentError("a step is explained of two arms, and not of a trial", "Leave one out", key="step")
        if step is None:
            explained = explain(self.data, names, partial(_parts, self.folder), trial)
        else:
            explained = explain_steps(self.data, names, step, partial(_record, self.folder))
        return Explanation(tuple(explained_sections(explained)), explained)

    def chart(
        self,
        y: str | None = None,
        *,
        x: str | None = None,
        series: str | None = None,
        facet: str | None = None,
        kind: str | None = None,
        title: str = "",
    ) -> "ChartType":
        """Return a chart of the report. y: a metric, or `change`. x, series, facet: arm, site, link or a setting of the
        link. What is left out is chosen as in the report."""
        from lanelab.driver.api.charts import chart_of

        return chart_of(self.data, y, {"x": x, "series": series, "facet": facet}, kind, title)

    def trial(self, number: int) -> "Trial":
        """Return the trial of this number."""
        from lanelab.driver.api.trial import Trial

        last = self.data.trials[-1].number if self.data.trials else 0
        wanted = number if type(number) is int else whole(number, "trial", 1, max(last, 1))
        for trial in self.data.trials:
            if trial.number == wanted:
                return Trial(self.folder, trial)
        remedy = f"Its trials are numbered 1 to {last}" if last else "It has no trials yet"
        raise ArgumentError(f"the run {self.folder} has no trial {number}", remedy, key="trial")

    def result(self) -> Result:
        """Return everything that `lanelab show` prints."""
        return Result(tuple(sections_of(Seen(self.data))))

    def each_result(self) -> Iterator[Result]:
        """Yield the parts of that, each as soon as it is laid out: those of a large run take their time."""
        return (Result((section,)) for section in each_section(Seen(self.data)))

    # --- for others

    def results(self) -> dict[str, Json]:
        """Return what `lanelab show --json` prints: medians with intervals, comparisons, failures, caveats."""
        from lanelab.analysis.results import export

        head = {"name": self.name, "state": self.state, "created_utc": self.data.created_utc}
        return {**head, **export.results(self.data)}

    def everything(self, *, requests: bool = False) -> dict[str, Json]:
        """Return what `lanelab export --format json` prints. requests: those of each trial, too."""
        from lanelab.analysis.results import export

        return export.everything(self.data, requests=requests)

    def export_files(self, kind: "Kind", folder: str | Path, *, median: bool = False) -> "Exported":
        """Write the HAR, the capture with its key log, or the trace of each trial that counts, or of each cell's median
        trial. Returns the files, and how many trials had none to give."""
        from lanelab.analysis.results.export_files import NAMES, write_files

        known(kind, NAMES, "kind", f"there is no kind {kind!r} of files")
        return write_files(self.data, kind, Path(folder), median=median)

    def report(self, path: str | Path | None = None) -> Path:
        """Write the report: one page, in the run folder unless `path` says otherwise."""
        from lanelab.analysis.results.report import write_report

        return write_report(self.folder, None if path is None else Path(path))

    def write_markdown(self, path: str | Path) -> None:
        """Write everything that `lanelab show` prints as Markdown."""
        from lanelab.analysis.results.report.atomic_files import write_whole

        write_whole(Path(path), results_markdown(self.data).encode())

    def save_figures(self, kind: Literal["svg", "png"] = "svg") -> list[Path]:
        """Save each figure of the report as a file in the run folder."""
        from lanelab.analysis.results.report import save_figures

        return list(save_figures(self.folder, kind))

    def summary(self) -> str:
        """Return which run this is, in one line."""
        begun = self.data.created_utc[:16].replace("T", " ")
        counts = f"{len(self.data.ok)} trials count, {len(self.data.failed)} failed"
        return f"{self.name}, {self.state}, begun {begun} UTC: {counts}"

    def __str__(self) -> str:
        return str(self.result())

    def __repr__(self) -> str:
        return f"<run {self.summary()}>"

    def _repr_html_(self) -> str:
        from lanelab.analysis.results.layout.page import head_on_page, on_page, parts_on_page
        from lanelab.analysis.results.report.frame import framed
        from lanelab.analysis.results.sections.head import head, tiles

        seen = Seen(self.data)
        sections = [html for section in sections_of(seen)[:3] if (html := on_page(section))]
        return framed([head_on_page(head(seen)), *parts_on_page([tiles(seen)]), *sections])


def open_run(name: str | Path = LATEST) -> Run:
    """Return the run in a folder, of a name in ./runs, or the latest there. Raises InputError where there is none."""
    return Run(read_run(find_run(str(name))))


def open_runs(names: Sequence[str | Path]) -> list[Run]:
    """Return the runs that these names mean. InputError where two of them mean the same run."""
    folders: dict[Path, str | Path] = {}
    for name in names:
        folder = find_run(str(name)).resolve()
        if folder in folders:
            what = f"{str(name)!r} is the same run as {str(folders[folder])!r}"
            raise InputError(what, "Name different runs", key="RUN")
        folders[folder] = name
    return [open_run(name) for name in names]


def _claims_of(file: Path, variant: str) -> tuple[Claim, ...]:
    """Return the claims as the file has them now, with the variant that was run."""
    from lanelab.driver.experiment.read import read_experiment

    return read_experiment(file, variant or None).claims


def _record(folder: Path, trial: int) -> "TrialRecord":
    from lanelab.driver.run.folder.trial_records import read_record

    return read_record(folder, trial)


def _parts(folder: Path, trial: int) -> Parts | None:
    from lanelab.driver.run.folder.trial_records import read_record

    page = read_record(folder, trial).page_load
    return page.parts if page else None
