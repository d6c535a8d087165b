"""webfs, of the distribution, as a plain process in the server node: files in clear, a log in the common format."""

import signal
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from lanelab.driver.arm.servers.layout import staged
from lanelab.driver.arm.servers.server import Assignment, Content, Place, Server, SetUp
from lanelab.driver.arm.servers.webfs import configuration, fields, log
from lanelab.driver.arm.servers.webfs.layout import headers_not_sent, lay_out
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.errors import InputError, MissingProgram
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.server import LoggedRequest
from lanelab.driver.site.site import Site

LOOK = "command -v webfsd || exit 0\nwebfsd -h 2>&1\nexit 0\n"
# What lanelab calls it with, as its help begins to tell of it. It says its version in answers alone.
OPTIONS = ("-F ", "-i ip", "-p port", "-r dir", "-f file", "-j ", "-v ", "-c n", "-m file", "-L log")


@dataclass(frozen=True, slots=True)
class Installation:
    program: str


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Each node is asked once."""
    return read_installation(node.run(["sh", "-c", LOOK], check=False).stdout, node.name)


def read_installation(words: str, node: str) -> Installation:
    """Read the installation from what LOOK writes. Pure."""
    program, _, version_text = words.partition("\n")
    if not program:
        raise MissingProgram(f"on {node}, webfs cannot be found", "Run: ./lanelab doctor")
    absent = [option.strip() for option in OPTIONS if f"\n  {option}" not in f"\n{version_text}"]
    if absent:
        what = f"on {node}, {program} has no option {', '.join(absent)}: lanelab needs webfs 1.21"
        raise MissingProgram(what, "Debian 12 and later have it; or write server: apache")
    return Installation(program)


class Webfs(Server):
    name = "webfs"
    title = "webfs"
    processes = ("webfsd",)
    graceful_signal = signal.SIGTERM
    protocols = frozenset({"http/1.1"})
    compressions = frozenset({"recorded", "off"})
    directives = fields.DIRECTIVES
    own_kind = fields.WebfsSettings
    configuration_file = configuration.FILE
    clock_us = log.CLOCK_US
    speaks_tls = False
    counts_requests = False
    repeats_last_line = True

    def untold(self, _protocol: str) -> frozenset[str]:
        return log.UNTOLD

    def check(self, arm: WireSettings) -> None:
        fields.check(arm)

    def needs(self, _arm: WireSettings) -> tuple[str, ...]:
        return ("webfs",)

    def builds(self, _arm: WireSettings) -> tuple[str, ...]:
        return ()

    def content(self, assignment: Assignment) -> Content:
        """Raises InputError for a site that it cannot serve whole."""
        site, layout = assignment.site, lay_out(assignment.site)
        if layout.lost:
            more = f", and {len(layout.lost) - 1} more" if len(layout.lost) > 1 else ""
            what = f"webfs cannot serve the site {site.name}: {layout.lost[0]}{more}"
            raise InputError(what, "Write another server, or take another site", key="server")
        return staged(site, layout.layout)

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        return (*lay_out(site).lost, *headers_not_sent(site))

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        program = installation(node).program
        argv = configuration.command(program, assignment.arm, place, log_requests=assignment.log_requests)
        text = configuration.configuration(argv, lay_out(assignment.site).types)
        run = ["sh", "-c", configuration.INTO_ERROR_LOG, "sh", *argv]
        # It has no check of its own, and no option is the user's own words.
        return SetUp(run, ["test", "-x", program], text, {}, "webfs")

    def refused_directive(self, _words: str, _text: str) -> InputError | None:
        return None  # an arm cannot have any

    def requests(self, lines: Iterable[str]) -> list[LoggedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)
