"""lanelab claims: what a run says of the claims of its experiment."""

import textwrap
from pathlib import Path

import click

from lanelab.analysis.results.claims.claim_family import together
from lanelab.analysis.results.claims.judge import judge_as_kept
from lanelab.analysis.results.conditions import caveats
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.model import table
from lanelab.analysis.results.layout.terminal import fitted
from lanelab.analysis.results.run_folder import read_run, with_places
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.sections.claims import behind, columns, lines_of, summary
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import console, print_json
from lanelab.driver.experiment.claim import Claim

WIDTH = 120


@click.command("claims")
@run_argument
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The experiment file as it is now: tell which of its claims were edited since the run began",
)
@json_option
def claims(name: str, *, file: Path | None, as_json: bool) -> None:
    """Say which claims of the experiment the run reproduces: the effect, its interval, the trials behind it and why.

    A run is judged by the claims that it began with. With --file, one that was edited, added or taken out since then
    says so: "changed after the run". What a claim is: docs/reference/claims.md

    \b
    Examples:
      lanelab claims latest
      lanelab claims latest --file experiments/my-experiment.yaml
    """

    run = read_run(find_run(name))
    against = _claims_of(file, run.variant) if file else None
    if not (run.claims if against is None else against):
        raise InputError(
            f"the experiment of {name} has no claims" if file is None else f"{file} has no claims",
            "Write them into the experiment file before a run: docs/reference/claims.md",
        )
    judged = judge_as_kept(with_places(run, against or ()), against)
    if as_json:
        whole = together(judged)
        print_json({
            "claims": data_of(lines_of(judged)),
            "tested": whole.tested,
            "false_at_most": whole.false_at_most,
            "caveats": caveats(run),
        })  # fmt: skip
        return
    console().print(fitted(table(columns(), lines_of(judged))))
    click.echo()
    for each in judged:
        first, *others = behind(each)
        click.echo(textwrap.fill(first, WIDTH, subsequent_indent="  "))
        for line in others:
            click.echo(textwrap.fill(line.strip(), WIDTH, initial_indent="  ", subsequent_indent="    "))
    click.echo()
    click.echo(summary(judged))
    for sentence in caveats(run):
        click.echo(textwrap.fill(sentence, WIDTH))


def _claims_of(file: Path, variant: str) -> tuple[Claim, ...]:
    """Read the claims as the file has them now, with the variant that was run."""
    from lanelab.driver.experiment.read import read_experiment  # noqa: PLC0415 - a run alone needs no experiment file

    return read_experiment(file, variant or None).claims
