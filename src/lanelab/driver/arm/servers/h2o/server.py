"""h2o, of the distribution, as a plain process in the server node."""

import signal

from lanelab.driver.arm.servers import answers
from lanelab.driver.arm.servers.from_files import FromFiles
from lanelab.driver.arm.servers.h2o import configuration, fields, installation, log
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.arm.servers.shared import question
from lanelab.driver.bed.node import Node


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
        installed = installation.installation(node)
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
