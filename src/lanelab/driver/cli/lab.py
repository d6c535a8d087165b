"""lanelab lab: predictions that are fixed before a run, and judged by it."""

import getpass
import shlex
import webbrowser
from collections.abc import Callable
from pathlib import Path

import click

from lanelab.driver.api.labs import collect_labs, fix_predictions, judge_lab, lab_result, labs, start_lab
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import EXIT_FAILED, InputError
from lanelab.driver.cli.output import console, note, table
from lanelab.driver.page.language import LANGUAGES, spoken

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group("lab")
def group() -> None:
    """Labs for a class: predictions are fixed before the run, and judged by it.

    \b
    A student does this:
      lanelab lab start 1                         makes a folder with a sheet to fill in
      lanelab lab predict lab-1-slow-start-ada    fixes what it says
      lanelab run lab-1-slow-start-ada/1-slow-start.yaml --out lab-1-slow-start-ada/run
      lanelab lab check lab-1-slow-start-ada      what the run says of it

    \b
    And the teacher, with everybody's folders:
      lanelab lab collect handed-in
    """


@group.command("list")
def list_labs() -> None:
    """List the labs. Their texts: lanelab docs."""
    rows = ((line.name, line.title, counted(line.asks, "prediction")) for line in labs())
    console().print(table(("lab", "title", "asks for"), rows))


@group.command("start")
@click.argument("name")
@click.option("--student", metavar="NAME", help="Whose lab it is (default: the name of the account)")
@click.option("--out", type=FOLDER, help="The folder (default: lab-NAME-STUDENT)")
@click.option("--language", default="en", metavar="CODE", help="Language of the questions, where the lab has it")
def start(name: str, student: str | None, out: Path | None, language: str) -> None:
    """Begin a lab: NAME or its number, or the file of a description of your own, which may have other margins.

    Makes a folder with a sheet for the predictions, and the experiment with a seed of the student's own.

    \b
    Examples:
      lanelab lab start 1 --student "Ada Lovelace"
      lanelab lab start my-labs/1-slow-start.yaml
    """
    folder = start_lab(name, student or getpass.getuser(), out, language)
    note(f"fill in {folder.path / 'predictions.yaml'}, then: lanelab lab predict {shlex.quote(str(folder.path))}")


@group.command("predict")
@click.argument("folder", type=FOLDER)
@click.argument("answers", nargs=-1, metavar="[PREDICTION=ANSWER]...")
def predict(folder: Path, answers: tuple[str, ...]) -> None:
    """Fix the predictions that are filled in, with their time and digest. The experiment then has the digest in it, and
    the run will.

    Until the run begins they may be fixed again. What is predicted afterwards does not count.

    \b
    Examples:
      lanelab lab predict lab-1-slow-start-ada
      lanelab lab predict lab-1-slow-start-ada window-10=1400 window-40=1.2s
    """
    given = dict(_pair(answer) for answer in answers)
    opened, sheet = fix_predictions(folder, given)
    note(f"{counted(len(sheet.answers), 'prediction')} fixed at {sheet.fixed_utc}, sha256 {sheet.digest}")
    note(f"now: lanelab run {shlex.quote(str(opened.experiment))} --out {shlex.quote(str(opened.run))}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, answer = text.partition("=")
    if not equals:
        raise InputError(f"{text[:60]!r} is no prediction", "Write NAME=ANSWER, like window-10=1400")
    return name, answer


def _words(language: str) -> Callable[..., str]:
    if language not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        note(f"lanelab's own words are in {known}, and not in {language[:20]!r}: the page has them in English")
    return spoken(language)


@group.command("check")
@click.argument("folder", type=FOLDER)
@click.option("--run", metavar="RUN", help="The run, where it is not in the folder: its folder or its name")
@click.option("--language", default="en", metavar="CODE", help="Language of the page, where the lab has it")
@click.option("--open", "opens", is_flag=True, help="Open the page in this machine's browser")
def check(folder: Path, run: str | None, language: str, *, opens: bool) -> None:
    """Say what the run in FOLDER says of what was predicted, and write the page that one takes home: lab.html.

    Refused are predictions that were edited after they were fixed, that are somebody else's, and a run that began
    without them. The verdicts are those of claims: docs/reference/claims.md
    """
    checked, page = judge_lab(folder, run, language, _words(language))
    console().print(lab_result(checked).renderable())
    note(f"to take home: {page}")
    if opens:
        webbrowser.open(page.resolve().as_uri())


@group.command("collect")
@click.argument("folders", type=FOLDER, nargs=-1, required=True)
@click.option("--out", type=FOLDER, default=Path(), help="Folder for class.csv and class.html (default: here)")
@click.option("--language", default="en", metavar="CODE", help="Language of the page, where the labs have it")
def collect(folders: tuple[Path, ...], out: Path, language: str) -> None:
    """Judge the labs in FOLDERS, or in the folders within them, and write a table and a page for the class.

    A folder that cannot be judged is named, and takes nothing else with it. Exit status: 1 where there is one.
    """
    sheet, csv_file, page = collect_labs(folders, out, language, _words(language))
    for problem in sheet.problems:
        note(f"not judged: {problem.place}: {problem.why}")
    for line in sheet.notes():
        note(line)
    note(f"{counted(len(sheet.checked), 'student')}: {csv_file} and {page}")
    if sheet.problems:
        raise SystemExit(EXIT_FAILED)
