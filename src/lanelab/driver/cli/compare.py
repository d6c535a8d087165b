"""lanelab compare: whether runs agree."""

import sys
from pathlib import Path

import click

from lanelab.analysis.results.compare_runs import Against, about_run, against, status
from lanelab.analysis.results.conditions import differing
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.sections.compare import against_section
from lanelab.driver.base.errors import EXIT_FAILED, EXIT_INCOMPLETE, InputError
from lanelab.driver.base.units import Ratio
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json

FEWEST = 2


@click.command("compare")
@click.argument("names", metavar="RUN RUN...", nargs=-1, required=True)
@click.option(
    "--within", default="5%", show_default=True, metavar="PERCENT", help="The margin: agree within it, or not"
)
@click.option(
    "--check", is_flag=True, help="Exit with 1 where runs differ by more, with 3 where they cannot be told apart"
)
@json_option
def compare(names: tuple[str, ...], *, within: str, check: bool, as_json: bool) -> None:
    """Whether runs agree: two machines, two dates. Each RUN is held against the first one.

    Compares the medians of the cells that they have in common, and the paired changes between arms. RUN is a folder,
    the name of a run in ./runs, or `latest`. What agreeing means, and how often it is right:
    docs/reference/between-beds.md

    \b
    Examples:
      lanelab compare runs/20261120T101500Z-quickstart latest
      lanelab compare here there --within 2% --check
    """

    margin = _margin(within)
    runs = _runs(names)
    comparison = _compared(runs, margin)
    verdict = status(comparison)
    if as_json:
        print_json(data_of({"first": about_run(runs[0]), "within": margin, "verdict": verdict, "compared": comparison}))
    else:
        _show(comparison)
    if check and verdict != "agree":
        sys.exit(EXIT_FAILED if verdict == "differ" else EXIT_INCOMPLETE)


def _margin(text: str) -> float:
    ratio = Ratio.parse(text, key="--within")
    if not ratio:
        raise InputError("two runs never agree within 0%", "Write a margin like 5%", key="--within")
    return float(ratio.fraction)


def _runs(names: tuple[str, ...]) -> list[Run]:

    if len(names) < FEWEST:
        raise InputError(
            "one run alone agrees with nothing", "Name two runs or more: lanelab runs lists them", key="RUN"
        )
    folders: dict[Path, str] = {}
    for name in names:
        folder = find_run(name)
        if folder.resolve() in folders:
            what = f"{name!r} is the same run as {folders[folder.resolve()]!r}"
            raise InputError(what, "Name different runs", key="RUN")
        folders[folder.resolve()] = name
    return [read_run(find_run(name)) for name in names]


def _compared(runs: list[Run], margin: float) -> list[Against]:

    first, *others = runs
    return [against(first, other, margin, differing(first, other)) for other in others]


def _show(comparisons: list[Against]) -> None:

    letters = [chr(ord("A") + number) if number < 26 else str(number + 1) for number in range(len(comparisons) + 1)]
    for letter, run in zip(letters, [comparisons[0].first, *(each.other for each in comparisons)], strict=True):
        begun = run.created_utc[:16].replace("T", " ")
        note(f"{letter}: {run.folder}, {run.name}, {run.state}, begun {begun} UTC, {len(run.ok)} trials count")
    out = console()
    for letter, each in zip(letters[1:], comparisons, strict=True):
        out.print()
        out.print(on_terminal([against_section(each, (letters[0], letter))]))
