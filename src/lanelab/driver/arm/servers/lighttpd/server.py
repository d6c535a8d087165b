"""lighttpd, of the distribution, as a plain process in the server node."""

import re
import signal
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers import answers
from lanelab.driver.arm.servers.finding import look_for, program_in, require_version
from lanelab.driver.arm.servers.from_files import FromFiles
from lanelab.driver.arm.servers.lighttpd import configuration, fields, log
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.arm.servers.shared import question
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
    return read_installation(look_for(node, LOOK), node.name)


def read_installation(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program = program_in(words, _VERSION, node, "lighttpd")
    require_version(program, OLDEST, node, program.version["name"])
    absent = [name for name in MODULES if f"{name}.so" not in words.split()]
    if absent:
        what = f"on {node}, lighttpd has no {', '.join(absent)}"
        remedy = "Install lighttpd-mod-openssl, lighttpd-mod-deflate and lighttpd-modules-lua there"
        raise MissingProgram(what, remedy)
    return Installation(program.program, program.version["name"])


class Lighttpd(FromFiles):
    name = "lighttpd"
    title = "lighttpd"
    processes = ("lighttpd",)
    graceful_signal = signal.SIGINT
    protocols = frozenset({"http/1.1", "h2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli", "zstd"})
    directives = fields.DIRECTIVES
    own_kind = fields.LighttpdSettings
    configuration_file = "lighttpd.conf"
    clock_us = log.CLOCK_US
    compresses = configuration.ENCODINGS
    check = staticmethod(fields.check)
    requests = staticmethod(log.requests)
    unexpected = staticmethod(log.unexpected)
    refused_directive = staticmethod(configuration.refused_directive)

    def untold(self, protocol: str) -> frozenset[str]:
        return log.UNTOLD | (set() if protocol == "http/1.1" else {"connection"})

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        installed, layout = installation(node), self.layout(assignment)
        text = configuration.configuration(
            assignment.arm, assignment.site, place, layout, log_requests=assignment.log_requests
        )
        lua = configuration.answers_lua(answers.answers(layout, self.ability), place)
        argv = [installed.program, "-f", f"{place.folder}/{self.configuration_file}"]
        files = {configuration.ANSWERS: lua.encode()}
        return SetUp([*argv, "-D"], [*argv, "-tt"], text, files, installed.name, question=question(assignment.arm))
