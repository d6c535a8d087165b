"""lanelab explain: why load times are what they are."""

import click

from lanelab.driver.api.opened_run import open_run
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.completions import complete_cell_or_arm, complete_step, complete_trial
from lanelab.driver.cli.output import console, print_json


@click.command("explain")
@run_argument
@click.argument("what", metavar="[CELL | ARM [ARM]]", nargs=-1, shell_complete=complete_cell_or_arm)
@click.option(
    "--trial",
    shell_complete=complete_trial,
    type=click.IntRange(min=1),
    metavar="N",
    help="One trial beside the others of its cell",
)
@click.option("--step", shell_complete=complete_step, metavar="NAME", help="Two arms in this step of a journey alone")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown, for a page or a paper")
@json_option
def explain(
    name: str, what: tuple[str, ...], *, trial: int | None, step: str | None, as_markdown: bool, as_json: bool
) -> None:
    """Say why load times are what they are: of what they are made, and where arms differ.

    With one name: that cell, or that arm on each link. With two arms: why the second is faster or slower than the
    first, with --step in one step of a journey. With none: every cell and every comparison of the run. Trials that
    stand far apart are explained too.
    How load times are divided into parts: docs/reference/parts.md

    \b
    Examples:
      lanelab explain latest
      lanelab explain latest HTTP HTTP/2
      lanelab explain latest --trial 12
      lanelab explain latest HTTP HTTP/2 --step article
    """

    if len(what) > 2 or (what and trial is not None):
        raise InputError("there is too much to explain at once", "Name one cell, one arm, two arms or one trial")
    run = open_run(name)
    if len(what) == 2:
        explanation = run.explain(what[1], against=what[0], step=step)
    else:
        explanation = run.explain(*what, trial=trial, step=step)
    if as_json:
        print_json(explanation.to_json())
    elif as_markdown:
        click.echo(explanation.markdown(), nl=False)
    else:
        console().print(explanation.renderable())
