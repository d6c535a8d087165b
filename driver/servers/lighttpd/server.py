"""lighttpd, of the distribution, as a plain process in the server node."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from typing import Any

from driver.bed.node import Node
from driver.servers import answers
from driver.servers.layout import Layout, lay_out, staged
from driver.servers.lighttpd import configuration, fields, installation, log
from driver.servers.server import Assignment, Content, Place, Server, ServerArm, SetUp
from driver.servers.shared import question
from model.errors import InputError
from model.evidence.server import ServedRequest
from model.site.site import Site


class Lighttpd(Server):
    name = "lighttpd"
    title = "lighttpd"
    processes = ("lighttpd",)
    graceful_signal = signal.SIGINT
    protocols = frozenset({"http/1.1", "h2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli", "zstd"})
    directives = fields.DIRECTIVES
    settings = fields.SETTINGS
    configuration_file = "lighttpd.conf"
    clock_us = log.CLOCK_US

    def untold(self, protocol: str) -> frozenset[str]:
        return log.UNTOLD | (set() if protocol == "http/1.1" else {"connection"})

    def values(self, values: Mapping[str, Any]) -> object:
        return fields.LighttpdSettings(**values)

    def check(self, arm: ServerArm) -> None:
        fields.check(arm)

    def needs(self, _arm: ServerArm) -> tuple[str, ...]:
        return ("lighttpd",)

    def builds(self, _arm: ServerArm) -> tuple[str, ...]:
        return ()

    def content(self, assignment: Assignment) -> Content:
        return staged(assignment.site, _layout(assignment))

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        return tuple(answers.not_reproduced(site.objects, self.title))

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        installed, layout = installation.installation(node), _layout(assignment)
        text = configuration.configuration(
            assignment.arm, assignment.site, place, layout, log_requests=assignment.log_requests
        )
        lua = configuration.answers_lua(answers.answers(layout), place)
        argv = [installed.program, "-f", f"{place.folder}/{self.configuration_file}"]
        files = {configuration.ANSWERS: lua.encode()}
        return SetUp([*argv, "-D"], [*argv, "-tt"], text, files, installed.name, question=question(assignment.arm))

    def refused_directive(self, words: str, text: str) -> InputError | None:
        return configuration.refused_directive(words, text)

    def requests(self, lines: Iterable[str]) -> list[ServedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)


def _layout(assignment: Assignment) -> Layout:
    """What minify has rewritten comes compressed whatever the arm's compression is; lighttpd would compress all."""
    return lay_out(assignment.site, compressed_before=assignment.arm.compression not in configuration.ENCODINGS)
