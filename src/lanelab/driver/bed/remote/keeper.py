"""A machine's own side of an ssh bed: answers questions about it, then becomes a node.

    sudo                   (where the user is not root)
     └─ keeper             started by ssh; owns what is outside of namespaces, and ends the node when nobody is heard
         └─ launcher, init     driver/bed/remote/enclosure.py
             └─ agent          in namespaces of its own; speaks with the bed process from then on
    guard                  outlives them all; restores when the keeper is killed

Questions and answers are JSON lines on stdin and stdout, which become the agent's. `hold` is the last question. It runs
out of an archive in memory: no file is written there. How long silence may be the controller says; where no question
comes, an alarm of the kernel's ends us.
Runs on machines that ssh reaches, with any Python from 3.9 on and its standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from lanelab.driver.base.system_path import SYSTEM_PATH
from lanelab.driver.bed.remote import enclosure, namespaces
from lanelab.driver.bed.remote.agent import Agent
from lanelab.driver.bed.remote.examine import Neighbours, facts, refuses_macvlan
from lanelab.driver.bed.remote.guard import Guard, put_back, remove_cables
from lanelab.driver.bed.remote.offloads import Interfaces, InUse, in_use

LINE_IN, LINE_OUT = 0, 1
PASSING_NAME = "lanelab-cable"
END_WITHIN_S = 5.0


def main(connection: str, question_within_s: int) -> None:
    questions = _Questions(connection)
    while True:
        signal.alarm(question_within_s)
        question = json.loads(_read_line() or "null")
        signal.alarm(0)
        if question is None:
            return
        try:
            if question["op"] == "hold":
                hold(question)
                return
            _say({"ok": questions.answer(question)})
        except Exception as error:  # noqa: BLE001 - whatever it is, who asked must hear of it
            _say({"error": str(error) or repr(error), "passes": isinstance(error, InUse)})


class Question(TypedDict, total=False):
    """A question: its name, and the words that it needs."""

    op: str
    programs: list[str]
    ahead_s: float
    devices: list[str]
    token: str
    device: str


class Answer(TypedDict, total=False):
    """One of the first two."""

    ok: object
    error: str
    passes: bool  # what is in the way may be gone later


class Cable(TypedDict):
    """A macvlan for the node."""

    on: str  # the machine's interface
    name: str  # in the node
    mac: str


class Order(TypedDict):
    """The words of `hold`."""

    name: str  # of the node
    cables: list[Cable]
    cpus: list[int]  # none: all
    marker: str
    silence_s: float  # so long nobody may be heard


class _Questions:
    """The questions to a machine before it becomes a node."""

    def __init__(self, connection: str) -> None:
        self._connection = connection
        self._neighbours = Neighbours([])

    def answer(self, question: Question) -> object:
        answers: dict[str, Callable[[], object]] = {
            "facts": lambda: facts(question["programs"], self._connection),
            "clock": time.time,
            "set-clock": lambda: set_clock(question["ahead_s"]),
            "listen": lambda: self._listen(question["devices"]),
            "call": lambda: self._neighbours.send(question["token"]),
            "heard": self._neighbours.heard,
            "refuses-macvlan": lambda: refuses_macvlan(question["device"]),
        }
        if question["op"] not in answers:
            raise OSError("there is no question '" + question["op"] + "'")
        return answers[question["op"]]()

    def _listen(self, devices: list[str]) -> None:
        self._neighbours.close()
        self._neighbours = Neighbours(devices)


def set_clock(ahead_s: float) -> None:
    """Set the clock back. Not while a bed uses the machine: the step would be in that bed's captures and logs."""
    if not in_use():
        time.clock_settime(time.CLOCK_REALTIME, time.time() - ahead_s)


def _read_line() -> bytes:
    """Read a line byte by byte: what comes after it may be the agent's."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(LINE_IN, 1)
        if not byte:
            return b""
        line += byte
    return line


def _say(message: Answer) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(LINE_OUT, data) :]


def hold(order: Order) -> None:
    """Keep a node for as long as the controller is heard."""
    interfaces = Interfaces(cable["on"] for cable in order["cables"])
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _end)
    os.environ.clear()
    os.environ.update(PATH=SYSTEM_PATH, HOME="/run", LANG="C.UTF-8", LANELAB_BED=order["marker"])
    node: _Node | None = None
    try:
        interfaces.take()
        guard = Guard(interfaces)
        node = _Node(order, [guard.fileno(), *interfaces.locks])
        guard.take_over(node.network, node.cables)
        node.plug(order["cables"])
        _say({"ok": None})
        node.go()
        _let_go_of_stdio()
        node.watch(order["silence_s"])
    finally:
        if node:
            node.end()
        put_back(interfaces)


def _end(_number: int, _frame: object) -> None:
    raise SystemExit(1)


def _let_go_of_stdio() -> None:
    """Leave stdin and stdout to the agent: they must close when it ends."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (LINE_IN, LINE_OUT, 2):
        os.dup2(null, fd)


class _Node:
    """The namespaces of a node and the agent in them, from outside."""

    def __init__(self, order: Order, not_its: list[int]) -> None:
        self._socket, theirs = socket.socketpair()
        self._beats, beat = os.pipe()
        self.network = -1
        self.cables = [cable["name"] for cable in order["cables"]]
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    signal.signal(number, signal.SIG_DFL)
                namespaces.die_with_parent(parent)
                for fd in (self._socket.fileno(), self._beats, *not_its):
                    os.close(fd)
                _inside(order, theirs, beat)
            finally:
                os._exit(1)
        theirs.close()
        os.close(beat)
        announcement, fds, _, _ = socket.recv_fds(self._socket, 2000, 1)
        if announcement != b"+":
            raise OSError(announcement.decode(errors="replace") or "its namespaces could not be made")
        self.network = fds[0]

    def plug(self, cables: list[Cable]) -> None:
        """A macvlan on each interface: frames with its address are the node's, all others stay this machine's."""
        for cable in cables:
            # Not by its own name: kernels before 6.15 look whether that is taken here, and not where it will be.
            words = f"link add link {cable['on']} name {PASSING_NAME} address {cable['mac']}"
            where = f"netns /proc/self/fd/{self.network}"
            self._ip(cable, [*words.split(), *where.split(), "type", "macvlan", "mode", "bridge"])
            self._ip(cable, ["link", "set", "dev", PASSING_NAME, "name", cable["name"]], inside=True)

    def _ip(self, cable: Cable, words: list[str], *, inside: bool = False) -> None:
        enter = ["nsenter", f"--net=/proc/self/fd/{self.network}"] if inside else []
        done = subprocess.run(
            [*enter, "ip", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[self.network],
            check=False,
        )
        if done.returncode != 0:
            complaint = " ".join(done.stdout.decode(errors="replace").split())
            raise OSError("no macvlan can be made on " + cable["on"] + ": " + complaint)

    def go(self) -> None:
        self._socket.send(b"+")

    def watch(self, silence_s: float) -> None:
        """Until the agent ends, or nobody has been heard by it for so long."""
        last_sign = time.monotonic()
        while True:
            left = last_sign + silence_s - time.monotonic()
            ready, _, _ = select.select([self._beats], [], [], max(left, 0))
            if not ready or not os.read(self._beats, 4096):
                return
            last_sign = time.monotonic()

    def end(self) -> None:
        """The kernel ends all that is in it with its first process, and that dies with ours."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        until = time.monotonic() + END_WITHIN_S
        while time.monotonic() < until and select.select([self._beats], [], [], 0.1)[0] and os.read(self._beats, 4096):
            continue  # the agent is the only one that holds the other end
        if self.network >= 0:
            remove_cables(self.network, self.cables)


def _inside(order: Order, keeper: socket.socket, beat: int) -> None:
    """In the child: make the namespaces, and be the agent in them."""
    try:
        # The launcher and init close all that they have, so the socket to the keeper is ours alone.
        spaces = namespaces.CLONE_NEWNET | namespaces.CLONE_NEWIPC | namespaces.CLONE_NEWUTS
        enclosure.enter(spaces)
        namespaces.mount_sys()
        namespaces.name_host(order["name"])
        Path(enclosure.BED_STATE).mkdir()
        os.chdir("/")
        os.umask(0o022)
        if order["cpus"]:
            os.sched_setaffinity(0, order["cpus"])
        namespaces.precise_timers()
        network = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        socket.send_fds(keeper, [b"+"], [network])
        os.close(network)
    except BaseException as error:  # noqa: BLE001 - the keeper passes it on
        keeper.send((str(error) or repr(error)).encode()[:2000])
        os._exit(1)
    if keeper.recv(1) != b"+":
        os._exit(1)
    keeper.close()
    os.set_blocking(beat, False)

    def on_beat() -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(beat, b".")

    Agent(LINE_IN, LINE_OUT, on_beat).serve()
    sys.stdout.flush()
    os._exit(0)
