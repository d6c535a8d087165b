"""HAProxy, of the distribution, as a plain process in the server node."""

import re
import shlex
import signal
from collections.abc import Iterable

from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.proxies.proxy import BACK_END, IDLE_S, PATIENCE_S, SetProxy
from lanelab.driver.arm.servers.life import ACCESS_LOG, ERROR_LOG
from lanelab.driver.arm.servers.server import BACK_END_PORT, PORTS, TLS_NAMES, Assignment, Place, SetUp
from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node

BOTH = "both.pem"  # certificate and key in one file, as HAProxy wants them
LOG_FORMAT = (
    '{"accepted_ms":%Ts%ms,"duration_ms":%Ta,"request":"%[capture.req.method] %[capture.req.uri]","status":%ST,'
    '"sent_bytes":%B,"remote":"%ci:%cp","ended":"%tsc"}'
)


def configuration(arm: ProxySettings, place: Place, *, log_requests: bool) -> str:
    """Return the text of haproxy.cfg."""
    parts = [_global(arm), _defaults(arm, log_requests=log_requests), _front(arm, place), _back(arm)]
    return "\n".join("".join(line + "\n" for line in part) for part in parts)


def _global(arm: ProxySettings) -> list[str]:
    return [
        "# Made by lanelab for one arm; docs/reference/proxy.md explains it.",
        "global",
        "    log stdout format raw local0 info",
        *(["    tune.ssl.cachesize 0"] if arm.tls != "off" and not arm.tls_resumption else []),
    ]


def _defaults(arm: ProxySettings, *, log_requests: bool) -> list[str]:
    """`accept-encoding` and the like are handed on as they are."""
    return [
        "defaults",
        "    mode http",
        *(["    log global", f"    log-format '{LOG_FORMAT}'"] if log_requests else []),
        "    timeout connect 10s",
        f"    timeout client {PATIENCE_S}s",
        f"    timeout server {PATIENCE_S}s",
        f"    timeout http-keep-alive {arm.keepalive_timeout.ns // 1_000_000}ms",
        f"    {'option http-keep-alive' if arm.keepalive else 'option httpclose'}",
    ]


def _front(arm: ProxySettings, place: Place) -> list[str]:
    words = [f"0.0.0.0:{PORTS[arm.scheme]}"]
    if arm.tls != "off":
        version = TLS_NAMES[arm.tls]
        words += ["ssl", "crt", f"{place.folder}/{BOTH}", "alpn", "h2,http/1.1" if arm.protocol == "h2" else "http/1.1"]
        words += ["ssl-min-ver", version, "ssl-max-ver", version]
        words += [] if arm.tls_resumption else ["no-tls-tickets"]
    return ["frontend clients", f"    bind {' '.join(words)}", "    default_backend back_end"]


def _back(arm: ProxySettings) -> list[str]:
    """Any client's request may go over any connection that is there."""
    proto = " proto h2" if arm.proxy_protocol == "h2" else ""
    return [
        "backend back_end",
        "    http-reuse always",
        f"    server one {BACK_END}:{BACK_END_PORT}{proto} pool-purge-delay {IDLE_S}s",
    ]


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
