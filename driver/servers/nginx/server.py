"""nginx, of the distribution, as a plain process in the server node."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from typing import Any

from driver.bed.node import Node
from driver.servers.layout import Layout, lay_out, staged
from driver.servers.nginx import configuration, fields, installation, log, recorded
from driver.servers.server import Assignment, Content, Place, Server, ServerArm, SetUp
from model.errors import InputError, MissingProgram
from model.evidence.server import ServedRequest
from model.site.site import Site


class Nginx(Server):
    name = "nginx"
    title = "nginx"
    processes = ("nginx",)
    graceful_signal = signal.SIGQUIT
    protocols = frozenset({"http/1.1", "h2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli", "zstd"})
    directives = fields.DIRECTIVES
    settings = fields.SETTINGS
    configuration_file = "nginx.conf"
    pushes = limits_streams = True
    clock_us = log.CLOCK_US

    def untold(self, _protocol: str) -> frozenset[str]:
        return frozenset({"connection", "match"})  # of connections only that one broke off

    def values(self, values: Mapping[str, Any]) -> object:
        return fields.NginxSettings(**values)

    def check(self, arm: ServerArm) -> None:
        fields.check(arm)

    def needs(self, arm: ServerArm) -> tuple[str, ...]:
        return ("nginx", "nginx-brotli") if arm.compression == "brotli" else ("nginx",)

    def builds(self, _arm: ServerArm) -> tuple[str, ...]:
        return ()

    def content(self, assignment: Assignment) -> Content:
        return staged(assignment.site, _layout(assignment))

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        return tuple(recorded.not_reproduced(site.objects))

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        installed = installation.installation(node)
        if assignment.arm.compression == "brotli" and not installed.build.brotli_module:
            what = f"on {node.name}, nginx has no module for brotli"
            remedy = "Install libnginx-mod-http-brotli-filter there, or write compression: gzip"
            raise MissingProgram(what, remedy)
        site = assignment.site
        logs, layout = assignment.log_requests, _layout(assignment)
        if assignment.pushed and installed.build.version >= configuration.PUSH_UNTIL:
            what = f"{installed.name} does not push: nginx does before 1.25.1"
            raise InputError(what, "Write server: apache, or push: off", key="push")
        text = configuration.configuration(
            assignment.arm, site, place, installed.build, layout, log_requests=logs, pushed=assignment.pushed
        )
        # -e: without it nginx first opens the system's own error log, which it may not.
        argv = [installed.program, "-p", place.folder, "-e", f"{place.folder}/error.log"]
        argv += ["-c", f"{place.folder}/{self.configuration_file}"]
        return SetUp(argv, [*argv, "-t"], text, {}, installed.name)

    def refused_directive(self, words: str, text: str) -> InputError | None:
        return configuration.refused_directive(words, text)

    def requests(self, lines: Iterable[str]) -> list[ServedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)


def _layout(assignment: Assignment) -> Layout:
    """What minify has rewritten comes compressed whatever the arm's compression is; nginx would then compress all."""
    return lay_out(assignment.site, compressed_before=assignment.arm.compression not in configuration.COMPRESSORS)
