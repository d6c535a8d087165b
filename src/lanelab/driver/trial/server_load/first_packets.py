"""The first packets of a load, captured on the client: what was spoken, seen on the wire and not by who spoke."""

import contextlib
import os
import select
import signal
import time
from pathlib import Path

from lanelab.driver.base.errors import BedError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Command, Node, Stdio
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load.generator import Target

FILE = "first.pcap"
KEYS = "keys.log"  # the secrets of the connections in it, which the generator logs over QUIC (SSLKEYLOGFILE)
WITH_KEYS = "first.pcapng.gz"  # both together
# Enough for some connections from their beginning, also where many are opened before the first speaks.
PACKETS, PER_CONNECTION = 2000, 8
SNAPLEN = 800  # bytes of each packet: a whole hello of TLS
SNAPLEN_OF_QUIC = 1600  # a packet of QUIC is opened whole, or not at all
READY_WITHIN_S, STOP_WITHIN_S = 10, 5
LISTENING = b"listening on"


def packets_of(settings: LoadSettings) -> int:
    return PACKETS + PER_CONNECTION * settings.connections_at_first


def snaplen_of(target: Target) -> int:
    return SNAPLEN_OF_QUIC if target.arm.protocol == "h3" else SNAPLEN


class FirstPackets:
    """A tcpdump that ends by itself after a number of packets. Who starts it stops it."""

    def __init__(self, node: Node, file: str, target: Target) -> None:
        """Start it; packets are captured when this returns. Raises BedError."""
        self._node, self._file = node, file
        options = [
            "--immediate-mode",
            "-U",
            "-n",
            "-s",
            str(snaplen_of(target)),
            "-c",
            str(packets_of(target.settings)),
        ]
        what = f"(tcp or udp) and host {target.address} and port {target.port}"
        # Open for as long as it runs: it says "listening on" in several pieces, and would die of a pipe that is closed.
        self._stderr, writing = os.pipe()
        try:
            # On any interface: which one leads to the server is the link's affair.
            argv = ["tcpdump", "-i", "any", *options, "-w", file, what]
            self._process = node.spawn(Command(argv), Stdio(stderr=writing))
        except BaseException:
            os.close(self._stderr)
            raise
        finally:
            os.close(writing)
        try:
            self._await()
        except BaseException:
            self._end()
            raise

    def _await(self) -> None:
        output, until = b"", time.monotonic() + scaled(READY_WITHIN_S)
        while LISTENING not in output:
            ready, _, _ = select.select([self._stderr], [], [], max(until - time.monotonic(), 0))
            data = os.read(self._stderr, 65536) if ready else b""
            if not data:
                words = output.decode(errors="replace").strip() or "it said nothing"
                raise BedError(f"on {self._node.name}, tcpdump did not start: {words}", "Run: ./lanelab doctor")
            output += data

    def stop(self, target: Path) -> None:
        """End it; what it has is then in `target`. Raises BedError."""
        self._end()
        self._node.get(self._file, target)

    def _end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._process.signal(number)
            with contextlib.suppress(TimeoutError):
                self._process.wait(scaled(STOP_WITHIN_S))
                break
        if self._stderr >= 0:
            os.close(self._stderr)
            self._stderr = -1

    def close(self) -> None:
        """End it at once, with the packets that it has."""
        self._end()
