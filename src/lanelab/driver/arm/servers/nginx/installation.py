"""The nginx of a node."""

import re
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers.finding import look_for, program_in, require_version
from lanelab.driver.arm.servers.nginx.configuration import Build
from lanelab.driver.bed.node import Node

OLDEST = (1, 19, 5)  # the first with the option -e, and with ssl_conf_command
BROTLI = "ngx_http_brotli_filter_module.so"
LUA = ("ndk_http_module.so", "ngx_http_lua_module.so")  # each needs those before it
MODULE_FOLDERS = "/usr/lib/nginx/modules /usr/lib64/nginx/modules /usr/share/nginx/modules"
LOOK = f"""
command -v nginx || exit 0
nginx -v 2>&1
for folder in {MODULE_FOLDERS}; do for module in {BROTLI} {" ".join(LUA)}; do
[ -e "$folder/$module" ] && echo "$folder/$module"
done; done
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
    return read(look_for(node, LOOK), node.name)


def read(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program = program_in(words, _VERSION, node, "nginx")
    require_version(program, OLDEST, node, program.version["name"])
    modules = {line.rpartition("/")[2]: line for line in reversed(words.split()) if line.endswith(".so")}
    lua = tuple(modules[name] for name in LUA if name in modules)
    build = Build(program.number, modules.get(BROTLI, ""), lua if len(lua) == len(LUA) else ())
    return Installation(program.program, program.version["name"], build)
