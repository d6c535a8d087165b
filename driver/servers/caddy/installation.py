"""The Caddy of a node."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from driver.bed.node import Node
from model.errors import MissingProgram

OLDEST = (2, 6)  # the first with `protocols`, and with h2c among them
LOOK = "command -v caddy || exit 0\ncaddy version 2>/dev/null\nexit 0\n"
_VERSION = re.compile(r"^v?(?P<number>\d+(\.\d+)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    program: str
    name: str  # Caddy/2.6.2


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    return read(node.run(["sh", "-c", LOOK], check=False).stdout, node.name)


def read(words: str, node: str) -> Installation:
    """From what LOOK writes. Pure."""
    program, _, rest = words.partition("\n")
    version = _VERSION.search(rest)
    if not program or version is None:
        raise MissingProgram(f"on {node}, Caddy cannot be found", "Run: ./lanelab doctor")
    name = f"Caddy/{version['number']}"
    if tuple(map(int, version["number"].split("."))) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        what = f"on {node}, {name} is too old: lanelab needs {wanted} or later"
        raise MissingProgram(what, "Debian 12 and later have one; or write server: apache")
    return Installation(program, name)
