"""lanelab plan and lanelab new: what an experiment would do, and how to begin one."""

from collections.abc import Mapping
from pathlib import Path

import click
from rich.text import Text

from lanelab.driver import api
from lanelab.driver.api.claims_planned import about, places, published_words
from lanelab.driver.api.example import example, write_example
from lanelab.driver.base.amounts import seconds, size
from lanelab.driver.cli.common import MOST_WORKERS, json_option
from lanelab.driver.cli.file_completions import complete_experiment, complete_variant
from lanelab.driver.cli.output import console, note, print_json, table


@click.command("plan")
@click.argument("file", shell_complete=complete_experiment, type=click.Path(path_type=Path))
@click.option(
    "--variant",
    metavar="NAME",
    shell_complete=complete_variant,
    help="Which of the experiment's variants (default: the first)",
)
@click.option(
    "--workers", type=click.IntRange(1, MOST_WORKERS), metavar="N", help="How long it takes on so many beds at once"
)
@click.option(
    "--scale", type=float, metavar="X", help="Of a load: so much of the users in so much of the time, as in lanelab run"
)
@json_option
def plan(file: Path, *, variant: str | None, workers: int | None, scale: float | None, as_json: bool) -> None:
    """Show what an experiment FILE would do, without doing it: cells, order, time and disk.

    Warns where a claim gets too few rounds for a verdict. Times are estimates from round trips, rates and losses; what
    this machine has still to build is in them. What an experiment file says: docs/reference/experiment.md

    \b
    Examples:
      lanelab plan quickstart
      lanelab plan experiments/rtt-bandwidth-grid.yaml --json
      lanelab plan experiments/rtt-bandwidth-grid.yaml --workers 8
    """
    planned = api.plan(file, variant, scale=scale, workers=workers)
    if as_json:
        print_json(planned.to_json())
        return
    experiment, out = planned.experiment, console()
    rows = (
        (str(number), one.cell.site, one.cell.link.label, one.cell.arm.name, seconds(one.plt_s), size(one.disk_bytes))
        for number, one in enumerate(planned.estimate.cells, 1)
    )
    columns = ("cell", "site", "link", "arm", "expected load", "disk per trial")
    out.print(table(columns, rows, right=("cell", "expected load", "disk per trial")))
    out.print()
    arms = ((name, _settings(changed)) for name, changed in planned.arms().items())
    out.print(table(("arm", "settings other than the defaults"), arms))
    out.print()
    if planned.distances:
        far = ((each.link, each.site, str(each.trip), ", ".join(each.hosts), each.line) for each in planned.distances)
        out.print(table(("link", "site", "round trip", "hosts", "by the line"), far))
        out.print()
    if experiment.claims:
        claims = [(each.name, about(each), published_words(each), places(each)) for each in experiment.claims]
        out.print(table(("claim", "about", "published", "checked at"), claims))
        out.print()
    for line in planned.words():
        out.print(Text(line))
    for warning in planned.warnings:
        note(f"mind: {warning}")


def _settings(changed: Mapping[str, object]) -> str:
    words = []
    for key, value in changed.items():
        words.append(f"{key}: {_shown(value)}")
    return ", ".join(words) or "none"


def _shown(value: object) -> object:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_shown(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "; ".join(value)
    return str(value).lower() if isinstance(value, bool) else value


@click.command("new")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True), default="experiment.yaml")
def new(file: Path) -> None:
    """Write a commented example to FILE (default: experiment.yaml), to be changed. - prints it.

    A file that is there is never overwritten.

    \b
    Examples:
      lanelab new my-experiment.yaml
      lanelab new -
    """
    if str(file) == "-":
        click.echo(example(), nl=False)
        return
    write_example(file)
    note(f"wrote {file}; what it would do: lanelab plan {file}")
