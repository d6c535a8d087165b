"""HAProxy, of the distribution, as a plain process in the server node."""

import re
import shlex
import signal
from collections.abc import Iterable

from lanelab.driver.arm.proxies.haproxy.configuration import BOTH, configuration
from lanelab.driver.arm.proxies.proxy import SetProxy
from lanelab.driver.arm.servers.life import ACCESS_LOG, ERROR_LOG
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node

# A ClientHello that is none. HAProxy answers it with an alert; HTTP in clear it would not answer at all.
NO_HELLO = b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"
_SERIOUS = re.compile(r"^(\[(WARNING|ALERT|EMERG)\]|Server |backend )")
_VERSION = re.compile(r"version (\d+(?:\.\d+)+)")


class HaproxyProxy(SetProxy):
    name = "haproxy"
    title = "HAProxy"
    graceful_signal = signal.SIGUSR1
    configuration_file = "haproxy.cfg"
    needs = ("haproxy",)

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        look = "PATH=$PATH:/usr/sbin:/usr/local/sbin; command -v haproxy && haproxy -v"
        program, *words = node.run(["sh", "-c", look], check=False).stdout.splitlines() or [""]
        version = _VERSION.search("\n".join(words))
        if not program or not version:
            raise MissingProgram(f"on {node.name}, HAProxy cannot be found", "Run: ./lanelab doctor")
        files, leaf = {}, assignment.leaf
        if self._arm.tls != "off" and leaf:
            files[BOTH] = leaf.certificate.read_bytes() + leaf.key.read_bytes()
        argv = [program, "-db", "-f", f"{place.folder}/{self.configuration_file}"]
        # Its log of requests goes to stdout, its complaints to stderr.
        logged = ["sh", "-c", f"exec {shlex.join(argv)} >>{ACCESS_LOG} 2>>{ERROR_LOG}"]
        question = b"" if self._arm.tls == "off" else NO_HELLO
        text = configuration(self._arm, place, log_requests=assignment.log_requests)
        return SetUp(logged, [*argv, "-c"], text, files, f"HAProxy/{version[1]}", question)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        """Return warnings and worse. It says each time it is started and asked to end, as a notice."""
        return [line for line in lines if _SERIOUS.match(line)]
