"""lighttpd, of the distribution, as a plain process in the server node."""

import signal

from lanelab.driver.arm.servers import answers
from lanelab.driver.arm.servers.from_files import FromFiles
from lanelab.driver.arm.servers.lighttpd import configuration, fields, installation, log
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.arm.servers.shared import question
from lanelab.driver.bed.node import Node


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
        installed, layout = installation.installation(node), self.layout(assignment)
        text = configuration.configuration(
            assignment.arm, assignment.site, place, layout, log_requests=assignment.log_requests
        )
        lua = configuration.answers_lua(answers.answers(layout, self.ability), place)
        argv = [installed.program, "-f", f"{place.folder}/{self.configuration_file}"]
        files = {configuration.ANSWERS: lua.encode()}
        return SetUp([*argv, "-D"], [*argv, "-tt"], text, files, installed.name, question=question(assignment.arm))
