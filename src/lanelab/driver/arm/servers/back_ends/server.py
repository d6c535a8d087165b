"""What Tomcat and Jetty are alike to the rest of lanelab: a Java program in the server node."""

import re
import signal
import zipfile
from collections.abc import Iterable, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path

from lanelab.driver.arm.servers.back_ends import configuration, fields, log
from lanelab.driver.arm.servers.finding import look_for, program_in
from lanelab.driver.arm.servers.server import Assignment, Content, Place, Server, SetUp
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.errors import InputError, MissingProgram, ServerError
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.site.site import Site, SiteObject

OLDEST = 17  # of Jetty 12
LOOK = "command -v java || exit 0; java -version 2>&1"
_VERSION = re.compile(r'^\S+ version "(?P<number>\d+)', re.MULTILINE)


@lru_cache(maxsize=8)
def find_java(node: Node) -> str:
    """Each node is asked once."""
    return read_java(look_for(node, LOOK), node.name)


def read_java(words: str, node: str) -> str:
    """Read from what LOOK writes where it is. Pure."""
    program = program_in(words, _VERSION, node, "java")
    if int(program.version["number"]) < OLDEST:
        what = f"on {node}, Java {program.version['number']} is too old: lanelab needs {OLDEST} or later"
        raise MissingProgram(what, "Debian 12 and later have one")
    return program.program


class BackEnd(Server):
    processes = ("java",)
    graceful_signal = signal.SIGTERM
    compressions = frozenset({"recorded", "off"})
    directives = fields.DIRECTIVES
    configuration_file = "back-end.conf"
    for_page_loads = False
    clock_us = log.CLOCK_US

    def untold(self, _protocol: str) -> frozenset[str]:
        return frozenset()  # there are no lines of requests

    def back_end(self, arm: WireSettings) -> str:
        """Return its folder in native/servlet/."""
        raise NotImplementedError

    def needs(self, _arm: WireSettings) -> tuple[str, ...]:
        return ("back-end",)

    def builds(self, arm: WireSettings) -> tuple[str, ...]:
        return (self.back_end(arm),)

    def content(self, assignment: Assignment) -> Content:
        site, packed = assignment.site, self._packed(assignment)

        def files() -> Mapping[str, bytes]:
            bodies = {name: _body(site, each) for each, name in configuration.objects(site)}
            with zipfile.ZipFile(BytesIO(packed)) as archive:
                jars = {f"{configuration.JARS}/{name}": archive.read(name) for name in archive.namelist()}
            return {**bodies, **jars}

        return Content(configuration.digest(site, packed), files)

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        kept = {id(each) for each, _ in configuration.objects(site)}
        return tuple(f"{each.method} {each.url}: it is not answered" for each in site.objects if id(each) not in kept)

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        arm, java = assignment.arm, find_java(node)
        with zipfile.ZipFile(BytesIO(self._packed(assignment))) as archive:
            jars = archive.namelist()
        version = configuration.version_of(jars)
        text = configuration.configuration(arm, assignment.site, place, version)
        argv = configuration.command(java, arm, place, jars)
        file = f"{place.folder}/{self.configuration_file}"
        return SetUp([*argv, file], [*argv, "--check", file], text, {}, version, configuration.question(arm))

    def refused_directive(self, _words: str, _text: str) -> InputError | None:
        return None

    def requests(self, lines: Iterable[str]) -> list[ServedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)

    def _packed(self, assignment: Assignment) -> bytes:
        name = self.back_end(assignment.arm)
        path: Path | None = assignment.programs.get(name)
        if path is None:
            raise ServerError(
                f"the back end {name} was not built", "Build it: driver/base/programs/building/back_ends.py"
            )
        return path.read_bytes()


def _body(site: Site, each: SiteObject) -> bytes:
    from lanelab.driver.site.coding import encode  # noqa: PLC0415 - its libraries are not for every command

    body = site.file(each).read_bytes()
    return encode(body, each.compressed) if each.compressed else body
