"""Caddy, of the distribution, as a plain process in the server node."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from typing import Any

from driver.bed.node import Node
from driver.servers import answers
from driver.servers.caddy import configuration, fields, installation, log
from driver.servers.layout import Layout, lay_out, staged
from driver.servers.server import Assignment, Content, Place, Server, ServerArm, SetUp
from model.errors import InputError
from model.evidence.server import ServedRequest
from model.site.site import Site


class Caddy(Server):
    name = "caddy"
    title = "Caddy"
    processes = ("caddy",)
    graceful_signal = signal.SIGINT
    protocols = frozenset({"http/1.1", "h2", "h3"})
    compressions = frozenset({"recorded", "off", "gzip", "zstd"})
    directives = fields.DIRECTIVES
    settings = fields.SETTINGS
    configuration_file = "caddy.json"
    counts_requests = False
    sends_early_hints = True
    clock_us = log.CLOCK_US

    def untold(self, protocol: str) -> frozenset[str]:
        return log.UNTOLD | (log.UNTOLD_OF_H3 if protocol == "h3" else set())

    def values(self, values: Mapping[str, Any]) -> object:
        return fields.CaddySettings(**values)

    def check(self, arm: ServerArm) -> None:
        fields.check(arm)

    def needs(self, _arm: ServerArm) -> tuple[str, ...]:
        return ("caddy",)

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
            answers.answers(layout),
            hints=assignment.hints,
            log_requests=assignment.log_requests,
        )
        # It keeps things in its user's folders, and writes a lock there before it starts.
        environment = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), place.folder)
        processors = fields.caddy_settings(arm).caddy_processors
        environment |= {} if processors == "auto" else {"GOMAXPROCS": str(processors)}
        words = ["--config", f"{place.folder}/{self.configuration_file}"]
        run, check = ([installed.program, verb, *words] for verb in ("run", "validate"))
        return SetUp(run, check, text, {}, installed.name, environment=environment)

    def refused_directive(self, _words: str, _text: str) -> InputError | None:
        return None  # an arm cannot have any

    def requests(self, lines: Iterable[str]) -> list[ServedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)


def _layout(assignment: Assignment) -> Layout:
    """What minify has rewritten comes compressed whatever the arm's compression is; Caddy would then compress all."""
    return lay_out(assignment.site, compressed_before=assignment.arm.compression not in configuration.COMPRESSORS)
