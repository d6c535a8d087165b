"""lanelab link trace: traces of rates and delays, which links can follow."""

import itertools
from pathlib import Path
from typing import TypedDict, cast

import click

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.units import Duration
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.experiment.traces import library, trace_from
from lanelab.driver.link.moving.files import DEFAULT_STEP, csv_of
from lanelab.driver.link.moving.models import LIBRARY
from lanelab.driver.link.moving.trace import Trace

BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 96  # characters of the picture of a trace


@click.group("trace")
def group() -> None:
    """Traces of rates and delays, which links follow: those of lanelab and your own."""


class _Facts(TypedDict):
    name: str
    of: str
    length_s: float
    least: float
    most: float
    mean: float
    digest: str
    title: str | None  # of one that comes with lanelab


class TraceFacts(_Facts):
    """A trace: of rates in bit/s, or of delays in us."""

    steps: int


class WholeTrace(_Facts):
    """A trace with its steps, each the time in us and the value."""

    steps: list[tuple[int, float]]


@group.command("list")
@json_option
def list_traces(*, as_json: bool) -> None:
    """List the traces that come with lanelab. Each was made by a model (docs/moving-links.md)."""
    traces = {name: trace_from(name, None, Path(), key="trace") for name in library()}
    if as_json:
        print_json([facts_of(name, trace) for name, trace in traces.items()])
        return
    rows = ((name, trace.what, trace.note(), LIBRARY[name].title) for name, trace in traces.items())
    console().print(table(("trace", "of", "values", "what"), rows))


@group.command("show")
@click.argument("trace", metavar="NAME_OR_FILE")
@json_option
def show(trace: str, *, as_json: bool) -> None:
    """Show a trace: its values over time.

    \b
    Examples:
      lanelab link trace show lte-driving
      lanelab link trace show mine.csv
    """
    curve = trace_from(trace, None, Path(), key="trace")
    if as_json:
        print_json(cast("WholeTrace", {**facts_of(curve.name, curve), "steps": [list(step) for step in curve.steps]}))
        return
    out = console()
    out.print(f"{curve.name}: {curve.what}, {curve.note()}", markup=False, soft_wrap=True)
    out.print(picture(curve), markup=False, soft_wrap=True)
    out.print(f"0 s{f'{curve.length_us / 1e6:g} s':>{WIDTH - 3}}", markup=False, soft_wrap=True)


@group.command("import")
@click.argument("file", metavar="FILE")
@click.option("--out", "out_file", metavar="FILE", required=True, help="Where to write the trace, as CSV")
@click.option(
    "--step", metavar="DURATION", help=f"Of a Mahimahi file: how long each step is  [default: {DEFAULT_STEP}]"
)
def import_trace(file: str, out_file: str, step: str | None) -> None:
    """Read a trace of your own, check it, and write it as lanelab's CSV.

    FILE is a list of moments as Mahimahi has it, or CSV of seconds and values. Experiments can also name it as it is;
    this is to look at what becomes of it, and to keep it with an experiment.

    \b
    Example:
      lanelab link trace import verizon-lte.down --out lte.csv
      lanelab link trace show lte.csv
    """
    chosen = None if step is None else Duration.parse(step, key="--step")
    try:
        curve = trace_from(file, None, Path(), key="FILE", step=chosen)
    except InputError as error:
        error.key = "--step" if error.key == "step" else error.key
        raise
    path = Path(out_file)
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(csv_of(curve, f"from {Path(file).name}"))
    except FileExistsError:
        raise InputError(f"{out_file} is there already", "Take another name, or remove it", key="--out") from None
    except OSError as error:
        raise StoreError(f"{out_file} cannot be written: {error.strerror}", "Take another name") from None
    note(f"{out_file}: {curve.note()}")


def facts_of(name: str, trace: Trace) -> TraceFacts:
    recipe = LIBRARY.get(name)
    return {
        "name": name, "of": trace.what, "length_s": trace.length_us / 1e6, "steps": len(trace.steps),
        "least": trace.least, "most": trace.most, "mean": trace.mean, "digest": trace.digest,
        "title": recipe.title if recipe else None,
    }  # fmt: skip


def picture(trace: Trace) -> str:
    """Return one line: the mean of each stretch of time, from nothing to the most."""
    edges = [trace.length_us * column / WIDTH for column in range(WIDTH + 1)]
    means = [(trace.total(end) - trace.total(begin)) / (end - begin) for begin, end in itertools.pairwise(edges)]
    return "".join(BARS[min(len(BARS) - 1, round(mean / trace.most * (len(BARS) - 1)))] for mean in means)
