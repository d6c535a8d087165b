"""What k6 with lanelab's output writes: a line at the beginning, one each second, one with the report. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.evidence.load import SCRIPT_PREFIX, LoadReport
from lanelab.driver.record.evidence.spoken import Datagrams
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.series import Series
from lanelab.driver.trial.server_load import request_series


@dataclass(frozen=True, slots=True)
class Begin(Coded):
    kind: Literal["begin"]
    generator: str
    monotonic_s: float  # CLOCK_MONOTONIC when the load began


@dataclass(frozen=True, slots=True)
class Second(Coded):
    kind: Literal["second"]
    ms: float  # since the load began
    values: Mapping[str, float]  # by the names of driver/record/load_series.py
    script: Mapping[str, float]  # the same of what the script measures, by its own names


@dataclass(frozen=True, slots=True)
class Report(Coded):
    kind: Literal["report"]
    report: LoadReport
    datagrams: Datagrams | None  # that came after the warm-up; None: over TCP there are none


KINDS: Mapping[str, type[Begin | Second | Report]] = {"begin": Begin, "second": Second, "report": Report}


@dataclass(frozen=True, slots=True)
class Lines:
    """All of them."""

    began: float | None  # CLOCK_MONOTONIC in s; None: it did not begin
    series: Mapping[str, Series]
    report: LoadReport | None  # None: it died before
    datagrams: Datagrams | None


def read_lines(data: bytes) -> Lines:
    """Raises RecordError for anything else. A last line without its end is that of a program that was killed."""
    *whole, _ = data.split(b"\n")
    began: float | None = None
    points: dict[str, list[tuple[float, float]]] = {}
    script: dict[str, list[tuple[float, float]]] = {}
    report: LoadReport | None = None
    datagrams: Datagrams | None = None
    last = 0.0
    for number, text in enumerate(whole, 1):
        line = _line(text, number)
        if report is not None:
            raise _wrong(number, "comes after the report")
        if isinstance(line, Begin):
            if number != 1:
                raise _wrong(number, "is a second beginning")
            began = line.monotonic_s
        elif isinstance(line, Second):
            if began is None or line.ms <= last:
                raise _wrong(number, "is not in order")
            last = line.ms
            _add(points, line, number)
            for name, value in line.script.items():
                script.setdefault(name, []).append((line.ms, value))
        else:
            report, datagrams = line.report, line.datagrams
    series = {**request_series.series_of(points), **_of_script(script, report)}
    return Lines(began, series, report, datagrams)


def _of_script(script: Mapping[str, Sequence[tuple[float, float]]], report: LoadReport | None) -> dict[str, Series]:
    """Only the report says which of them are times."""
    times = {each.name for each in report.script if each.is_time} if report else set()
    return {
        f"{SCRIPT_PREFIX}{name}": Series("ms" if name in times else "", tuple(points))
        for name, points in script.items()
    }


def _add(points: dict[str, list[tuple[float, float]]], line: Second, number: int) -> None:
    for name, value in line.values.items():
        if name not in SERIES:
            raise _wrong(number, f"has a series {name[:60]!r} that nobody knows")
        points.setdefault(name, []).append((line.ms, value))


def _line(text: bytes, number: int) -> Begin | Second | Report:
    try:
        data: Any = json.loads(text)
    except ValueError:
        raise _wrong(number, "is no JSON") from None
    kind = KINDS.get(str(data.get("kind"))) if isinstance(data, dict) else None
    if kind is None:
        raise _wrong(number, "is of no kind that is known")
    return kind.from_json(data, f"line {number}")


def _wrong(number: int, what: str) -> RecordError:
    return RecordError(f"in the generator's figures, line {number} {what}", "Run the trial again", key=f"line {number}")
