"""lanelab plan and lanelab new: what an experiment would do, and how to begin one."""

import os
from collections.abc import Mapping
from pathlib import Path

import click
from rich.text import Text

from lanelab.driver import api
from lanelab.driver.api.claims_planned import about, places, published
from lanelab.driver.base.amounts import seconds, size
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import MOST_WORKERS, json_option
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.experiment.schema import SCHEMA_FILE
from lanelab.driver.record.metrics import LOAD

EXAMPLE = Path(__file__).resolve().parents[1] / "experiment" / "example.yaml"


@click.command("plan")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--variant", metavar="NAME", help="Which of the experiment's variants (default: the first)")
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
      lanelab plan experiments/quickstart.yaml
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
    # In a load no gateway takes part: the generator speaks every protocol itself.
    hidden = {"via"} if experiment.workload == LOAD else set()
    arms = (
        (arm.name, _settings({key: value for key, value in arm.changed().items() if key not in hidden}))
        for arm in experiment.arms
    )
    out.print(table(("arm", "settings other than the defaults"), arms))
    out.print()
    if experiment.claims:
        claims = [(each.name, about(each), published(each), each.margin, places(each)) for each in experiment.claims]
        out.print(table(("claim", "about", "published", "margin", "checked at"), claims))
        out.print()
    for line in planned.words():
        out.print(Text(line))
    for warning in planned.warnings:
        note(f"mind: {warning}")


def _settings(changed: Mapping[str, object]) -> str:
    words = []
    for key, value in changed.items():
        shown = str(value).lower() if isinstance(value, bool) else value
        words.append(f"{key}: {'; '.join(value) if isinstance(value, list) else shown}")
    return ", ".join(words) or "none"


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
        click.echo(example(SCHEMA_FILE), nl=False)
        return
    folder = file.absolute().parent
    beside = folder.is_relative_to(SCHEMA_FILE.parent.parent)
    schema = Path(os.path.relpath(SCHEMA_FILE, folder)) if beside else SCHEMA_FILE
    try:
        with file.open("x", encoding="utf-8") as written:
            written.write(example(schema))
    except FileExistsError:
        what = f"{file} is there already, and stays as it is"
        raise InputError(what, "Name another file, or remove it first", key="FILE") from None
    except OSError as error:
        what = f"cannot write {file}: {error.strerror}"
        raise InputError(what, "Name a file in a folder that is there and can be written", key="FILE") from error
    note(f"wrote {file}; what it would do: lanelab plan {file}")


def example(schema: Path) -> str:
    """The first line is for editors: completion and errors while typing."""
    return f"# yaml-language-server: $schema={schema}\n{EXAMPLE.read_text(encoding='utf-8')}"
