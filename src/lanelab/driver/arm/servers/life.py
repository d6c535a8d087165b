"""The life of a web server in its node, whichever it is: its files are put there, it is started, answers, is asked for
its logs, and is stopped."""

import contextlib
import io
import os
import re
import signal
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Self

from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import (
    NOBODY,
    Assignment,
    Content,
    Place,
    Program,
    Server,
    SetUp,
    asked_at,
)
from lanelab.driver.base.errors import InputError, NodeError, ServerError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Command, Node, Process, Stdio, ended
from lanelab.driver.bed.open_files import with_open_files
from lanelab.driver.bed.remote.settings_reader import STAGED
from lanelab.driver.record.evidence.server import Line
from lanelab.driver.site.site import MODIFIED_S

READY_WITHIN_S = 30  # a Java virtual machine needs half a second, and several on a busy machine
READY_POLL_S = 0.002
# Connections that clients have just closed get this long to end, or Apache may crash when it is stopped:
# docs/upstream/httpd-event-close-worker-sockets.md. nginx ends within it; Apache's parent would take a second.
STOP_GRACEFULLY_S = 0.03
# Servers end within 35 ms, but Apache with HTTP/2 only after a second, when its workers' time is up. It is killed
# before that, which costs nothing: its logs are written line by line, and its memory goes with it. A program that holds
# lines of its log is waited for.
STOP_POLITELY_S = 0.05
STOP_WITHIN_S = 10
# HTTP without TLS also where TLS is due: a server then answers 400, which is an answer. From 127.0.0.1, which its log
# of requests leaves out.
QUESTION = f"GET / HTTP/1.1\r\nHost: {NOBODY}\r\nConnection: close\r\n\r\n".encode()
ACCESS_LOG, ERROR_LOG = "access.log", "error.log"
# A folder made anew ($1) from the tar at stdin. What an earlier server left there (a stale pid file, logs) is gone.
MAKE = 'umask 077; rm -rf -- "$1" && mkdir -p -- "$1" && exec tar -x -f - -C "$1"'
# The same; it says whether the site's files ($2) are still to come. In one, since each command costs some milliseconds.
MAKE_AND_LOOK = f'[ -f "$2{STAGED}" ] || echo absent; {MAKE}'
# The same, but the folder has its name ($2) only when it is whole, and a file beside it the time at which it was.
MAKE_WHOLE = f'{MAKE.replace("exec ", "")} && rm -rf -- "$2" && mv -T -- "$1" "$2" && touch -- "$2{STAGED}"'
# Kill what works in the folder $1: a server and its children are started there. (This shell works elsewhere.)
SWEEP = """
for each in /proc/[0-9]*; do
    [ "$(readlink "$each/cwd")" = "$1" ] && kill -9 "${each#/proc/}"
done 2>/dev/null
true
"""
_SERVER_HEADER = re.compile(rb"^Server: ([^\r\n]+)", re.MULTILINE | re.IGNORECASE)


class Running:
    """One program that serves clients as an arm says: a proxy, or a server. Whoever started it stops it."""

    def __init__(self, program: Program, node: Node, place: Place, process: Process) -> None:
        self.program = program
        self.folder = place.folder
        self.content = place.content  # the folder of what it answers from
        self.configuration = ""  # the text of its configuration file
        self.version = ""  # what it calls itself: Apache/2.4.62 (Debian)
        self._holds_log = False
        self._node = node
        self._process = process
        self._seen = {ERROR_LOG: 0, ACCESS_LOG: 0}

    @classmethod
    def begin(cls, node: Node, assignment: Assignment, program: Program) -> Self:
        """Start it; it answers when this returns."""
        prepared = _prepare(node, assignment, program)
        doors, question = asked_at(assignment.arm), prepared.set_up.question or QUESTION
        for door in doors:
            _require_free(node, door, question)
        with os.fdopen(os.memfd_create("output"), "rb") as output:
            process = node.spawn(prepared.command(prepared.set_up.argv), Stdio(None, output.fileno(), output.fileno()))
            running = cls(program, node, prepared.place, process)
            running.configuration = prepared.set_up.configuration
            running._holds_log = prepared.set_up.holds_log
            try:
                answer = _await_answer(node, doors[0], question, process, program.title)
            except BaseException:
                running.stop()
                raise
            if answer is None:
                raise prepared.failure(node, f"{program.title} {_how_it_ended(process)}", output)
        header = _SERVER_HEADER.search(answer)
        running.version = header[1].decode(errors="replace") if header else prepared.set_up.version
        return running

    def stop(self) -> None:
        """End it and all that it started. Its logs stay where they are until the next one starts."""
        politely_s = scaled(STOP_WITHIN_S) if self._holds_log else STOP_POLITELY_S
        self._end((self.program.graceful_signal, STOP_GRACEFULLY_S), (signal.SIGTERM, politely_s))

    def kill(self) -> None:
        """End it at once: its logs have been read. One that holds lines of its log ends as `stop` ends it."""
        if self._holds_log:
            self.stop()
        else:
            self._end()

    def _end(self, *steps: tuple[int, float]) -> None:
        """End it by signals that may take so long each, and by SIGKILL in the end."""
        with contextlib.suppress(TimeoutError):
            self._process.wait(0)
            # Its children may be left, and hold the port: a process group without its leader cannot be signalled.
            self._node.run(["sh", "-c", SWEEP, "sh", self.folder])
            return
        for number, within_s in (*steps, (signal.SIGKILL, scaled(STOP_WITHIN_S))):
            self._process.signal(number)  # to the whole group: children need not wait for their parent
            try:
                self._process.wait(within_s)
            except TimeoutError:
                if number == signal.SIGKILL:
                    raise
            else:
                return

    def require_alive(self) -> None:
        """Raises ServerError when it has ended by itself."""
        try:
            self._process.wait(0)
        except TimeoutError:
            return
        lines = "; ".join(self.error_lines()[-3:]) or "its error log says nothing"
        what = f"{self.program.title} {_how_it_ended(self._process)} by itself: {lines}"
        raise ServerError(what, "See the server's error log")

    def error_lines(self) -> list[str]:
        """Return the unexpected lines of its error log since the last call."""
        return self.program.unexpected(self._new_lines(ERROR_LOG))

    def files(self) -> dict[str, bytes]:
        """Return what a trial keeps of it: its configuration and its whole logs."""
        names = (self.program.configuration_file, ERROR_LOG, ACCESS_LOG)
        return {name: self._node.read(f"{self.folder}/{name}") for name in names}

    def _new_lines(self, log: str) -> list[str]:
        """Return new whole lines: the rest of a line that is being written comes next time."""
        data = self._node.read(f"{self.folder}/{log}")[self._seen[log] :]
        whole = data[: data.rfind(b"\n") + 1]
        self._seen[log] += len(whole)
        return whole.decode(errors="replace").splitlines()


class RunningServer(Running):
    """A web server."""

    def __init__(self, server: Server, node: Node, place: Place, process: Process) -> None:
        super().__init__(server, node, place, process)
        self.server = server

    @classmethod
    def start(cls, node: Node, assignment: Assignment) -> "RunningServer":
        """Start the arm's server; it answers when this returns."""
        return cls.begin(node, assignment, SERVERS[assignment.arm.server])

    def requests(self) -> list[Line]:
        """Return what it served since the last call. Requests of its own node are left out, except those of a proxy."""
        return list(self.server.requests(self._new_lines(ACCESS_LOG)))


def requests_until(
    servers: Sequence[RunningServer], complete: Callable[[Sequence[Line]], bool], within_s: float
) -> list[Line]:
    """Return what these servers served since the last call, when that is complete, or after that time: a request is
    logged when its last byte is handed over, which may be a moment after the client has it."""
    served, until = _requests(servers), time.monotonic() + scaled(within_s)
    while not complete(served) and time.monotonic() < until:
        time.sleep(READY_POLL_S)
        served += _requests(servers)
    return served


def _requests(servers: Sequence[RunningServer]) -> list[Line]:
    return [line for each in servers for line in each.requests()]


def check_configuration(node: Node, assignment: Assignment, program: Program | None = None) -> str:
    """Return the server's own opinion of an arm (or a proxy's), without starting it: the configuration, or InputError
    or ServerError."""
    program = program or SERVERS[assignment.arm.server]
    prepared = _prepare(node, assignment, program)
    with os.fdopen(os.memfd_create("output"), "rb") as output:
        command = prepared.command(prepared.set_up.check_argv)
        process = node.spawn(command, Stdio(None, output.fileno(), output.fileno()))
        if process.wait(scaled(READY_WITHIN_S)) != 0:
            raise prepared.failure(node, f"{program.title} refuses its configuration", output)
    return prepared.set_up.configuration


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Everything is in its place on the node."""

    program: Program
    place: Place
    set_up: SetUp

    def command(self, argv: list[str]) -> Command:
        return Command(with_open_files(argv), env=self.set_up.environment, cwd=self.place.folder)

    def failure(self, node: Node, what: str, output: BinaryIO) -> ServerError | InputError:
        """Return why it did not start, in its own words. A directive of the arm's that it refuses is the user's
        error."""
        output.seek(0)
        words = output.read().decode(errors="replace").strip()
        with contextlib.suppress(NodeError):
            words += "\n" + node.read(f"{self.place.folder}/{ERROR_LOG}").decode(errors="replace")
        refused = self.program.refused_directive(words, self.set_up.configuration)
        if refused:
            return refused
        lines = "; ".join(dict.fromkeys(line.strip() for line in words.splitlines() if line.strip()))
        lines = lines or "it said nothing"
        if "address already in use" in words.lower():
            return ServerError(f"{what}: its port is in use ({lines})", "End what listens there in the server node")
        return ServerError(f"{what}: {lines}", "See docs/reference/server.md")


def _prepare(node: Node, assignment: Assignment, program: Program) -> _Prepared:
    site, leaf = assignment.site, assignment.leaf
    if assignment.arm.tls != "off" and leaf is None:
        raise ServerError("a server that speaks TLS needs a certificate", "Make one with Authority.leaf")
    content = program.content(assignment)
    folder = f"{assignment.folder}/{program.name}"
    place = Place(folder, f"{assignment.folder}/sites/{site.name}-{content.digest}" if content else folder)
    set_up = program.set_up(node, assignment, place)
    files = {program.configuration_file: set_up.configuration.encode(), ERROR_LOG: b"", ACCESS_LOG: b"", **set_up.files}
    if leaf and assignment.arm.tls != "off":
        names = (place.certificate, leaf.certificate), (place.key, leaf.key)
        files |= {name.removeprefix(f"{place.folder}/"): path.read_bytes() for name, path in names}
    absent = node.run(["sh", "-c", MAKE_AND_LOOK, "sh", place.folder, place.content], stdin=_tar(files)).stdout
    if content and absent:
        _stage(node, content, place.content)
    return _Prepared(program, place, set_up)


def _stage(node: Node, content: Content, target: str) -> None:
    """What the server answers from, in the node's memory, made once: nothing is read from a disk during a trial, and
    every file has the same time whenever it was made."""
    tar = _tar(content.files(), content.folders)
    node.run(["sh", "-c", MAKE_WHOLE, "sh", f"{target}.part", target], stdin=tar)


def _tar(files: Mapping[str, bytes], folders: tuple[str, ...] = ()) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted({*files, *folders}):
            entry = tarfile.TarInfo(name.rstrip("/"))
            entry.mtime, entry.mode = MODIFIED_S, 0o600
            if name.endswith("/"):
                entry.type, entry.mode = tarfile.DIRTYPE, 0o700
                tar.addfile(entry)
            else:
                entry.size = len(files[name])
                tar.addfile(entry, io.BytesIO(files[name]))
    return data.getvalue()


def _require_free(node: Node, door: tuple[str, int], question: bytes) -> None:
    if node.exchange(*door, question):
        what = f"on {node.name}, something else answers at port {door[1]} already"
        raise ServerError(what, "End it: a trial must be served by its own server")


def _await_answer(node: Node, door: tuple[str, int], question: bytes, process: Process, title: str) -> bytes | None:
    """Return the server's first answer; None when it ended before."""
    until = time.monotonic() + scaled(READY_WITHIN_S)
    while time.monotonic() < until:
        answer = node.exchange(*door, question)
        with contextlib.suppress(TimeoutError):
            process.wait(0 if answer else READY_POLL_S)
            return None
        if answer:
            return answer
    what = f"{title} did not answer at port {door[1]} within {scaled(READY_WITHIN_S)} s"
    raise ServerError(what, "Is the machine very busy?")


def _how_it_ended(process: Process) -> str:
    return ended(process.wait(0))
