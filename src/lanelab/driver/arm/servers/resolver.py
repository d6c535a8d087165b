"""A real resolver in the server node, so that a look-up costs a round trip: dnsmasq, which ends with its handle.

It knows the names of a site and nothing else: all others do not exist (NXDOMAIN), and are listed. Chromium asks for
IPv4 and IPv6 addresses and for the HTTPS record at the same time; a name of the site has only the first, and the last
where an arm's server is to be discovered by it.
"""

import contextlib
import os
import re
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lanelab.driver.base.errors import ServerError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.addresses import SERVER
from lanelab.driver.bed.node import Command, Node, Process, Stdio
from lanelab.driver.record.evidence.server import Query

ADDRESS = SERVER.port.address
PORT = 53
READY_WITHIN_S = 10
READY_POLL_S = 0.002
STOP_WITHIN_S = 2
# Longer than a trial, as names of real sites are: within a page load no name is asked for twice because it expired.
TIME_TO_LIVE_S = 3600
HTTPS = 65  # the type of the record
PRIORITY, ALPN = 1, 1  # in it: of the service itself; the key of its protocols
PROBE = "ready.lanelab.invalid"
_QUERY = re.compile(r" query\[(?P<type>[^\]]+)\] (?P<name>\S+) from (?P<client>\S+)$")

RESOLV_CONF = f"nameserver {ADDRESS}\n"
# Hosts by the resolver alone, after the names of the nodes. Databases that are not of this file stay as they are by
# default (files).
NSSWITCH_CONF = "passwd: files\ngroup: files\nhosts: files dns\n"


def use_resolver(client: Node) -> None:
    """Let programs on the client ask the resolver, however this machine looks up names."""
    client.cover("/etc/resolv.conf", RESOLV_CONF)
    client.cover("/etc/nsswitch.conf", NSSWITCH_CONF)


def https_record(protocols: Sequence[str]) -> str:
    """Return the data of an HTTPS record (RFC 9460) in hexadecimal digits: the name itself, which speaks these by
    ALPN."""
    alpn = b"".join(bytes([len(name)]) + name.encode() for name in protocols)
    parameters = struct.pack(">2H", ALPN, len(alpn)) + alpn
    return (struct.pack(">HB", PRIORITY, 0) + parameters).hex()


def configuration(addresses: Mapping[str, str], log: str, spoken: Sequence[str] = ()) -> str:
    """The text of dnsmasq.conf; `spoken` is what the HTTPS records of the names say, if they have any. Pure."""
    lines = [
        "# Made by lanelab; docs/reference/server.md explains it.",
        "keep-in-foreground",
        "pid-file=",
        "user=",
        "no-resolv",
        "no-hosts",
        "no-poll",
        f"port={PORT}",
        f"listen-address={ADDRESS}",
        "bind-interfaces",
        "cache-size=0",
        f"local-ttl={TIME_TO_LIVE_S}",
        "log-queries",
        f"log-facility={log}",
        "# Every name there is; nobody else is asked for any other.",
        "local=/#/",
        *(f"host-record={name},{address}" for name, address in addresses.items()),
        *(f"dns-rr={name},{HTTPS},{https_record(spoken)}" for name in (addresses if spoken else ())),
    ]
    return "".join(line + "\n" for line in lines)


class Resolver:
    """One dnsmasq for the names of a site. Whoever started it stops it."""

    def __init__(self, node: Node, log: str, process: Process) -> None:
        self._node = node
        self._log = log
        self._process = process
        self._seen = 0

    @classmethod
    def start(cls, node: Node, addresses: Mapping[str, str], folder: Path, spoken: Sequence[str] = ()) -> "Resolver":
        """Start it; it answers when this returns. `folder` is on the node, in memory, and for servers alone. `spoken`:
        protocols that each name's HTTPS record has."""
        here = f"{folder}/dns"
        node.run(["mkdir", "-p", here])
        conf, log = f"{here}/dnsmasq.conf", f"{here}/dnsmasq.log"
        node.write(conf, configuration(addresses, log, spoken).encode())
        node.write(log, b"")
        if _answer(node):
            raise ServerError(f"on {node.name}, something else answers at port {PORT} already", "End it")
        with os.fdopen(os.memfd_create("output"), "rb") as output:
            argv = ["dnsmasq", f"--conf-file={conf}"]
            process = node.spawn(Command(argv), Stdio(None, output.fileno(), output.fileno()))
            try:
                _await_ready(node, process)
            except TimeoutError:
                _end(process)
                raise ServerError(
                    f"dnsmasq did not answer within {scaled(READY_WITHIN_S)} s", "Is the machine busy?"
                ) from None
            except ChildProcessError as error:
                output.seek(0)
                words = output.read().decode(errors="replace").strip().replace("\n", "; ")
                raise ServerError(f"dnsmasq {error} before it answered: {words or 'it output nothing'}") from None
        return cls(node, log, process)

    def stop(self) -> None:
        """End it. Its log stays where it is until the next one starts."""
        _end(self._process)

    def queries(self) -> tuple[Query, ...]:
        """Return what was asked since this was last asked, in order; not by this node."""
        data = self._node.read(self._log)[self._seen :]
        whole = data[: data.rfind(b"\n") + 1]
        self._seen += len(whole)
        return queries_in(whole.decode(errors="replace"))


def queries_in(log: str) -> tuple[Query, ...]:
    """Return the queries in a log of dnsmasq's. Pure."""
    matches = (_QUERY.search(line) for line in log.splitlines())
    return tuple(Query(line["name"], line["type"]) for line in matches if line and line["client"] != ADDRESS)


def _await_ready(node: Node, process: Process) -> None:
    until = time.monotonic() + scaled(READY_WITHIN_S)
    while time.monotonic() < until:
        answered = _answer(node)
        with contextlib.suppress(TimeoutError):
            status = process.wait(0 if answered else READY_POLL_S)
            raise ChildProcessError(f"ended with status {status}")
        if answered:
            return
    raise TimeoutError


def _answer(node: Node) -> bytes:
    """A question over TCP; what is asked from the server's own address is not listed."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in PROBE.split(".")) + b"\0"
    message = struct.pack(">6H", 1, 0x0100, 1, 0, 0, 0) + labels + struct.pack(">2H", 1, 1)
    return node.exchange(ADDRESS, PORT, struct.pack(">H", len(message)) + message)


def _end(process: Process) -> None:
    process.signal(signal.SIGTERM)
    try:
        process.wait(scaled(STOP_WITHIN_S))
    except TimeoutError:
        process.signal(signal.SIGKILL)
        process.wait(scaled(STOP_WITHIN_S))
