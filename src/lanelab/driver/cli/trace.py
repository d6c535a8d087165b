"""lanelab link trace: traces of rates and delays, which links can follow."""

import itertools
from pathlib import Path

import click

from lanelab.driver.api.traces import DEFAULT_STEP, LIBRARY, Trace, facts_of, traces, whole_trace
from lanelab.driver.api.traces import import_trace as convert
from lanelab.driver.api.traces import trace as named_trace
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table

BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 96  # characters of the picture of a trace


@click.group("trace")
def group() -> None:
    """Traces of rates and delays, which links follow: those of lanelab and your own."""


@group.command("list")
@json_option
def list_traces(*, as_json: bool) -> None:
    """List the traces that come with lanelab. Each was made by a model (docs/moving-links.md)."""
    listed = traces()
    if as_json:
        print_json([facts_of(name, trace) for name, trace in listed.items()])
        return
    rows = ((name, trace.what, trace.note(), LIBRARY[name].title) for name, trace in listed.items())
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
    curve = named_trace(trace)
    if as_json:
        print_json(whole_trace(curve))
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
    curve = convert(file, Path(out_file), step)
    note(f"{out_file}: {curve.note()}")


def picture(trace: Trace) -> str:
    """Return one line: the mean of each stretch of time, from nothing to the most."""
    edges = [trace.length_us * column / WIDTH for column in range(WIDTH + 1)]
    means = [(trace.total(end) - trace.total(begin)) / (end - begin) for begin, end in itertools.pairwise(edges)]
    return "".join(BARS[min(len(BARS) - 1, round(mean / trace.most * (len(BARS) - 1)))] for mean in means)
