"""lanelab study report: the report of a study's run, and what a paper needs of it."""

import webbrowser
from pathlib import Path

import click

from lanelab.driver.api.study_run import StudyRun, StudyVerdicts, open_study_run
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.completions import complete_study_run
from lanelab.driver.cli.output import console, note


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
    run = open_study_run(name)
    verdicts = judge(run)
    target = verdicts.report(output)
    tell_unwritten(run.unwritten)
    note(f"the report is {target}")
    if markdown:
        for path in verdicts.write_markdown(markdown, "png" if figures == "png" else "svg"):
            note(f"written: {path}")
    if data:
        for path in verdicts.write_data(markdown, "parquet" if data == "parquet" else "csv"):
            note(f"written: {path}")
    if open_it and not webbrowser.open(target.resolve().as_uri()):
        note("no browser could be started: open the file yourself")


def tell_report(folder: Path) -> None:
    """Writes the report, and prints the verdicts in it."""
    verdicts = judge(open_study_run(folder))
    console().print(verdicts.renderable())
    note(f"the report is {verdicts.report()}")


def judge(run: StudyRun) -> StudyVerdicts:
    """Judge a run, and say what could not be checked."""
    verdicts = run.judge()
    if verdicts.caution:
        note(verdicts.caution)
    return verdicts


def tell_unwritten(words: str) -> None:
    """Tell the author what still is as the skeleton has it."""
    if words:
        note(f"mind: {words}")
