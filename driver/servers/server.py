"""Apache's life in the server node: installed? staged, started, ready, asked for its logs, stopped."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import tarfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from driver.bed.node import Command, Node, Process, Stdio
from driver.servers import apache, logs
from driver.servers.authority import Leaf
from driver.servers.layout import HOSTS, Layout, lay_out, map_text
from driver.timeouts import scaled
from model.errors import InputError, MissingProgram, NodeError, ServerError
from model.evidence.server import ServedRequest
from model.site.site import Site

READY_WITHIN_S = 10
READY_POLL_S = 0.002
# It ends within 35 ms, but with HTTP/2 only after a second, when its workers' time is up: by then it is killed, which
# costs nothing (its logs are written line by line, and its memory goes with it).
STOP_POLITELY_S = 0.05
STOP_WITHIN_S = 10
LOGGED_WITHIN_S = 0.5
SPDY_MODULE = "mod_spdy.so"
# Of every file, so that Last-Modified and ETag are the same from every checkout: 1 January 2020.
MODIFIED = 1577836800
PROGRAMS = "apache2 httpd"  # as Debian and its family, and as everybody else calls it
MODULE_FOLDERS = "/usr/lib/apache2/modules /usr/lib64/httpd/modules /usr/lib/httpd/modules /usr/lib64/apache2"
LOOK = f"""
for name in {PROGRAMS}; do command -v "$name" && break; done || echo
for folder in {MODULE_FOLDERS}; do [ -d "$folder" ] && echo "$folder" && exec ls "$folder"; done
"""
# A folder made anew ($1) from the tar at stdin; what an earlier server left there (a stale pid file, logs) is gone.
MAKE = 'umask 077; rm -rf -- "$1" && mkdir -p -- "$1" && exec tar -x -f - -C "$1"'
# The same; says whether the site's files ($2) are still to come. In one, since each command costs some milliseconds.
MAKE_AND_LOOK = f'[ -d "$2" ] || echo absent; {MAKE}'
# The same, but it has its name ($2) only when it is whole.
MAKE_WHOLE = f'{MAKE.replace("exec ", "")} && mv -T -- "$1" "$2"'
# Kill what was started with the configuration that stdin names (not an argument, which would name this shell too).
SWEEP = """
read -r conf
for each in /proc/[0-9]*; do
    tr '\\0' '\\n' 2>/dev/null <"$each/cmdline" | grep -qxF -- "$conf" && kill -9 "${each#/proc/}"
done 2>/dev/null
true
"""
_SYNTAX = re.compile(r"Syntax error on line (\d+) of [^\n]*:\s*(.+)", re.DOTALL)
_SERVER_HEADER = re.compile(rb"^Server: ([^\r\n]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installation:
    """The Apache of a node."""

    program: str
    modules_folder: str
    modules: frozenset[str]


@lru_cache(maxsize=8)
def installation(node: Node) -> Installation:
    """Looked for once per node."""
    program, *rest = node.run(["sh", "-c", LOOK], check=False).stdout.splitlines() or [""]
    if not program or not rest:
        lacks = "Apache's modules" if program else "Apache"
        raise MissingProgram(f"on {node.name}, {lacks} cannot be found", "Run: ./lanelab doctor")
    names = (re.fullmatch(r"mod_(\w+)\.so", name) for name in rest[1:])
    return Installation(program, rest[0], frozenset(name[1] for name in names if name))


class Server:
    """One Apache that serves a site as an arm says. Whoever started it stops it."""

    def __init__(self, node: Node, folder: str, configuration: str, process: Process, version: str) -> None:
        self._node = node
        self._folder = folder
        self._process = process
        self._seen = {"error.log": 0, "access.log": 0}
        self.configuration = configuration  # the text of its httpd.conf
        self.version = version  # as it says itself: Apache/2.4.62 (Debian)

    @classmethod
    def start(
        cls,
        node: Node,
        arm: apache.ServerArm,
        site: Site,
        folder: Path,
        leaf: Leaf | None = None,
        spdy_module: Path | None = None,
    ) -> Server:
        """Start it; it answers when this returns. `folder` is on the node, in memory, and for servers alone.
        `spdy_module` is on this machine."""
        prepared = _prepare(node, arm, site, folder, leaf, spdy_module)
        port = apache.PORTS[arm.scheme]
        _require_free(node, port)
        with os.fdopen(os.memfd_create("said"), "rb") as said:
            process = node.spawn(prepared.command(), Stdio(None, said.fileno(), said.fileno()))
            try:
                version = _await_ready(node, port, process)
            except BaseException:
                _end(node, process, prepared.conf)
                raise
            if version is None:
                raise prepared.failure(node, f"Apache {_how_it_ended(process)} before it answered", said)
        return cls(node, prepared.place.folder, prepared.text, process, version)

    def stop(self) -> None:
        """End it, and all that it started. Its logs stay where they are until the next one starts."""
        _end(self._node, self._process, f"{self._folder}/httpd.conf")

    def require_alive(self) -> None:
        """Raises ServerError when it has ended by itself."""
        try:
            self._process.wait(0)
        except TimeoutError:
            return
        lines = "; ".join(self.error_lines()[-3:]) or "its error log says nothing"
        raise ServerError(f"Apache {_how_it_ended(self._process)} by itself: {lines}", "See the server's error log")

    def error_lines(self) -> list[str]:
        """The unexpected lines of its error log since this was last asked."""
        return logs.unexpected(self._new_lines("error.log"))

    def access_lines(self) -> list[ServedRequest]:
        """What was asked of it since this was last asked, as docs/reference/server.md lists it; not by this node."""
        return logs.access(self._new_lines("access.log"))

    def access_lines_of(self, requests: int) -> list[ServedRequest]:
        """The same, when there are so many, or soon: a request is noted when its last byte is off, maybe a moment after
        that has arrived."""
        found, until = self.access_lines(), time.monotonic() + scaled(LOGGED_WITHIN_S)
        while len(found) < requests and time.monotonic() < until:
            time.sleep(READY_POLL_S)
            found += self.access_lines()
        return found

    def files(self) -> dict[str, bytes]:
        """What is worth keeping of it: its configuration and its whole logs."""
        return {name: self._node.read(f"{self._folder}/{name}") for name in ("httpd.conf", "error.log", "access.log")}

    def _new_lines(self, log: str) -> list[str]:
        """Whole lines only: the rest of one that is being written comes next time."""
        data = self._node.read(f"{self._folder}/{log}")[self._seen[log] :]
        whole = data[: data.rfind(b"\n") + 1]
        self._seen[log] += len(whole)
        return whole.decode(errors="replace").splitlines()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Everything is in its place on the node."""

    program: str
    place: apache.Place
    text: str

    @property
    def conf(self) -> str:
        return f"{self.place.folder}/httpd.conf"

    def command(self, *options: str) -> Command:
        # FOREGROUND: a child of ours that stays one, with its own children as always (-X would have none).
        how = options or ("-DFOREGROUND",)
        return Command([self.program, "-d", self.place.folder, "-f", self.conf, *how])

    def failure(self, node: Node, what: str, said: BinaryIO) -> ServerError | InputError:
        """Why it did not start, in its own words; an arm's directive that it does not take is the user's error."""
        said.seek(0)
        words = said.read().decode(errors="replace").strip()
        with contextlib.suppress(NodeError):
            words += "\n" + node.read(f"{self.place.folder}/error.log").decode(errors="replace")
        syntax = _SYNTAX.search(words)
        directive = apache.directive_of(self.text, int(syntax[1])) if syntax else None
        if syntax and directive:
            remedy = (
                "See https://httpd.apache.org/docs/2.4/mod/directives.html; a directive of a module that lanelab does "
                "not load needs 'LoadModule NAME_module ${MODULES}/mod_NAME.so' before it"
            )
            first = syntax[2].strip().splitlines()[0]
            return InputError(f"Apache does not take {directive.strip()!r}: {first}", remedy, key="server_directives")
        told = "; ".join(line.strip() for line in words.splitlines() if line.strip()) or "it said nothing"
        if "Address already in use" in words:
            return ServerError(f"{what}: its port is in use ({told})", "End what listens there in the server node")
        return ServerError(f"{what}: {told}", "See docs/reference/server.md")


def check_configuration(
    node: Node,
    arm: apache.ServerArm,
    site: Site,
    folder: Path,
    leaf: Leaf | None = None,
    spdy_module: Path | None = None,
) -> str:
    """Apache's own opinion of an arm (`-t`), without starting it: the configuration, or InputError or ServerError."""
    prepared = _prepare(node, arm, site, folder, leaf, spdy_module)
    with os.fdopen(os.memfd_create("said"), "rb") as said:
        process = node.spawn(prepared.command("-t"), Stdio(None, said.fileno(), said.fileno()))
        if process.wait(scaled(READY_WITHIN_S)) != 0:
            raise prepared.failure(node, "Apache refuses its configuration", said)
    return prepared.text


def _prepare(
    node: Node, arm: apache.ServerArm, site: Site, folder: Path, leaf: Leaf | None, spdy_module: Path | None
) -> _Prepared:
    if arm.tls != "off" and leaf is None:
        raise ServerError("a server that speaks TLS needs a certificate", "Make one with Authority.leaf")
    if arm.spdy and spdy_module is None:
        raise ServerError("a server that speaks SPDY needs lanelab's module", "Build it: driver/host/build/mod_spdy.py")
    found, layout = installation(node), lay_out(site)
    here, content = f"{folder}/apache", f"{folder}/sites/{site.name}-{layout.digest()}"
    place = apache.Place(
        folder=here,
        content=content,
        modules_folder=found.modules_folder,
        modules=found.modules,
        certificate=f"{here}/certificate.pem",
        key=f"{here}/key.pem",
        spdy_module=f"{here}/{SPDY_MODULE}",
    )
    text = apache.configuration(arm, site, place, layout)
    files = {"httpd.conf": text.encode(), "objects.map": map_text(layout).encode()}
    files |= {"error.log": b"", "access.log": b""}
    if arm.tls != "off" and leaf:
        files |= {"certificate.pem": leaf.certificate.read_bytes(), "key.pem": leaf.key.read_bytes()}
    if arm.spdy and spdy_module:
        files[SPDY_MODULE] = spdy_module.read_bytes()
    if node.run(["sh", "-c", MAKE_AND_LOOK, "sh", here, content], stdin=_tar(files)).stdout:
        _stage(node, site, layout, content)
    return _Prepared(found.program, place, text)


def _stage(node: Node, site: Site, layout: Layout, target: str) -> None:
    """A copy of the site's files in the node's memory, made once: nothing is read from a disk during a trial, and
    every file has the same time whenever it was checked out."""
    files = {name: site.file(each).read_bytes() for name, each in layout.files.items()}
    empty = {f"{HOSTS}/{host}/" for host in site.hosts}
    node.run(["sh", "-c", MAKE_WHOLE, "sh", f"{target}.part", target], stdin=_tar(files, empty))


def _tar(files: Mapping[str, bytes], folders: set[str] = frozenset()) -> bytes:  # type: ignore[assignment]
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted({*files, *folders}):
            entry = tarfile.TarInfo(name.rstrip("/"))
            entry.mtime, entry.mode = MODIFIED, 0o600
            if name.endswith("/"):
                entry.type, entry.mode = tarfile.DIRTYPE, 0o700
                tar.addfile(entry)
            else:
                entry.size = len(files[name])
                tar.addfile(entry, io.BytesIO(files[name]))
    return data.getvalue()


def _ask(node: Node, port: int) -> bytes:
    """Spoken plainly even where TLS is due: Apache then answers 400, which is an answer. From 127.0.0.1, which its
    access log leaves out."""
    request = f"GET / HTTP/1.1\r\nHost: {apache.NOBODY}\r\nConnection: close\r\n\r\n"
    return node.exchange("127.0.0.1", port, request.encode())


def _require_free(node: Node, port: int) -> None:
    if _ask(node, port):
        what = f"on {node.name}, something else answers at port {port} already"
        raise ServerError(what, "End it: a trial must be served by its own server")


def _await_ready(node: Node, port: int, process: Process) -> str | None:
    """What the server calls itself once it answers; None when it ended before."""
    until = time.monotonic() + scaled(READY_WITHIN_S)
    while time.monotonic() < until:
        answer = _ask(node, port)
        with contextlib.suppress(TimeoutError):
            process.wait(0 if answer else READY_POLL_S)
            return None
        if answer:
            header = _SERVER_HEADER.search(answer)
            return header[1].decode(errors="replace") if header else "Apache"
    raise ServerError(
        f"Apache did not answer at port {port} within {scaled(READY_WITHIN_S)} s", "Is the machine very busy?"
    )


def _how_it_ended(process: Process) -> str:
    status = process.wait(0)
    return f"ended with status {status}" if status >= 0 else f"was killed by signal {-status}"


def _end(node: Node, process: Process, conf: str) -> None:
    """To the whole process group: its children need not wait for their parent to tell them."""
    with contextlib.suppress(TimeoutError):
        process.wait(0)
        # Its children may be left, and hold the port: a process group without its leader cannot be signalled by handle.
        node.run(["sh", "-c", SWEEP], stdin=conf.encode() + b"\n")
        return
    process.signal(signal.SIGTERM)
    try:
        process.wait(STOP_POLITELY_S)
    except TimeoutError:
        process.signal(signal.SIGKILL)
        process.wait(scaled(STOP_WITHIN_S))
