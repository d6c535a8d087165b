"""Other names for a site's hosts and paths: as long, and as many, but nobody can tell what they were. Pure."""

import re
from collections.abc import Iterable

from lanelab.driver.site.generate.noise import letters
from lanelab.driver.site.site import SiteObject

Names = dict[str, str]  # host and path -> the same, renamed
_EXTENSION = re.compile(r"\.[a-z0-9]{1,5}$", re.IGNORECASE)
_WORD = re.compile(r"[^/?&=.]+")


def renamed(objects: Iterable[SiteObject], entry_host: str) -> Names:
    """A name for each address. Two that differ stay two."""
    hosts = {entry_host: "site.test"}
    names: Names = {}
    taken: set[str] = set()
    for each in objects:
        if each.url in names:
            continue
        host = hosts.setdefault(each.host, f"host{len(hosts)}.test")
        attempt = 0
        while (name := host + _path(each.path, f"{each.url} {attempt}", attempt)) in taken:
            attempt += 1
        taken.add(name)
        names[each.url] = name
    return names


def _path(path: str, seed: str, longer: int) -> str:
    """The same shape with other words; the end of a file's name says only what it is, and stays."""
    plain, mark, query = path.partition("?")
    extension = _EXTENSION.search(plain)
    end = extension[0].lower() if extension else ""
    stem = plain[: len(plain) - len(end)]
    number = 0

    def other(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return letters(f"{seed} {number}", len(match[0]) + longer).replace("-", "x")

    again = "" if not longer or stem.strip("/") else letters(seed, longer)
    return _WORD.sub(other, stem) + again + end + mark + _WORD.sub(other, query)
