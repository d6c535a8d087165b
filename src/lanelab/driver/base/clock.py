"""Time stamps. Durations are taken from time.monotonic()."""

import datetime
import time


def utc_now() -> str:
    """Return now as every record and database has it: ISO 8601 in UTC, to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shifted(utc: str, seconds: float) -> str:
    """Return a stamp at another time, in the same form."""
    moved = datetime.datetime.fromisoformat(utc) + datetime.timedelta(seconds=seconds)
    return moved.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_between(first: str, second: str) -> float:
    """Return the seconds from one stamp to another."""
    began, ended = (datetime.datetime.fromisoformat(text) for text in (first, second))
    return (ended - began).total_seconds()


def wall_ahead_ns() -> int:
    """Return by how much the wall clock is ahead of the steady one: before a load as much as after it, or it was
    set."""
    return time.time_ns() - time.monotonic_ns()
