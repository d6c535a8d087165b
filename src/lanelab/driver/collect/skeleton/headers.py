"""Header fields of a skeleton: those that matter for loading a page, and as many bytes as there were. Pure."""

from collections.abc import Callable

from lanelab.driver.site.generate.noise import letters
from lanelab.driver.site.site import Headers

KEPT = frozenset(
    (
        *("content-type", "cache-control", "expires", "age", "date", "last-modified", "vary", "pragma", "server"),
        *("accept-ranges", "content-range", "timing-allow-origin", "x-content-type-options"),
        *("access-control-allow-origin", "access-control-allow-credentials", "access-control-allow-methods"),
        *("access-control-allow-headers", "access-control-max-age", "access-control-expose-headers"),
    )
)
FILLER = "X-Left-Out"  # in the place of a field that would do something, or says whose site it was


def skeleton_headers(
    headers: Headers, seed: str, encoding: str | None, location: Callable[[str], str | None]
) -> Headers:
    """`encoding`: the content coding that the body has now. `location`: where a redirect leads, renamed."""
    kept = []
    for number, (name, value) in enumerate(headers):
        lower = name.lower()
        if lower == "content-encoding":
            kept += [(name, encoding)] if encoding else []
        elif lower == "location":
            there = location(value)
            kept += [(name, there)] if there else []
        elif lower == "etag":
            kept.append((name, f'"{letters(f"{seed} etag", max(len(value) - 2, 1))}"'))
        elif lower in KEPT:
            kept.append((name, value))
        elif lower != "content-length":
            length = max(1, len(name) + len(value) - len(FILLER))
            kept.append((FILLER, letters(f"{seed} {number}", length)))
    return tuple(kept)
