"""lanelab compare: whether runs agree."""

import string
from collections.abc import Sequence

import click

from lanelab.driver.api.opened_run import Run, open_runs
from lanelab.driver.api.results import Agreement, agreement_json, check_agreements
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.check_options import CheckOptions, check_options
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.completions import complete_run
from lanelab.driver.cli.output import console, note, print_json

FEWEST = 2
LETTERS = string.ascii_uppercase


@click.command("compare")
@click.argument("names", metavar="RUN RUN...", shell_complete=complete_run, nargs=-1, required=True)
@click.option(
    "--within", default="5%", show_default=True, metavar="PERCENT", help="The margin: agree within it, or not"
)
@check_options
@json_option
def compare(names: tuple[str, ...], *, within: str, checked: CheckOptions, as_json: bool) -> None:
    """Whether runs agree: two machines, two dates. Each RUN is held against the first one.

    Compares the medians of the cells that they have in common, and the paired changes between arms. RUN is a folder,
    the name of a run in ./runs, or `latest`. What agreeing means, and how often it is right:
    docs/reference/between-beds.md

    Exit status with --check: 0 where all agree, 4 where something differs by more, 3 where nothing does and something
    cannot be told apart, 2 for bad input, 1 for a failure. What that is for: docs/continuous-integration.md

    \b
    Examples:
      lanelab compare runs/20261120T101500Z-quickstart latest
      lanelab compare here there --within 2% --check
    """

    if len(names) < FEWEST:
        raise InputError(
            "one run alone agrees with nothing", "Name two runs or more: lanelab runs lists them", key="RUN"
        )
    runs = open_runs(names)
    first, *others = runs
    agreements = [
        first.against(other, within, letters=(letter(0), letter(number))) for number, other in enumerate(others, 1)
    ]
    if as_json:
        print_json(agreement_json(agreements))
    else:
        _show(runs, agreements)
    if checked.are_given:
        checked.finish(check_agreements(agreements))


def letter(number: int) -> str:
    """Return what a run is called in the comparison."""
    return LETTERS[number] if number < len(LETTERS) else str(number + 1)


def _show(runs: Sequence[Run], agreements: Sequence[Agreement]) -> None:
    for number, run in enumerate(runs):
        begun = run.data.created_utc[:16].replace("T", " ")
        counted = f"begun {begun} UTC, {len(run.data.ok)} trials count"
        note(f"{letter(number)}: {run.folder}, {run.name}, {run.state}, {counted}")
    out = console()
    for each in agreements:
        out.print()
        out.print(each.renderable())
