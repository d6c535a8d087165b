"""Apache's httpd as a proxy: mod_proxy_http, mod_proxy_ajp or mod_proxy_http2."""

import signal
from collections.abc import Iterable

from lanelab.driver.arm.proxies.apache.configuration import SPOKEN, configuration
from lanelab.driver.arm.proxies.proxy import SetProxy
from lanelab.driver.arm.servers.apache import installation, log
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node


class ApacheProxy(SetProxy):
    name = "apache"
    title = "Apache as a proxy"
    graceful_signal = signal.SIGWINCH
    configuration_file = "httpd.conf"
    needs = ("apache",)

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        installed = installation.installation(node)
        module = SPOKEN[self._arm.proxy_protocol][0]
        if module not in installed.modules:
            what = f"on {node.name}, Apache has no mod_{module}"
            raise MissingProgram(what, "Install a whole Apache there, or write another proxy_protocol")
        text = configuration(
            self._arm, place, installed.modules_folder, installed.modules, log_requests=assignment.log_requests
        )
        argv = [installed.program, "-d", place.folder, "-f", f"{place.folder}/{self.configuration_file}"]
        return SetUp([*argv, "-DFOREGROUND"], [*argv, "-t"], text, {}, "Apache")

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)
