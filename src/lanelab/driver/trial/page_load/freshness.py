"""For how long a browser may show an answer again without asking (RFC 9111, 4.2). Pure.

Where nothing says it browsers guess: a tenth of the time since the last change. Chromium has no limit to that, Firefox
takes a week at most.
"""

from email.utils import parsedate_to_datetime

from lanelab.driver.record.evidence.browser import Headers

GUESSED = 10  # times as long it has not changed
MOST_GUESSED_S = 7 * 86_400
NEVER = 0.0


def kept_for_s(headers: Headers, now: float, most_guessed_s: float = MOST_GUESSED_S) -> float | None:
    """For how many seconds from now on (which is since 1970). 0 or less: it is stale, or may not be kept. None: it says
    nothing of that. `most_guessed_s`: for how long the browser keeps at most what does not say how long."""
    control = _directives(headers)
    if not {"no-store", "no-cache"}.isdisjoint(control) or "no-cache" in ",".join(values(headers, "pragma")).lower():
        return NEVER
    if "*" in varies_by(headers):
        return NEVER
    dates_sent = dates(headers)
    if len(dates_sent) < len(values(headers, "date")):
        return NEVER
    date = min(dates_sent, default=now)
    lifetime_s = _lifetime_s(headers, control, date, most_guessed_s)
    if lifetime_s is None:
        return None
    ages = [int(value) for value in values(headers, "age") if value.isdecimal()]
    return lifetime_s - max(0.0, now - date, *ages)


def _lifetime_s(headers: Headers, control: dict[str, str], date: float, most_guessed_s: float) -> float | None:
    if "max-age" in control:
        return float(control["max-age"]) if control["max-age"].isdecimal() else NEVER
    expires = values(headers, "expires")
    if expires:
        until = [_seconds(value) for value in expires]  # what is no date, as 0 or -1, is past
        return min(NEVER if each is None else each - date for each in until)
    if "must-revalidate" in control:
        return NEVER
    changed = [_seconds(value) for value in values(headers, "last-modified")]
    if not changed:
        return None
    return min(NEVER if each is None else min((date - each) / GUESSED, most_guessed_s) for each in changed)


def dates(headers: Headers) -> list[float]:
    """Return when it was made, since 1970. What is no date is left out."""
    return [each for each in map(_seconds, values(headers, "date")) if each is not None]


def values(headers: Headers, name: str) -> list[str]:
    return [value.strip() for key, value in headers if key.lower() == name]


def varies_by(headers: Headers) -> set[str]:
    """Return headers of the request with which the answer changes."""
    return {name.strip().lower() for value in values(headers, "vary") for name in value.split(",")}


def _directives(headers: Headers) -> dict[str, str]:
    """Return the directives of Cache-Control, with their values. Of what is there several times the first."""
    directives: dict[str, str] = {}
    for part in ",".join(values(headers, "cache-control")).lower().split(","):
        name, _, value = part.partition("=")
        directives.setdefault(name.strip(), value.strip().strip('"'))
    return directives


def _seconds(date: str) -> float | None:
    """Return seconds since 1970; None: that is no date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError):
        return None
