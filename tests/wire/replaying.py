"""A real httpd on loopback that serves a site through mod_replay, configured as a trial's server is, but for its ports.

Clients here are our own: what was sent is seen byte by byte.
"""

import contextlib
import gzip
import hashlib
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.apache import log, pack
from lanelab.driver.arm.servers.apache.configuration import Modules, configuration
from lanelab.driver.arm.servers.server import Place
from lanelab.driver.base.programs.building import apache_module
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.site.site import Headers, Site, SiteObject, StoredObject
from tests.kit.wait import wait_until
from tools.bench.replay_servers import free_port, user_lines

from .httpd import MODULES, Module, make_certificate, sanitized

STARTING_S = 30
OWN_NAMES = {"mod_replay": "replay", "mod_spdy": "spdy"}


def stored(url: str, body: bytes = b"", headers: Headers = (), **more: object) -> StoredObject:
    """An object with that body, which says its own size and hash."""
    host, _, path = url.partition("/")
    made = SiteObject(host, "/" + path, len(body), "text/plain", hashlib.sha256(body).hexdigest())
    return StoredObject(replace(made, headers=headers, **more), body)  # type: ignore[arg-type]


def site_of(objects: Iterable[StoredObject]) -> Site:
    listed = tuple(each.object for each in objects)
    return Site("site", "A site", listed[0].host, listed[0].path, listed, Path("/nowhere"))


def pack_of(objects: Iterable[StoredObject], delays: pack.Delays = pack.NO_DELAYS) -> bytes:
    listed = list(objects)
    bodies = {each.object.sha256: each.body for each in listed}
    return pack.pack([each.object for each in listed], lambda each: bodies[each.sha256], delays)


@dataclass(frozen=True, slots=True)
class Replay:
    """A running server."""

    folder: Path
    ports: Mapping[str, int]  # by scheme

    def error_lines(self) -> list[str]:
        return (self.folder / "error.log").read_text(errors="replace").splitlines()

    def unexpected(self) -> list[str]:
        return log.unexpected(self.error_lines())

    def served(self, count: int) -> list[ServedRequest]:
        """Its log of requests; waits until it has that many."""

        def lines() -> list[str]:
            data = (self.folder / "access.log").read_bytes()
            return data[: data.rfind(b"\n") + 1].decode(errors="replace").splitlines()

        wait_until(lambda: len(lines()) >= count, STARTING_S, lines)
        return log.requests(lines())

    def connect(self, scheme: str = "http", alpn: Sequence[str] = ("http/1.1",)) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.ports[scheme]), 30)
        if scheme == "http":
            return plain
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(list(alpn))
        return context.wrap_socket(plain, server_hostname="a.test")


@contextlib.contextmanager
def replaying(
    program: Path,
    site: Site,
    packed: bytes,
    settings: Mapping[str, object] | None = None,
    extra: str = "",
    waiting: int = 0,
) -> Iterator[Replay]:
    """`settings` of the arm; `extra`: further lines of the configuration; `waiting`: answers that wait at once."""
    folder = Path(tempfile.mkdtemp(prefix="wire-replay-"))
    folder.chmod(0o755)
    arm = Arm.parse("arm", dict(settings or {}))
    server = Replay(folder, {scheme: free_port() for scheme in arm.ports})
    try:
        make_certificate(folder)
        (folder / pack.FILE).write_bytes(packed)
        (folder / "httpd.conf").write_text(_configuration(arm, site, server, waiting) + extra)
        argv = [str(program), "-d", str(folder), "-f", str(folder / "httpd.conf"), "-DFOREGROUND"]
        with (folder / "output").open("wb") as output:
            process = subprocess.Popen(
                argv, env={**os.environ, **_module("mod_replay").environment},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        try:
            _await(server, process)
            yield server
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(STARTING_S)
    finally:
        shutil.rmtree(folder)


class Refused(Exception):
    """httpd did not start; the message is what it said."""


@cache
def _module(name: str) -> Module:
    """As users run it; with LANELAB_TEST_SANITIZED=1 the sanitizers' build."""
    if os.environ.get("LANELAB_TEST_SANITIZED") == "1":
        return sanitized(apache_module.module(name, sanitize=True))
    return Module(apache_module.module(name))


def _configuration(arm: Arm, site: Site, server: Replay, waiting: int) -> str:
    folder = str(server.folder)
    there = frozenset(each.stem.removeprefix("mod_") for each in MODULES.glob("mod_*.so"))
    own = {name: str(_module(name).path) for name in apache_module.MODULES}
    place = Place(folder, folder)
    modules = Modules(str(MODULES), there, own["mod_replay"], own["mod_spdy"])
    text = configuration(arm, site, place, modules, waiting=waiting)
    text = text.replace(" \"expr=%{REMOTE_ADDR} != '127.0.0.1'\"", "")
    for scheme, usual in (("http", 80), ("https", 443)):
        if scheme in server.ports:
            port = server.ports[scheme]
            text = text.replace(f"0.0.0.0:{usual} ", f"127.0.0.1:{port} ").replace(f"*:{usual}>", f"*:{port}>")
    return text + user_lines()


def _await(server: Replay, process: subprocess.Popen[bytes]) -> None:
    def words() -> str:
        files = (server.folder / name for name in ("output", "error.log"))
        return "".join(file.read_text(errors="replace") for file in files if file.is_file())

    def is_ready() -> bool:
        with contextlib.suppress(OSError):  # its port is open before it has looked at its pack
            if any("resuming normal operations" in line for line in server.error_lines()):
                return True
        if process.poll() is not None:
            raise Refused(words())
        return False

    wait_until(is_ready, STARTING_S, words)


# ---- HTTP/1.1, byte by byte ----


@dataclass(frozen=True, slots=True)
class Answer:
    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def one(self, name: str) -> str | None:
        values = self.all(name)
        assert len(values) < 2, f"{name} is there more than once: {values}"
        return values[0] if values else None

    @property
    def unpacked(self) -> bytes:
        return gzip.decompress(self.body)


def ask(
    line: socket.socket, method: str, url: str, headers: Headers = (), body: bytes = b"", *, whole: bool = False
) -> Answer:
    """One request and its answer; the connection can go on. `whole`: ask for the whole URL, as of a proxy."""
    host, _, path = url.partition("/")
    target = f"http://{url}" if whole else f"/{path}"
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
    lines += [f"Content-Length: {len(body)}"] if body else []
    line.sendall("".join(each + "\r\n" for each in [*lines, ""]).encode("latin-1") + body)
    return receive(line, method)


def receive(line: socket.socket, method: str) -> Answer:
    data = b""
    while b"\r\n\r\n" not in data:
        more = line.recv(65536)
        if not more:
            raise AssertionError(f"the connection ended after {data!r}")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    first, *fields = head.decode("latin-1").split("\r\n")
    pairs = tuple((name, value.removeprefix(" ")) for name, _, value in (each.partition(":") for each in fields))
    answer = Answer(first, pairs, rest)
    status = first.split(" ")[1]
    if method == "HEAD" or status in ("204", "304"):
        assert not rest
        return answer
    length = int(answer.one("Content-Length") or "0")
    while len(rest) < length:
        more = line.recv(65536)
        if not more:
            raise AssertionError("the body is cut short")
        rest += more
    assert len(rest) == length, "more than its length says"
    return replace(answer, body=rest)
