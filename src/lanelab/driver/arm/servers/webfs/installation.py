"""The webfs of a node."""

from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node

LOOK = "command -v webfsd || exit 0\nwebfsd -h 2>&1\nexit 0\n"
# What lanelab calls it with, as its help begins to tell of it. It says its version in answers alone.
OPTIONS = ("-F ", "-i ip", "-p port", "-r dir", "-f file", "-j ", "-v ", "-c n", "-m file", "-L log")


@dataclass(frozen=True, slots=True)
class Installation:
    program: str


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    return read(node.run(["sh", "-c", LOOK], check=False).stdout, node.name)


def read(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program, _, told = words.partition("\n")
    if not program:
        raise MissingProgram(f"on {node}, webfs cannot be found", "Run: ./lanelab doctor")
    absent = [option.strip() for option in OPTIONS if f"\n  {option}" not in f"\n{told}"]
    if absent:
        what = f"on {node}, {program} has no option {', '.join(absent)}: lanelab needs webfs 1.21"
        raise MissingProgram(what, "Debian 12 and later have it; or write server: apache")
    return Installation(program)
