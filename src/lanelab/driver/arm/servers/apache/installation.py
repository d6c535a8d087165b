"""The Apache of a node."""

import re
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node

PROGRAMS = "apache2 httpd"  # as Debian and its family call it, and as everybody else does
MODULE_FOLDERS = "/usr/lib/apache2/modules /usr/lib64/httpd/modules /usr/lib/httpd/modules /usr/lib64/apache2"
LOOK = f"""
for name in {PROGRAMS}; do command -v "$name" && break; done || echo
for folder in {MODULE_FOLDERS}; do [ -d "$folder" ] && echo "$folder" && exec ls "$folder"; done
"""


@dataclass(frozen=True, slots=True)
class Installation:
    program: str
    modules_folder: str
    modules: frozenset[str]


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    program, *rest = node.run(["sh", "-c", LOOK], check=False).stdout.splitlines() or [""]
    if not program or not rest:
        lacks = "Apache's modules" if program else "Apache"
        raise MissingProgram(f"on {node.name}, {lacks} cannot be found", "Run: ./lanelab doctor")
    names = (re.fullmatch(r"mod_(\w+)\.so", name) for name in rest[1:])
    return Installation(program, rest[0], frozenset(name[1] for name in names if name))
