"""A run written for other programs: tables as CSV or Parquet, everything as JSON."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Literal, TypeAlias

from lanelab.analysis.results import export, export_tables
from lanelab.analysis.results.export_files import Kind
from lanelab.driver.api.opened_run import Run

__all__ = ["Kind", "Rows", "csv_to", "json_to", "parquet_to"]

Rows: TypeAlias = Literal["trials", "requests", "series"]


def csv_to(run: Run, rows: Rows, output: Path | IO[str]) -> int:
    """Write a table as CSV, into a file or whatever is open; returns how many rows there were."""
    if isinstance(output, Path):
        return export_tables.write_text(output, export_tables.write_csv, _rows(run, rows))
    return export_tables.write_csv(_rows(run, rows), output)


def parquet_to(run: Run, rows: Rows, path: Path) -> int:
    """Write a table as Parquet; returns how many rows there were."""
    return export_tables.write_parquet(_rows(run, rows), path)


def json_to(run: Run, path: Path, *, requests: bool) -> None:
    """Write the whole run as one JSON object."""
    with export_tables.writing(path) as part, part.open("w", encoding="utf-8") as file:
        json.dump(run.everything(requests=requests), file, indent=1)


def _rows(run: Run, rows: Rows) -> Iterable[export_tables.Row]:
    of = {"trials": export.trial_rows, "requests": export.request_rows, "series": export.series_rows}
    return of[rows](run.data)
