"""The nginx of a node."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from driver.bed.node import Node
from driver.servers.nginx.configuration import Build
from model.errors import MissingProgram

OLDEST = (1, 19, 5)  # the first with the option -e, and with ssl_conf_command
BROTLI = "ngx_http_brotli_filter_module.so"
MODULE_FOLDERS = "/usr/lib/nginx/modules /usr/lib64/nginx/modules /usr/share/nginx/modules"
LOOK = f"""
command -v nginx || exit 0
nginx -v 2>&1
for folder in {MODULE_FOLDERS}; do [ -e "$folder/{BROTLI}" ] && echo "$folder/{BROTLI}" && exit 0; done
exit 0
"""
_VERSION = re.compile(r"^nginx version: (?P<name>[^/\n]+/(?P<number>\d+(\.\d+)+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    program: str
    name: str  # nginx/1.22.1
    build: Build


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    return read(node.run(["sh", "-c", LOOK], check=False).stdout, node.name)


def read(words: str, node: str) -> Installation:
    """From what LOOK writes. Pure."""
    program = words.partition("\n")[0]
    version = _VERSION.search(words)
    if not program or version is None:
        raise MissingProgram(f"on {node}, nginx cannot be found", "Run: ./lanelab doctor")
    number = tuple(map(int, version["number"].split(".")))
    if number < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        what = f"on {node}, {version['name']} is too old: lanelab needs {wanted} or later"
        raise MissingProgram(what, "Debian 12 and later have one; or write server: apache")
    last = words.strip().splitlines()[-1]
    return Installation(program, version["name"], Build(number, last if last.endswith(BROTLI) else ""))
