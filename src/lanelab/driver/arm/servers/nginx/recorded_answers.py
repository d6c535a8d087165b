"""What nginx sends with recorded objects: maps from what is asked for to header values and statuses. Pure.

A map's value is empty for what has none, and nginx sends no header without a value.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.arm.servers.answers import EMPTY, Ability
from lanelab.driver.arm.servers.layout import MAPPED, Layout

# An error page can have these statuses, but for those that mean something else to nginx.
PAGES = frozenset(range(300, 600)) - {*EMPTY, 444, *range(494, 500)}


def _can_write(value: str) -> bool:
    """nginx reads `$` as a variable, and has no way to write one."""
    return value.isprintable() and "$" not in value


ABILITY = Ability("nginx", lambda status: status in PAGES or status in EMPTY, _can_write)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded headers and statuses that nginx can send."""

    headers: tuple[tuple[str, Mapping[str, str]], ...]  # name, and its value by URL; a name may come again
    statuses: Mapping[str, int]  # by URL, where it is not 200


def recorded(layout: Layout) -> Recorded:
    columns: dict[tuple[str, int], dict[str, str]] = {}
    for url, each in layout.answers.items():
        seen: Counter[str] = Counter()
        coding = layout.coded.get(f"{MAPPED}/{layout.maps[each.host][each.path]}")
        for name, value in ABILITY.sent(each, coding):
            columns.setdefault((name.lower(), seen[name.lower()]), {})[url] = value
            seen[name.lower()] += 1
    names = {"etag": "ETag", **{name.lower(): name for each in layout.answers.values() for name, _ in each.headers}}
    headers = tuple((names.get(name, name.title()), values) for (name, _), values in columns.items())
    return Recorded(headers, {url: each.status for url, each in layout.answers.items() if ABILITY.can_say(each.status)})
