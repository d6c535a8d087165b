"""The lighttpd of a node."""

import re
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers.finding import found, look_for, require_version
from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node

OLDEST = (1, 4, 60)  # the first with lighty.r in mod_magnet; HTTP/2 came before it
MODULES = ("mod_openssl", "mod_deflate", "mod_magnet")
FOLDERS = "/usr/lib/lighttpd /usr/lib64/lighttpd"
LOOK = f"""
command -v lighttpd || exit 0
lighttpd -v 2>&1
for folder in {FOLDERS}; do ls "$folder" 2>/dev/null; done
exit 0
"""
_VERSION = re.compile(r"^(?P<name>lighttpd/(?P<number>\d+(\.\d+)+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    program: str
    name: str  # lighttpd/1.4.69


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    return read(look_for(node, LOOK), node.name)


def read(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program = found(words, _VERSION, node, "lighttpd")
    require_version(program, OLDEST, node, program.version["name"])
    absent = [name for name in MODULES if f"{name}.so" not in words.split()]
    if absent:
        what = f"on {node}, lighttpd has no {', '.join(absent)}"
        remedy = "Install lighttpd-mod-openssl, lighttpd-mod-deflate and lighttpd-modules-lua there"
        raise MissingProgram(what, remedy)
    return Installation(program.program, program.version["name"])
