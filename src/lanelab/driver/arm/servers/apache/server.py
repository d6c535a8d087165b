"""Apache's httpd, of the distribution, with lanelab's mod_replay, and mod_spdy where an arm speaks SPDY."""

import signal
from collections.abc import Iterable, Mapping

from lanelab.driver.arm.servers.apache import configuration, fields, installation, log, pack
from lanelab.driver.arm.servers.apache.precompression import compressed_before
from lanelab.driver.arm.servers.apache.waiting import AT_ONCE_ON_HTTP2, waiting_at_once
from lanelab.driver.arm.servers.server import Assignment, Content, Place, Server, SetUp
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.errors import InputError, ServerError
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.site.site import Site, SiteObject

REPLAY, SPDY = "mod_replay", "mod_spdy"


class Apache(Server):
    name = "apache"
    title = "Apache"
    processes = ("apache2", "httpd")
    graceful_signal = signal.SIGWINCH
    protocols = frozenset({"http/1.1", "h2", "spdy/3.1", "spdy/3", "spdy/2"})
    compressions = frozenset({"recorded", "off", "gzip", "brotli", "zstd"})
    directives = fields.DIRECTIVES
    own_kind = fields.ApacheSettings
    configuration_file = "httpd.conf"
    sends_early_hints = pushes = limits_streams = delays_answers = answers_posts = True
    at_once_on_http2 = AT_ONCE_ON_HTTP2
    clock_us = 1

    def untold(self, _protocol: str) -> frozenset[str]:
        return frozenset()

    def check(self, arm: WireSettings) -> None:
        fields.check(arm)

    def needs(self, _arm: WireSettings) -> tuple[str, ...]:
        return ("apache", "module")

    def builds(self, arm: WireSettings) -> tuple[str, ...]:
        return (REPLAY, SPDY) if arm.spdy else (REPLAY,)

    def content(self, assignment: Assignment) -> Content:
        site = assignment.site

        def files() -> Mapping[str, bytes]:
            objects, bodies = compressed_before(site)

            def body_of(each: SiteObject) -> bytes:
                return bodies[each.sha256] if each.sha256 in bodies else _body(site, each)

            return {pack.FILE: pack.pack(objects, body_of, assignment.delays)}

        return Content(pack.digest(site, assignment.delays), files)

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        return tuple(pack.unsendable(site.objects))

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        arm, installed = assignment.arm, installation.installation(node)
        modules_built = {name: f"{place.folder}/{name}.so" for name in (REPLAY, SPDY)}
        modules = configuration.Modules(
            installed.modules_folder, installed.modules, modules_built[REPLAY], modules_built[SPDY]
        )
        logs = assignment.log_requests
        text = configuration.configuration(
            arm,
            assignment.site,
            place,
            modules,
            log_requests=logs,
            pushed=assignment.pushed,
            hints=assignment.hints,
            waiting=waiting_at_once(arm, assignment.delays),
        )
        files = {}
        for name in self.builds(arm):
            if name not in assignment.programs:
                what = f"a server that serves this needs lanelab's {name}"
                raise ServerError(what, "Build it: driver/base/programs/building/apache_module.py")
            files[f"{name}.so"] = assignment.programs[name].read_bytes()
        # FOREGROUND: a child of ours that stays one, with its own children as usual (-X would have none).
        argv = [installed.program, "-d", place.folder, "-f", f"{place.folder}/{self.configuration_file}"]
        return SetUp([*argv, "-DFOREGROUND"], [*argv, "-t"], text, files, "Apache")

    def refused_directive(self, words: str, text: str) -> InputError | None:
        return configuration.refused_directive(words, text)

    def requests(self, lines: Iterable[str]) -> list[ServedRequest]:
        return log.requests(lines)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)


def _body(site: Site, each: SiteObject) -> bytes:
    try:
        return site.file(each).read_bytes()
    except OSError as error:
        what = f"cannot read the body of {each.url}: {error.strerror}"
        raise InputError(what, f"Remove the folder {site.content.parent}; it is made again") from error
