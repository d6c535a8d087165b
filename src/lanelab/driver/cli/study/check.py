"""lanelab study check: runs the study of an artifact here, and compares."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.study.compare import StudyComparison, compare_studies
from lanelab.analysis.results.study.comparison_page import comparison_markdown
from lanelab.analysis.results.study.report import judge_study, write_study_report
from lanelab.analysis.results.study.run import ReadStudyRun, is_study_run, read_about, read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.analysis.results.verification import verify
from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.session import Means
from lanelab.driver.api.studies import AskedStudy, begin_study, play_study
from lanelab.driver.base.errors import EXIT_FAILED, EXIT_INCOMPLETE, ArtifactError, InputError
from lanelab.driver.base.settings.kinds import MOST_BEDS
from lanelab.driver.cli.bed_options import bed_options
from lanelab.driver.cli.interrupts import stopping
from lanelab.driver.cli.output import note
from lanelab.driver.cli.progress import watching
from lanelab.driver.cli.study.compare import show
from lanelab.driver.experiment.keys import MOST_TRIALS
from lanelab.driver.run.start import RUNS
from lanelab.driver.run.study.archive import ROOT
from lanelab.driver.run.study.check import PAGE, Unpacked, its_sites, opened
from lanelab.driver.run.study.figures import Asked, chosen
from lanelab.driver.run.study.read import read_study_folder
from lanelab.driver.run.study.run_folder import COPIES, sha256

NAME_ENDS = (".gz", ".tar")


@click.command("check")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option("--figure", "figures", type=int, multiple=True, metavar="N", help="Only this one; may be given again")
@click.option(
    "--trials", type=click.IntRange(1, MOST_TRIALS), metavar="N", help="Of each cell, instead of what was run there"
)
@click.option(
    "--beds",
    type=click.IntRange(1, MOST_BEDS),
    metavar="N",
    help="Over how many fresh beds rounds are divided, likewise",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the check (default: runs/check-ARCHIVE)")
@click.option("--no-run", "there_already", metavar="RUN", help="Run nothing: compare with this run of the study")
@click.option("--run-programs", is_flag=True, help="Run programs of the archive that make its sites: they are others'")
@click.option("--accept-links", is_flag=True, help="Go on where a link is out of tolerance; results then say so")
@bed_options
def check(  # noqa: PLR0913 - an option each
    archive: Path,
    figures: tuple[int, ...],
    trials: int | None,
    beds: int | None,
    out: Path | None,
    there_already: str | None,
    *,
    run_programs: bool,
    made: BedOptions,
) -> None:
    """Run the study of an artifact on this machine, and compare: each claim's verdict, and each cell's median.

    Verifies every file of ARCHIVE, runs its experiments with its sites, and writes the comparison to check.md in the
    folder of the check. The same command again goes on with a check that was stopped.

    Exit status: 0 where all verdicts agree, 3 where some differ, were not tested, are inconclusive in both or are
    missing, 2 for bad input, 1 for a failure or an archive that is damaged, 130 after Ctrl-C.

    \b
    Examples:
      lanelab study check spdy-vs-http-2012-period-artifact.tar.gz
      lanelab study check artifact.tar.gz --figure 4 --trials 6
      lanelab study check artifact.tar.gz --no-run latest
    """

    if there_already and (trials or beds or run_programs or not made.is_default):
        raise InputError("nothing is run", "Leave --trials, --beds and the options of beds out", key="--no-run")
    unpacked = opened(archive, out or Path(RUNS) / f"check-{_stem(archive)}")
    note(f"every file of {archive} is as its digest says; unpacked into {unpacked.folder}")
    there = read_study_run(unpacked.run)
    _require_unchanged(there, files=unpacked.about.captures)
    wanted = chosen(there.about.study, figures)
    failed = False
    if there_already:
        here = find_study_run(there_already)
    else:
        here = unpacked.here
        wishes = Asked(trials or there.about.trials, beds or there.about.beds, there.about.scale)
        study = AskedStudy(wishes, there.about.variant or None, wanted, there.about.seed, here, made)
        failed = _run(unpacked, there, study, run_programs=run_programs)
    agreed = _compare(unpacked, there, here, wanted)
    if failed:
        sys.exit(EXIT_FAILED)
    if not agreed:
        sys.exit(EXIT_INCOMPLETE)


def _require_unchanged(there: ReadStudyRun, *, files: bool) -> None:
    """Raises ChangedError where the archive has other results or captures than it says itself."""

    for run in filter(None, there.runs.values()):
        verify(run.folder, files=files).require("Do not trust this archive")


def _stem(archive: Path) -> str:
    name = archive.name
    for end in NAME_ENDS:
        name = name.removesuffix(end)
    return name or ROOT


def _run(unpacked: Unpacked, there: ReadStudyRun, asked: AskedStudy, *, run_programs: bool) -> bool:
    """Run what is not finished; whether a figure could not be run."""

    about, here = there.about, unpacked.here
    with (
        its_sites(unpacked, run_programs=run_programs) as notes,
        watching(as_json=False) as tell,
        stopping() as stop,
    ):
        for words in notes:
            note(f"site {words}")
        study = read_study_folder(str(unpacked.run / COPIES / about.study.name))
        for each in about.figures:
            if sha256(study.texts[each.figure]) != each.experiment_sha256:
                what = f"the experiment of figure {each.figure} in the archive is not the one that was run there"
                raise ArtifactError(what, "Do not trust this archive")
        if is_study_run(here):
            begun = read_about(here)
            if (begun.trials, begun.beds) != (asked.instead.trials, asked.instead.beds):
                what = f"the run in {here} has begun with other trials or beds"
                raise InputError(what, "Go on with the same, or name another folder", key="--out")
        else:
            _, begun = begin_study(study, asked, tell)
        means = Means(tell, stop, command=sys.argv[1:])
        remedy = f"Go on with the same command and --out {unpacked.folder}"
        played = play_study(here, begun, asked.figures, asked.bed, means, remedy)
        write_study_report(here)
    return bool(played.failed)


def _compare(unpacked: Unpacked, there: ReadStudyRun, here: Path, wanted: Sequence[int]) -> bool:
    """Show both, and write the page; whether all verdicts agree."""

    read = read_study_run(here)
    comparison = compare_studies((there, judge_study(there)), (read, judge_study(read)), figures=wanted)
    show(comparison)
    page = unpacked.folder / PAGE
    write_whole(page, comparison_markdown(comparison, [_introduction(comparison)]).encode())
    note(f"the comparison is {page}")
    return comparison.all_agree


def _introduction(made: StudyComparison) -> str:
    return "The first run is that of the archive, the other one was made here." + (
        "" if made.all_agree else " Not every verdict is the same in both."
    )
