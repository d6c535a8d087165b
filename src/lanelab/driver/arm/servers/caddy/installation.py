"""The Caddy of a node."""

import re
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers.finding import found, look_for, require_version
from lanelab.driver.bed.node import Node

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
    return read(look_for(node, LOOK), node.name)


def read(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program = found(words, _VERSION, node, "Caddy")
    name = f"Caddy/{program.version['number']}"
    require_version(program, OLDEST, node, name)
    return Installation(program.program, name)
