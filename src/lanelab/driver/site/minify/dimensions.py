"""The size that a tag gives its image: its attributes, or its style, which counts for more."""

import re

from lanelab.driver.site.minify.images import Wanted

_NUMBER = re.compile(r"[ \t\n\f\r]*\+?(\d+)(?:\.(\d*))?[ \t\n\f\r]*(?:px[ \t\n\f\r]*)?", re.ASCII)
_DECLARATION = re.compile(r"(?:^|;)\s*(width|height)\s*:([^;]*)", re.IGNORECASE)
_STYLE_SIZE = re.compile(r"(\d+)(?:\.\d+)?(?:px)?", re.IGNORECASE | re.ASCII)
LARGEST = 2**31 - 1


def length_of(value: str | None) -> int | None:
    """Return whole pixels; None for percentages, other units, nothing and 0, all of which browsers treat otherwise."""
    match = _NUMBER.fullmatch(value) if value is not None else None
    if match is None:
        return None
    digits, fraction = match.groups()
    if len(digits) > len(str(LARGEST)):
        return None
    pixels = int(digits)
    if not 1 <= pixels <= LARGEST:
        return None
    return pixels + 1 if fraction and fraction[0] >= "5" and pixels < LARGEST else pixels


def wanted_of(width: str | None, height: str | None, style: str | None) -> Wanted:
    """Return what the page says. A style whose size is no number of pixels means that nobody knows."""
    styled: dict[str, int] = {}
    for name, value in _DECLARATION.findall(style or ""):
        match = _STYLE_SIZE.fullmatch(value.strip())
        if match is None or not 0 < int(match[1][:11]) <= LARGEST:
            return None, None
        styled[name.lower()] = int(match[1])
    return styled.get("width", length_of(width)), styled.get("height", length_of(height))


def has_any(width: str | None, height: str | None, style: str | None) -> bool:
    return width is not None or height is not None or bool(_DECLARATION.search(style or ""))
