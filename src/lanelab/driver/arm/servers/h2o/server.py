"""h2o, of the distribution, as a plain process in the server node."""

import re
import signal
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers import answers
from lanelab.driver.arm.servers.finding import look_for, program_in
from lanelab.driver.arm.servers.from_files import FromFiles
from lanelab.driver.arm.servers.h2o import configuration, fields, log
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.arm.servers.shared import question
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
    return read_installation(look_for(node, LOOK), node.name)


def read_installation(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program = program_in(words, _VERSION, node, "h2o")
    name = f"h2o/{program.version['number']}"
    if program.number < OLDEST or not _MRUBY.search(words):
        what = f"on {node}, {name} is too old or has no mruby: lanelab needs 2.2 or later, with mruby"
        raise MissingProgram(what, "Debian 12 has one; or write server: apache")
    return Installation(program.program, name, bool(_ROOT.search(words)))


class H2o(FromFiles):
    name = "h2o"
    title = "h2o"
    processes = ("h2o",)
    graceful_signal = signal.SIGTERM
    protocols = frozenset({"http/1.1", "h2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli", "zstd"})
    directives = fields.DIRECTIVES
    own_kind = fields.H2oSettings
    configuration_file = "h2o.conf"
    counts_requests = False
    clock_us = log.CLOCK_US
    compresses = configuration.CODINGS
    check = staticmethod(fields.check)
    requests = staticmethod(log.requests)
    unexpected = staticmethod(log.unexpected)
    refused_directive = staticmethod(configuration.refused_directive)
    always_offers_h2 = True

    def untold(self, protocol: str) -> frozenset[str]:
        return log.UNTOLD | (set() if protocol == "http/1.1" else {"keepalives"})

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        arm, layout = assignment.arm, self.layout(assignment)
        installed = installation(node)
        text = configuration.configuration(
            arm,
            assignment.site,
            place,
            layout,
            log_requests=assignment.log_requests,
            as_root=installed.as_root,
        )
        files = {configuration.ANSWERS: configuration.answers_rb(answers.answers(layout, self.ability), place).encode()}
        environment = {}
        if arm.tls != "off":
            files[configuration.OPENSSL] = configuration.openssl_configuration(arm).encode()
            environment["OPENSSL_CONF"] = f"{place.folder}/{configuration.OPENSSL}"
        argv = [installed.program, "-c", f"{place.folder}/{self.configuration_file}"]
        return SetUp(
            argv, [*argv, "-t"], text, files, installed.name, environment=environment, question=question(assignment.arm)
        )
