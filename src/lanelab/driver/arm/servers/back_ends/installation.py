"""The Java of a node."""

import re
from functools import lru_cache

from lanelab.driver.arm.servers.finding import found, look_for
from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node

OLDEST = 17  # of Jetty 12
LOOK = "command -v java || exit 0; java -version 2>&1"
_VERSION = re.compile(r'^\S+ version "(?P<number>\d+)', re.MULTILINE)


@lru_cache(maxsize=8)
def java(node: Node) -> str:
    """Each node is asked once."""
    return read(look_for(node, LOOK), node.name)


def read(words: str, node: str) -> str:
    """Read from what LOOK writes where it is. Pure."""
    program = found(words, _VERSION, node, "java")
    if int(program.version["number"]) < OLDEST:
        what = f"on {node}, Java {program.version['number']} is too old: lanelab needs {OLDEST} or later"
        raise MissingProgram(what, "Debian 12 and later have one")
    return program.program
