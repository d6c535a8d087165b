"""The h2o of a node."""

import re
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers.finding import found, look_for
from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node

OLDEST = (2, 2)
LOOK = "command -v h2o || exit 0\nid -u\nh2o -v 2>&1\nexit 0\n"
_ROOT = re.compile(r"^0$", re.MULTILINE)
_VERSION = re.compile(r"^h2o version (?P<number>\d+(\.\d+)+)", re.MULTILINE)
_MRUBY = re.compile(r"^mruby: YES", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    program: str
    name: str  # h2o/2.2.5
    as_root: bool


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    return read(look_for(node, LOOK), node.name)


def read(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program = found(words, _VERSION, node, "h2o")
    name = f"h2o/{program.version['number']}"
    if program.number < OLDEST or not _MRUBY.search(words):
        what = f"on {node}, {name} is too old or has no mruby: lanelab needs 2.2 or later, with mruby"
        raise MissingProgram(what, "Debian 12 has one; or write server: apache")
    return Installation(program.program, name, bool(_ROOT.search(words)))
