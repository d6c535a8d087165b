"""Caddy, of the distribution, as a plain process in the server node."""

import signal

from lanelab.driver.arm.servers import answers
from lanelab.driver.arm.servers.caddy import configuration, fields, installation, log
from lanelab.driver.arm.servers.from_files import FromFiles
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.arm.wire import own_settings
from lanelab.driver.bed.node import Node


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
        installed = installation.installation(node)
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
