"""Caddy, of the distribution, as a plain process in the server node."""

import re
import signal
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers import answers
from lanelab.driver.arm.servers.caddy import configuration, fields, log
from lanelab.driver.arm.servers.finding import look_for, program_in, require_version
from lanelab.driver.arm.servers.from_files import FromFiles
from lanelab.driver.arm.servers.server import Assignment, Place, QuicStack, SetUp
from lanelab.driver.arm.wire import own_settings
from lanelab.driver.bed.node import Node

OLDEST = (2, 6)  # the first with `protocols`, and with h2c among them
LOOK = "command -v caddy || exit 0\ncaddy version 2>/dev/null\nexit 0\n"
_VERSION = re.compile(r"^v?(?P<number>\d+(\.\d+)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    program: str
    name: str  # Caddy/2.6.2


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    return read_installation(look_for(node, LOOK), node.name)


def read_installation(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program = program_in(words, _VERSION, node, "Caddy")
    name = f"Caddy/{program.version['number']}"
    require_version(program, OLDEST, node, name)
    return Installation(program.program, name)


class Caddy(FromFiles):
    name = "caddy"
    title = "Caddy"
    processes = ("caddy",)
    graceful_signal = signal.SIGINT
    protocols = frozenset({"http/1.1", "h2", "h3"})
    compressions = frozenset({"recorded", "off", "gzip", "zstd"})
    directives = fields.DIRECTIVES
    own_kind = fields.CaddySettings
    configuration_file = "caddy.json"
    counts_requests = False
    sampled = configuration.SAMPLED
    quic = QuicStack("quic-go", "NewReno")
    sends_early_hints = True
    clock_us = log.CLOCK_US
    compresses = configuration.COMPRESSORS
    check = staticmethod(fields.check)
    requests = staticmethod(log.requests)
    unexpected = staticmethod(log.unexpected)

    def untold(self, protocol: str) -> frozenset[str]:
        return log.UNTOLD | (log.UNTOLD_OF_H3 if protocol == "h3" else set())

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        arm, layout = assignment.arm, self.layout(assignment)
        installed = installation(node)
        text = configuration.configuration(
            arm,
            assignment.site,
            place,
            layout,
            answers.answers(layout, self.ability),
            hints=assignment.hints,
            log_requests=assignment.log_requests,
        )
        # It keeps things in its user's folders, and writes a lock there before it starts.
        environment = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), place.folder)
        processors = own_settings(arm, fields.CaddySettings).caddy_processors
        environment |= {} if processors == "auto" else {"GOMAXPROCS": str(processors)}
        words = ["--config", f"{place.folder}/{self.configuration_file}"]
        run, check = ([installed.program, verb, *words] for verb in ("run", "validate"))
        return SetUp(run, check, text, {}, installed.name, environment=environment)

    def refused_directive(self, _words: str, _text: str) -> None:
        """An arm cannot have any."""
