"""nginx as a proxy."""

import signal
from collections.abc import Iterable

from lanelab.driver.arm.proxies.nginx.configuration import configuration
from lanelab.driver.arm.proxies.proxy import SetProxy
from lanelab.driver.arm.servers.nginx import installation, log
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.bed.node import Node


class NginxProxy(SetProxy):
    name = "nginx"
    title = "nginx as a proxy"
    graceful_signal = signal.SIGQUIT
    configuration_file = "nginx.conf"
    needs = ("nginx",)

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        installed = installation.installation(node)
        text = configuration(self._arm, place, installed.build.version, log_requests=assignment.log_requests)
        argv = [installed.program, "-p", place.folder, "-e", f"{place.folder}/error.log"]
        argv += ["-c", f"{place.folder}/{self.configuration_file}"]
        return SetUp(argv, [*argv, "-t"], text, {}, installed.name)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        return log.unexpected(lines)
