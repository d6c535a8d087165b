"""Says at the end of a run which cells lack trials, why, and what to do: it must not look like a complete one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from lanelab.driver.cli.output import note
from lanelab.driver.experiment.schedule.missing import Lacking, lacking
from lanelab.driver.record.reasons import Reason
from lanelab.driver.run.events import Event
from lanelab.driver.run.start import BegunRun

MOST_CELLS = 10
Reasons = Mapping[str, Mapping[str, int]]


def tell_missing(begun: BegunRun, *, as_json: bool) -> bool:
    """Whether cells have fewer trials that count than asked for."""
    store = begun.store
    short = lacking(begun.experiment, store.history())
    if not short:
        return False
    reasons = store.reasons()
    if as_json:
        click.echo(json.dumps(Event("missing", {"cells": [_json(one, reasons) for one in short]}).to_json()))
    for line in lines(short, reasons, len(begun.experiment.cells), store.folder):
        note(line)
    return True


def _json(one: Lacking, reasons: Reasons) -> dict[str, object]:
    cell = one.cell
    names = {"site": cell.site, "link": cell.link.label, "arm": cell.arm.name}
    counts = {"counted": one.counted, "asked": one.asked, "again": one.again}
    return {**names, **counts, "reasons": dict(reasons.get(cell.id, {}))}


def lines(short: Sequence[Lacking], reasons: Reasons, cells: int, folder: Path) -> list[str]:
    """Which cells, then what to do."""
    told = [f"fewer than {short[0].asked} trials count in {len(short)} of {cells} cells:"]
    for one in short[:MOST_CELLS]:
        why = ", ".join(f"{reason} {number}" for reason, number in reasons.get(one.cell.id, {}).items())
        told.append(f"  {one.cell.label}: {one.counted} of {one.asked}{f' ({why})' if why else ''}")
    if len(short) > MOST_CELLS:
        told.append(f"  and {len(short) - MOST_CELLS} more")
    again = sum(one.again for one in short)
    if again:
        trials = "1 trial is" if again == 1 else f"{again} trials are"
        told.append(f"{trials} made by going on: lanelab run --resume {folder}")
    if any(Reason.LINK_OUT_OF_TOLERANCE in reasons.get(one.cell.id, {}) for one in short):
        told.append(
            "links were out of tolerance, as on a busy machine: wait until it is idle, or add --accept-links to see "
            "the effect all the same"
        )
    if any(one.counted + one.again < one.asked for one in short):
        told.append(
            f"{'the others' if again else 'they'} are not tried again: lanelab show {folder} says what failed, "
            "docs/reference/verdicts.md what to do; a new run may have more retries, or a longer timeout"
        )
    return told
