"""nginx, of the distribution, as a plain process in the server node."""

import signal

from lanelab.driver.arm.servers.from_files import FromFiles
from lanelab.driver.arm.servers.nginx import configuration, fields, installation, log, recorded_answers
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.errors import InputError, MissingProgram
from lanelab.driver.bed.node import Node


class Nginx(FromFiles):
    name = "nginx"
    title = "nginx"
    processes = ("nginx",)
    graceful_signal = signal.SIGQUIT
    protocols = frozenset({"http/1.1", "h2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli", "zstd"})
    directives = fields.DIRECTIVES
    own_kind = fields.NginxSettings
    configuration_file = "nginx.conf"
    pushes = limits_streams = delays_answers = True
    needs_for_delays = ("nginx-lua",)
    clock_us = log.CLOCK_US
    compresses = configuration.COMPRESSORS
    ability = recorded_answers.ABILITY
    check = staticmethod(fields.check)
    requests = staticmethod(log.requests)
    unexpected = staticmethod(log.unexpected)
    refused_directive = staticmethod(configuration.refused_directive)

    def untold(self, _protocol: str) -> frozenset[str]:
        return frozenset({"connection", "match"})  # of connections only that one broke off

    def needs(self, arm: WireSettings) -> tuple[str, ...]:
        return ("nginx", "nginx-brotli") if arm.compression == "brotli" else ("nginx",)

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        installed = installation.installation(node)
        if assignment.arm.compression == "brotli" and not installed.build.brotli_module:
            what = f"on {node.name}, nginx has no module for brotli"
            remedy = "Install libnginx-mod-http-brotli-filter there, or write compression: gzip"
            raise MissingProgram(what, remedy)
        if assignment.delays and not installed.build.lua_modules:
            what = f"on {node.name}, nginx has no module for Lua, by which its answers wait"
            raise MissingProgram(what, "Install libnginx-mod-http-lua there, or write server: apache")
        if assignment.pushed and installed.build.version >= configuration.PUSH_UNTIL:
            what = f"{installed.name} does not push: nginx does before 1.25.1"
            raise InputError(what, "Write server: apache, or push: off", key="push")
        text = configuration.configuration(assignment, place, installed.build, self.layout(assignment))
        # -e: without it nginx first opens the system's own error log, which it may not.
        argv = [installed.program, "-p", place.folder, "-e", f"{place.folder}/error.log"]
        argv += ["-c", f"{place.folder}/{self.configuration_file}"]
        return SetUp(argv, [*argv, "-t"], text, {}, installed.name)
