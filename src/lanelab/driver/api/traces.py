"""Traces of rates and delays, which links follow: those of lanelab, and files."""

from pathlib import Path
from typing import TypedDict, cast

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.traces import library, trace_from
from lanelab.driver.link.moving.files import DEFAULT_STEP, csv_of
from lanelab.driver.link.moving.models import LIBRARY
from lanelab.driver.link.moving.trace import Trace

__all__ = ["DEFAULT_STEP", "LIBRARY", "Trace", "facts_of", "import_trace", "trace", "traces", "whole_trace"]


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


def traces() -> dict[str, Trace]:
    """Return the traces that come with lanelab, by name."""
    return {name: trace(name) for name in library()}


def trace(name: str) -> Trace:
    """Return the trace of that name, or in that file. Raises InputError."""
    return trace_from(name, None, Path(), key="trace")


def import_trace(file: str, out: Path, step: str | None = None) -> Trace:
    """Read a trace from a file of Mahimahi's or from CSV, and write it as lanelab's CSV. step: how long each step of a
    Mahimahi file is. Raises InputError where there is `out` already."""
    chosen = None if step is None else Duration.parse(step, key="--step")
    try:
        curve = trace_from(file, None, Path(), key="FILE", step=chosen)
    except InputError as error:
        error.key = "--step" if error.key == "step" else error.key
        raise
    try:
        with out.open("x", encoding="utf-8") as stream:
            stream.write(csv_of(curve, f"from {Path(file).name}"))
    except FileExistsError:
        raise InputError(f"{out} is there already", "Take another name, or remove it", key="--out") from None
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror}", "Take another name") from None
    return curve


def facts_of(name: str, trace: Trace) -> TraceFacts:
    recipe = LIBRARY.get(name)
    return {
        "name": name, "of": trace.what, "length_s": trace.length_us / 1e6, "steps": len(trace.steps),
        "least": trace.least, "most": trace.most, "mean": trace.mean, "digest": trace.digest,
        "title": recipe.title if recipe else None,
    }  # fmt: skip


def whole_trace(trace: Trace) -> WholeTrace:
    """Return a trace with its steps, as JSON has it."""
    return cast("WholeTrace", {**facts_of(trace.name, trace), "steps": [list(step) for step in trace.steps]})
