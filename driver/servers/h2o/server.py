"""h2o, of the distribution, as a plain process in the server node."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from typing import Any

from driver.bed.node import Node
from driver.servers import answers
from driver.servers.h2o import configuration, fields, installation, log
from driver.servers.layout import Layout, lay_out, staged
from driver.servers.server import Assignment, Content, Place, Server, ServerArm, SetUp
from driver.servers.shared import question
from model.errors import InputError
from model.evidence.server import ServedRequest
from model.site.site import Site


class H2o(Server):
    name = "h2o"
    title = "h2o"
    processes = ("h2o",)
    graceful_signal = signal.SIGTERM
    protocols = frozenset({"http/1.1", "h2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli", "zstd"})
    directives = fields.DIRECTIVES
    settings = fields.SETTINGS
    configuration_file = "h2o.conf"
    counts_requests = False
    clock_us = log.CLOCK_US
    always_offers_h2 = True

    def untold(self, protocol: str) -> frozenset[str]:
        return log.UNTOLD | (set() if protocol == "http/1.1" else {"keepalives"})

    def values(self, values: Mapping[str, Any]) -> object:
        return fields.H2oSettings(**values)

    def check(self, arm: ServerArm) -> None:
        fields.check(arm)

    def needs(self, _arm: ServerArm) -> tuple[str, ...]:
        return ("h2o",)

    def builds(self, _arm: ServerArm) -> tuple[str, ...]:
        return ()

    def content(self, assignment: Assignment) -> Content:
        return staged(assignment.site, _layout(assignment))

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        return tuple(answers.not_reproduced(site.objects, self.title))

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        arm, layout = assignment.arm, _layout(assignment)
        installed = installation.installation(node)
        text = configuration.configuration(
            arm,
            assignment.site,
            place,
            layout,
            log_requests=assignment.log_requests,
            as_root=installed.as_root,
        )
        files = {configuration.ANSWERS: configuration.answers_rb(answers.answers(layout), place).encode()}
        environment = {}
        if arm.tls != "off":
            files[configuration.OPENSSL] = configuration.openssl_configuration(arm).encode()
            environment["OPENSSL_CONF"] = f"{place.folder}/{configuration.OPENSSL}"
        argv = [installed.program, "-c", f"{place.folder}/{self.configuration_file}"]
        return SetUp(
            argv, [*argv, "-t"], text, files, installed.name, environment=environment, question=question(assignment.arm)
        )

    def refused_directive(self, words: str, text: str) -> InputError | None:
        return configuration.refused_directive(words, text)

    def requests(self, lines: Iterable[str]) -> list[ServedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)


def _layout(assignment: Assignment) -> Layout:
    """What minify has rewritten comes compressed whatever the arm's compression is; h2o would then compress all."""
    return lay_out(assignment.site, compressed_before=assignment.arm.compression not in configuration.CODINGS)
