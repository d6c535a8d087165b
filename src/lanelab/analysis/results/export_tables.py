"""Rows as tables for other programs: CSV, Parquet, Arrow in memory."""

import csv
import datetime
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from lanelab.driver.base.errors import StoreError
from lanelab.driver.record.metrics import METRICS, metric_named

if TYPE_CHECKING:
    import pyarrow

Cell: TypeAlias = str | int | float | datetime.datetime | None
Row: TypeAlias = dict[str, Cell]
Rows: TypeAlias = Iterable[Row]
WHOLE = frozenset(metric.name for metric in METRICS if metric.whole)
_COUNTS = ("http_status", "connection", "wire_connection", "wire_stream", "wire_in_flight")


def write_csv(rows: Rows, file: IO[str]) -> int:
    """Write a table with a header; true and false in lower case, times in ISO 8601, nothing where there is no value."""
    writer: csv.DictWriter[str] | None = None
    count = 0
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow({key: _csv(value) for key, value in row.items()})
        count += 1
    return count


def _csv(value: Cell) -> Cell:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime.datetime) else value


def write_parquet(rows: Rows, path: Path) -> int:
    """With types: whole numbers, times with their zone, yes and no."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - large, and only this needs it

    table = arrow_table(rows)
    with writing(path) as part:
        pq.write_table(table, part, compression="zstd")
    return int(table.num_rows)


_AT_ONCE = 500  # rows that are dictionaries at the same time
Kind: TypeAlias = Literal["text", "float", "int", "bool"]


def arrow_table(rows: Rows, kinds: Mapping[str, Kind] | None = None) -> "pyarrow.Table":
    """Return the rows as a table in memory, with types: those of `kinds`, else by the names of columns. Without a row
    it has the columns of `kinds`."""
    import pyarrow as pa  # noqa: PLC0415 - large

    kinds = kinds or {}
    columns: dict[str, list[Cell]] = {}
    remaining = iter(rows)
    while some := list(itertools.islice(remaining, _AT_ONCE)):  # a list of all rows needs ten times the memory
        for name in some[0]:
            columns.setdefault(name, []).extend(row[name] for row in some)
    columns = columns or {name: [] for name in kinds}
    return pa.table({name: _column(pa, name, columns.pop(name), kinds.get(name)) for name in list(columns)})


def _column(pa: Any, name: str, values: Sequence[Cell], kind: Kind | None) -> Any:  # noqa: ANN401 - pyarrow
    kind = kind or _kind_by_name(name)
    if name == "started":
        return pa.array(values, type=pa.timestamp("ms", tz="UTC"))
    if kind in ("text", "bool"):
        return pa.array(values, type=pa.string() if kind == "text" else pa.bool_())
    if kind:
        number, of_arrow = (int, pa.int64()) if kind == "int" else (float, pa.float64())
        return pa.array([None if each is None else number(each) for each in map(_amount, values)], type=of_arrow)
    return _by_values(pa, values)


def _kind_by_name(name: str) -> Kind | None:
    """Return what a column with this name has, where names say so."""
    if name in _COUNTS or name in WHOLE or name.endswith("_bytes"):
        return "int"
    return "float" if name.endswith(("_ms", "_mbit", "_s")) or metric_named(name) else None


def _by_values(pa: Any, values: Sequence[Cell]) -> Any:  # noqa: ANN401 - pyarrow
    types = {type(value) for value in values if value is not None}
    if not types:
        return pa.array(values, type=pa.string())
    if types == {int, float}:
        return pa.array(values, type=pa.float64())
    if len(types) > 1:  # settings of different kinds under one name
        return pa.array([None if value is None else str(_csv(value)) for value in values], type=pa.string())
    return pa.array(values)


def _amount(value: Cell) -> int | float | None:
    """Return the number in a field of numbers."""
    if isinstance(value, str | datetime.datetime):
        raise TypeError(f"{value!r} is no number")
    return value


class writing:  # noqa: N801 - used like a function
    """A file that is written whole or not at all. An error of the disk becomes an error with a remedy."""

    def __init__(self, path: Path) -> None:
        self.path, self.part = path, path.with_name(f".{path.name}.part")

    def __enter__(self) -> Path:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.part.touch()
        except OSError as error:
            raise self._refused(error) from error
        return self.part

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        try:
            if kind is None:
                self.part.replace(self.path)
            else:
                self.part.unlink(missing_ok=True)
        except OSError as refused:
            raise self._refused(refused) from refused
        if isinstance(error, OSError):
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write {self.path}: {error.strerror or error}",
            "Name another place for it",
        )


def write_text(path: Path, rows_to: Callable[[Rows, IO[str]], int], rows: Rows) -> int:
    """Write rows in a text format into a file; returns how many there were."""
    with writing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        return rows_to(rows, file)
