"""The Java of a node."""

from __future__ import annotations

import re
from functools import lru_cache

from driver.bed.node import Node
from model.errors import MissingProgram

OLDEST = 17  # of Jetty 12
LOOK = "command -v java || exit 0; java -version 2>&1"
_VERSION = re.compile(r'^\S+ version "(?P<number>\d+)', re.MULTILINE)


@lru_cache(maxsize=8)
def java(node: Node) -> str:
    """Each node is asked once."""
    return read(node.run(["sh", "-c", LOOK], check=False).stdout, node.name)


def read(words: str, node: str) -> str:
    """From what LOOK writes: where it is. Pure."""
    program = words.partition("\n")[0]
    version = _VERSION.search(words)
    if not program or version is None:
        raise MissingProgram(f"on {node}, java cannot be found", "Run: ./lanelab doctor")
    if int(version["number"]) < OLDEST:
        what = f"on {node}, Java {version['number']} is too old: lanelab needs {OLDEST} or later"
        raise MissingProgram(what, "Debian 12 and later have one")
    return program
