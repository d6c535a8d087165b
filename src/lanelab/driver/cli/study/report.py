"""lanelab study report: the report of a study's run, and what a paper needs of it."""

import webbrowser
from collections.abc import Sequence
from pathlib import Path

import click

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.sections.study import verdicts_section
from lanelab.analysis.results.study.data import write_data
from lanelab.analysis.results.study.markdown import write_markdown
from lanelab.analysis.results.study.page import judge_study, write_page
from lanelab.analysis.results.study.run import read_study_run
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.cli.completions import complete_study_run
from lanelab.driver.cli.output import console, note
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.run.study.placeholders import unwritten
from lanelab.driver.run.study.read import read_study_folder
from lanelab.driver.run.study.run_folder import COPIES
from lanelab.driver.run.study.study import Study, StudyRun

DATA = "data"  # the folder of tables, in that of the run


@click.command("report")
@click.argument("name", metavar="RUN", shell_complete=complete_study_run)
@click.option("--output", type=click.Path(path_type=Path), help="Where to (default: report.html in the run's folder)")
@click.option("--markdown", type=click.Path(path_type=Path), metavar="DIR", help="Write DIR/report.md with figures too")
@click.option("--figures", type=click.Choice(("svg", "png")), help="What figures beside report.md are (default: svg)")
@click.option("--data", type=click.Choice(("csv", "parquet")), help="Write tables of figures and claims too: into the "
              "DIR of --markdown, or the folder data of the run")  # fmt: skip
@click.option("--open", "open_it", is_flag=True, help="Show it in a browser")
def report_study(
    name: str, *, output: Path | None, markdown: Path | None, figures: str | None, data: str | None, open_it: bool
) -> None:
    """Write the report of a study's run: one HTML page with verdicts, each figure then and now, and methods.

    RUN is a folder, the name of a run in ./runs, the name of a study, or `latest`. Claims are
    judged as they were when the run began; one that the study has otherwise now is called changed.

    \b
    Examples:
      lanelab study report latest --open
      lanelab study report latest --markdown paper --figures png --data csv
    """

    if figures and not markdown:
        raise InputError("it means nothing without --markdown", "Write --markdown DIR, too", key="--figures")
    read = read_study_run(find_study_run(name))
    judged = judge_study(read, claims_now(read.about))
    target = write_page(read, judged, output)
    tell_unwritten(read.folder / COPIES / read.about.study.name, read.about.study)
    note(f"the report is {target}")
    if markdown:
        for path in write_markdown(read, judged, markdown, "png" if figures == "png" else "svg"):
            note(f"written: {path}")
    if data:
        folder = markdown or read.folder / DATA
        for path in write_data(read, judged, folder, "parquet" if data == "parquet" else "csv"):
            note(f"written: {path}")
    if open_it and not webbrowser.open(target.resolve().as_uri()):
        note("no browser could be started: open the file yourself")


def tell_report(folder: Path) -> None:
    """Writes the report, and prints the verdicts in it."""

    read = read_study_run(folder)
    judged = judge_study(read, claims_now(read.about))
    console().print(on_terminal([verdicts_section(judged, read.caveats())]))
    note(f"the report is {write_page(read, judged)}")


def tell_unwritten(folder: Path, study: Study) -> None:
    """Tell the author what still is as the skeleton has it."""
    if words := unwritten(folder, study):
        note(f"mind: {words}")


def claims_now(about: StudyRun) -> dict[int, Sequence[Claim]] | None:
    """Return the claims of each figure as the study has them now; None where it cannot be read."""
    try:
        now = read_study_folder(about.study.name)
        experiments = now.experiments(about.variant)
    except LanelabError as error:
        note(f"cannot check whether claims were changed since: the study as it is now cannot be read ({error})")
        return None
    return {number: experiment.claims for number, experiment in experiments.items()}
