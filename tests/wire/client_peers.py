"""Other people's clients against our servers; SPDY through a relay that records, with tshark's word about it."""

import contextlib
import functools
import hashlib
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lanelab.driver.base.programs.find_program import find

from .dissected import Dissection, dissect
from .httpd import Httpd
from .peers import JavaPeer, NodePeer
from .relay import recording

WAIT_S = 600  # no test depends on how fast a machine is
PATTERN = bytes(range(251))


@functools.cache
def pattern(length: int) -> bytes:
    """What the clients send as bodies: 65536 bytes of the pattern, again and again."""
    piece = (PATTERN * (65536 // len(PATTERN) + 1))[:65536]
    return (piece * (length // 65536 + 1))[:length]


@functools.cache  # of a body that is asked for again, once
def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Order:
    """A request, as the clients read it."""

    path: str
    method: str = "GET"
    priority: int = 0
    body_bytes: int = 0
    reset_after_bytes: int = -1

    @property
    def line(self) -> str:
        return f"{self.method} {self.path} {self.priority} {self.body_bytes} {self.reset_after_bytes}\n"


@dataclass(frozen=True, slots=True)
class Peer:
    """A client program and the version it speaks."""

    name: str
    version: str
    programs: NodePeer | JavaPeer

    def command(self, port: int, window_bytes: int | None) -> list[str]:
        words = [str(port), self.version, *([str(window_bytes)] if window_bytes is not None else [])]
        script = "SpdyClient" if isinstance(self.programs, JavaPeer) else "spdy-client.js"
        return self.programs.command(script, *words)


@dataclass(slots=True)
class Talk:
    """What a client said of its requests, in the order in which it said it, while it runs and after."""

    process: subprocess.Popen[str]
    lines: list[list[str]] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)
    ended: bool = False
    dissection: Dissection | None = None

    def listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.split())
                self.news.notify_all()
        with self.news:
            self.ended = True
            self.news.notify_all()

    def of(self, word: str) -> list[list[str]]:
        return [line[1:] for line in self.lines if line[0] == word]

    def wait_for(self, word: str, count: int) -> None:
        with self.news:
            self.news.wait_for(lambda: self.ended or len(self.of(word)) >= count, WAIT_S)
        assert len(self.of(word)) >= count, f"{count} times {word!r} did not come: {self.lines}"

    def answers(self) -> dict[int, tuple[int, int, str]]:
        """Of the requests that were done: status, bytes and sum."""
        return {int(number): (int(status), int(size), sha) for number, status, size, sha in self.of("done")}


@contextlib.contextmanager
def talking(
    peer: Peer,
    server: Httpd,
    tshark: Path,
    orders: Sequence[Order],
    *,
    window_bytes: int | None = None,
    bytes_per_s: int = 0,
) -> Iterator[Talk]:
    """The client has all its orders when the block begins, and has ended when it is left; then all that passed has
    been decoded by tshark without complaint."""
    with tempfile.TemporaryDirectory(prefix="wire-peer-") as folder:
        pcap, log = Path(folder, "wire.pcap"), Path(folder, "log")
        with (
            recording(server.port, pcap, bytes_per_s=bytes_per_s) as port,
            _started(peer, port, window_bytes, log) as talk,
        ):
            assert talk.process.stdin is not None
            talk.process.stdin.write("".join(order.line for order in orders))
            talk.process.stdin.close()
            listening = threading.Thread(target=talk.listen, daemon=True)
            listening.start()
            yield talk
            talk.process.wait(WAIT_S)
            listening.join()
        assert talk.process.returncode == 0, log.read_text()
        talk.dissection = dissect(tshark, pcap, server.port)
        assert not talk.dissection.complaints, "\n".join(talk.dissection.complaints[:10])
        assert talk.dissection.frames["control 1"] >= len(orders)


def talk(peer: Peer, server: Httpd, tshark: Path, orders: Sequence[Order], *, window_bytes: int | None = None) -> Talk:
    """To its end."""
    with talking(peer, server, tshark, orders, window_bytes=window_bytes) as done:
        pass
    return done


@contextlib.contextmanager
def _started(peer: Peer, port: int, window_bytes: int | None, log: Path) -> Iterator[Talk]:
    with log.open("wb") as errors:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *peer.command(port, window_bytes)],
            env=peer.programs.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield Talk(process)
    finally:
        process.kill()
        process.wait(WAIT_S)


def h2load(port: int, host: str, path: str, *, requests: int, body_bytes: int) -> None:
    """nghttp2's client: two connections, fifty streams at once on each. Every answer has to come whole."""
    program = find("h2load")
    if program is None:
        pytest.skip("missing: h2load")
    command = [str(program), "-n", str(requests), "-c", "2", "-m", "50", "-H", f":authority: {host}:{port}"]
    command += ["--connect-to", f"127.0.0.1:{port}", f"https://{host}:{port}{path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    assert f"{requests} succeeded, 0 failed, 0 errored, 0 timeout" in done.stdout, done.stdout
    assert f"({requests * body_bytes}) data" in done.stdout, done.stdout
