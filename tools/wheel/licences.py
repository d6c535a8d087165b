"""The licence of each part, from licences.toml beside this file."""

import functools
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from lanelab.driver.base.errors import BuildError

FILE = Path(__file__).with_name("licences.toml")
Table = Mapping[str, Mapping[str, list[str]]]  # kind of part -> licence -> names


def licence_of(kind: str, name: str) -> str:
    """Return the licence of a part. Raises BuildError where the table says none, or several."""
    licences = [licence for licence, names in table()[kind].items() if any(fnmatchcase(name, each) for each in names)]
    if len(licences) != 1:
        what = f"{FILE.name} says {len(licences)} licences of {name}"
        raise BuildError(what, f"Write its name once, below [{kind}], beside what it says of itself")
    return licences[0]


@functools.cache
def table() -> Table:
    read: Table = tomllib.loads(FILE.read_text())
    return read
