"""Instants as archives write them, as one text."""

import datetime
import re

_DIGITS = re.compile(r"\d{14}")
_EXACT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z")


def utc_of(text: str) -> str | None:
    """Write a date as 2026-11-22T10:00:00Z, with a fraction where there is one; None where it is no date."""
    text = text.strip()
    try:
        if _DIGITS.fullmatch(text):
            return datetime.datetime.strptime(text + "+0000", "%Y%m%d%H%M%S%z").strftime("%Y-%m-%dT%H:%M:%SZ")
        instant = datetime.datetime.fromisoformat(text)
        if _EXACT.fullmatch(text):
            return text
        if instant.tzinfo is None:
            instant = instant.replace(tzinfo=datetime.UTC)
        return utc_text(instant)
    except (ValueError, OverflowError):
        return None


def utc_text(instant: datetime.datetime) -> str:
    text = instant.astimezone(datetime.UTC).isoformat(timespec="microseconds").removesuffix("+00:00")
    return text.rstrip("0").rstrip(".") + "Z" if "." in text else text + "Z"
