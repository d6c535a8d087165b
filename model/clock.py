"""Time stamps. Durations are taken from time.monotonic()."""

from __future__ import annotations

import datetime


def utc_now() -> str:
    """As every record and database has it: ISO 8601 in UTC, to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
