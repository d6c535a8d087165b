"""lanelab's gateway as a proxy, which carries all requests over one connection where the protocol allows it."""

import json
import signal
from collections.abc import Iterable

from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.proxies.proxy import BACK_END, SetProxy
from lanelab.driver.arm.servers.life import ERROR_LOG
from lanelab.driver.arm.servers.server import BACK_END_PORT, PORTS, Assignment, Place, SetUp
from lanelab.driver.base.errors import ServerError
from lanelab.driver.bed.node import Node

VERSION = 1
LOG = "access.log"  # its own log, a line for each request and connection
CONNECTIONS_OF_HTTP1 = 256  # to the server behind, at most: the most that the gateway has for one host


def configuration(arm: ProxySettings, place: Place) -> str:
    """Return the text of its configuration."""
    settings = {
        "version": VERSION,
        "listen": f"0.0.0.0:{PORTS[arm.scheme]}",
        "certificate": "" if arm.tls == "off" else place.certificate,
        "key": "" if arm.tls == "off" else place.key,
        "log": f"{place.folder}/{LOG}",
        "wire": _wire(arm),
        "reverse": {
            "on": True,
            "address": BACK_END,
            "protocol": arm.protocol,
            "tls": arm.tls,
            "tls_resumption": arm.tls_resumption,
            "keepalive": arm.keepalive,
            "keepalive_ms": arm.keepalive_timeout.ns // 1_000_000,
            "window": arm.proxy_window,
            "connections": arm.proxy_connections,
        },
    }
    return json.dumps(settings, indent=1) + "\n"


def _wire(arm: ProxySettings) -> dict[str, object]:
    wire: dict[str, object] = {"protocol": arm.proxy_protocol, "port": BACK_END_PORT, "tls": "off"}
    if arm.proxy_protocol == "http/1.1":
        wire["connections_per_host"] = CONNECTIONS_OF_HTTP1
    return wire


FILE = "lanelab-gateway"  # in its folder
# No request: it says so itself. What asks goes away with the first bytes of the answer, and a server behind SPDY that
# still answered then would complain of the stream that was taken back.
QUESTION = b"lanelab\r\n\r\n"
PROGRAM = "gateway"  # as driver/run/built_programs.py calls it


class GatewayProxy(SetProxy):
    name = "gateway"
    title = "the gateway as a proxy"
    graceful_signal = signal.SIGTERM
    configuration_file = "gateway.json"
    needs: tuple[str, ...] = ()
    builds = (PROGRAM,)

    def set_up(self, _node: Node, assignment: Assignment, place: Place) -> SetUp:
        if PROGRAM not in assignment.programs:
            raise ServerError(
                "this proxy needs lanelab's gateway", "Build it: driver/base/programs/building/gateway.py"
            )
        files = {FILE: assignment.programs[PROGRAM].read_bytes()}
        text = configuration(self._arm, place)
        return SetUp(_argv("", f"2>>{ERROR_LOG}"), _argv("--check", ""), text, files, FILE, QUESTION, holds_log=True)

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        """Return every line: what becomes of single requests is in another log."""
        return [line for line in lines if line.strip()]


def _argv(option: str, redirected: str) -> list[str]:
    """Return the command in its folder, to which it was copied as a file like others."""
    words = f"chmod u+x {FILE} && exec ./{FILE} {option} {GatewayProxy.configuration_file} {redirected}"
    return ["sh", "-c", " ".join(words.split())]
