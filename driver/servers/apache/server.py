"""Apache's httpd, of the distribution, with lanelab's mod_spdy where an arm speaks SPDY."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from driver.bed.node import Node
from driver.servers.apache import configuration, fields, installation, log
from driver.servers.apache.object_map import MAP_FILE, map_text
from driver.servers.layout import Layout
from driver.servers.server import Assignment, Place, ServerArm, SetUp
from model.errors import InputError, ServerError
from model.evidence.server import ServedRequest

MODULE = "mod_spdy"


class Apache:
    name = "apache"
    title = "Apache"
    processes = ("apache2", "httpd")
    protocols = frozenset({"http/1.1", "h2", "spdy/3.1", "spdy/3", "spdy/2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli"})
    directives = fields.DIRECTIVES
    settings = fields.SETTINGS
    configuration_file = "httpd.conf"
    clock_us = 1

    def values(self, values: Mapping[str, Any]) -> object:
        return fields.ApacheSettings(**values)

    def check(self, arm: ServerArm) -> None:
        fields.check(arm)

    def needs(self, arm: ServerArm) -> tuple[str, ...]:
        return ("apache", "module") if arm.spdy else ("apache",)

    def builds(self, arm: ServerArm) -> tuple[str, ...]:
        return (MODULE,) if arm.spdy else ()

    def set_up(self, node: Node, assignment: Assignment, place: Place, layout: Layout) -> SetUp:
        arm, installed = assignment.arm, installation.installation(node)
        modules = configuration.Modules(installed.modules_folder, installed.modules, f"{place.folder}/{MODULE}.so")
        text = configuration.configuration(arm, assignment.site, place, modules, layout)
        files = {MAP_FILE: map_text(layout).encode()}
        if arm.spdy:
            if MODULE not in assignment.programs:
                what = "a server that speaks SPDY needs lanelab's module"
                raise ServerError(what, "Build it: driver/host/build/mod_spdy.py")
            files[f"{MODULE}.so"] = assignment.programs[MODULE].read_bytes()
        # FOREGROUND: a child of ours that stays one, with its own children as usual (-X would have none).
        argv = [installed.program, "-d", place.folder, "-f", f"{place.folder}/{self.configuration_file}"]
        return SetUp([*argv, "-DFOREGROUND"], [*argv, "-t"], text, files, "Apache")

    def refused_directive(self, words: str, text: str) -> InputError | None:
        return configuration.refused_directive(words, text)

    def requests(self, lines: Iterable[str]) -> list[ServedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)
