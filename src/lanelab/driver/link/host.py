"""What the hosts' own TCP does on a link."""

from __future__ import annotations

from dataclasses import dataclass, fields

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import DURATION, Kind
from lanelab.driver.base.units import Duration, Size
from lanelab.driver.link.written import WrittenLink

MINIMUM_RTO = Duration.parse("200ms")  # Linux' own
SHORTEST_RTO, LONGEST_RTO = Duration.parse("1ms"), Duration.parse("60s")
SMALLEST_WINDOW, LARGEST_WINDOW = Size.parse("8KiB"), Size.parse("64MB")
ECN = ("off", "accept", "ask")


def _rto(value: object, key: str) -> Duration:
    time = Duration.parse(value, key=key)
    if not SHORTEST_RTO <= time <= LONGEST_RTO or time.ns % 1_000_000:
        what = f"no kernel takes {time} for that"
        raise InputError(what, f"Write whole milliseconds from {SHORTEST_RTO} to {LONGEST_RTO}", key=key)
    return time


def _window(value: object, key: str) -> Size | None:
    if str(value) == "kernel":
        return None
    size = Size.parse(value, key=key)
    if not SMALLEST_WINDOW <= size <= LARGEST_WINDOW:
        what = f"a receive window of {size} is of no use"
        raise InputError(what, f"Write {SMALLEST_WINDOW} to {LARGEST_WINDOW}, or kernel", key=key)
    return size


RTO = Kind("DURATION", "whole milliseconds", _rto, DURATION.schema, numeric=True)
RECEIVE_WINDOW = Kind("SIZE", "`kB`, `MB`, `KiB`; `kernel`", _window, numeric=True)


@dataclass(frozen=True, slots=True)
class Host:
    congestion_control: str
    initial_window: int
    delayed_ack: bool
    timestamps: bool
    tail_loss_probe: bool
    ecn: str
    sack: bool
    slow_start_after_idle: bool
    saved_metrics: bool
    minimum_rto: Duration
    receive_window: Size | None  # None: as the kernel has it

    def texts(self) -> dict[str, str | None]:
        """Each setting as a user would write it."""
        return {field.name: _text(getattr(self, field.name)) for field in fields(self)}


def _text(value: object) -> str:
    if value is None:
        return "kernel"
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_host(written: WrittenLink, side: str) -> Host:
    return Host(**{field.name: written.value(field.name, side) for field in fields(Host)})
