"""The webfs of a node."""

from __future__ import annotations

from functools import lru_cache

from driver.bed.node import Node
from model.errors import MissingProgram

LOOK = "command -v webfsd || exit 0\nwebfsd -h 2>/dev/null\nexit 0\n"
FLUSHED_LOG = "  -L log "  # an option that lanelab uses; webfs does not tell its version but in answers


@lru_cache(maxsize=8)
def program(node: Node) -> str:
    """Where it is. Each node is asked once."""
    return read(node.run(["sh", "-c", LOOK], check=False).stdout, node.name)


def read(words: str, node: str) -> str:
    """From what LOOK writes. Pure."""
    found, _, options = words.partition("\n")
    if not found:
        raise MissingProgram(f"on {node}, webfs cannot be found", "Run: ./lanelab doctor")
    if FLUSHED_LOG not in options:
        what = f"on {node}, {found} does not have the options of webfs 1.21"
        raise MissingProgram(what, "Install webfs there; or write server: apache")
    return found
