"""The UML router: a Linux kernel that runs as an ordinary process.

It brings its own tc, so neither this machine's kernel nor its administrator has to; and the kernel that emulates
the link is the same wherever lanelab runs. Its root file system is this machine's own (hostfs), its memory is a
file in the bed's /run, its interfaces are packet sockets on veths: two for the link and one for management, over which
the agent inside connects to the bed process. (Not over a serial line: the kernel's emulated one was seen to lose
wake-ups when a few KiB waited in it.)
"""

import contextlib
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path

from lanelab.driver.base.errors import BedError, RouterError
from lanelab.driver.base.programs.find_program import find, search_path
from lanelab.driver.base.units import Rate
from lanelab.driver.bed.addresses import (
    BED_ROUTER_MANAGEMENT,
    HOSTS,
    ROUTER_MANAGEMENT,
    Host,
    bed_router_lines,
    router_lines,
    router_management_lines,
)
from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.agent_node import AgentNode
from lanelab.driver.bed.commands import disable_offloads, program, run_ip
from lanelab.driver.bed.netns import nodes as netns
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.remote import uml_boot
from lanelab.driver.bed.remote.uml_boot import MODULES, MODULES_ROOT
from lanelab.driver.bed.remote_files import remote_files
from lanelab.driver.bed.routers.lateness import ROUTER_LATENESS
from lanelab.driver.bed.routers.pulse import Pulse
from lanelab.driver.bed.routers.router import Router

BOOT_TIMEOUT_S = 60


def installed() -> str | None:
    """Return None when this machine can run the UML router, else what it lacks."""
    if platform.machine() != "x86_64":
        return f"the UML kernel is an x86-64 program and this machine is {platform.machine()}"
    if find("linux.uml") is None:
        return "the program 'linux.uml' is not installed (Debian's package user-mode-linux)"
    if not (MODULES_ROOT.is_dir() and any(MODULES_ROOT.glob("*/modules.dep"))):
        return f"there are no modules in {MODULES_ROOT} (Debian's package user-mode-linux)"
    return None


def _packet_socket(device: str) -> socket.socket:
    disable_offloads(device)
    return uml_boot.packet_socket(device)


def _copy_compiled(source: Path, target: Path) -> None:
    """Copy a Python file together with what it compiles to: the same Python runs inside, where compiling takes long."""
    shutil.copy2(source, target)
    compiled = Path(cache_from_source(str(source)))
    if not compiled.exists() or compiled.stat().st_mtime < source.stat().st_mtime:
        SourceFileLoader(source.stem, str(source)).get_code(source.stem)  # which keeps it where it may
    if compiled.exists():
        goal = Path(cache_from_source(str(target)))
        goal.parent.mkdir(exist_ok=True)
        shutil.copyfile(compiled, goal)


def inside_lines() -> list[str]:
    """Return `ip` lines inside the kernel, whose interfaces are numbered as they were given to it."""
    devices = (*(host.router_port.device for host in HOSTS), ROUTER_MANAGEMENT.device)
    names = {f"vec{number}": device for number, device in enumerate(devices)}
    return [*router_lines(names), *router_management_lines()]


class UmlRouter(Router):
    """Boots the kernel in `start`, which returns at once; `finish` waits for it and configures it."""

    kind = "uml"
    compensation_us = ROUTER_LATENESS["uml"].ns // 1000
    proven = Rate.parse("100mbit")

    def __init__(self, state: Path, log: Path, hosts: dict[str, netns.NetnsNode], cpus: str = "") -> None:
        self._log = log
        self._agent: AgentConnection | None = None
        self._node: AgentNode | None = None
        self._closing = False
        self._on_loss: Callable[[str], None] = lambda _why: None
        self.kernel = ""
        # The kernel reads them. We keep them open too, to ask what they had to drop.
        self._cables = [self._plug(host, hosts[host.name]) for host in HOSTS]
        with self._plug_management() as management:
            self._listener = socket.create_server((BED_ROUTER_MANAGEMENT.address, 0))
            self._process = self._boot(state, [*self._cables, management], cpus)

    @property
    def node(self) -> Node:
        if self._node is None:
            raise RouterError("the UML router has not booted")
        return self._node

    def _plug(self, host: Host, node: netns.NetnsNode) -> socket.socket:
        """Lay a veth from the host to here, and return a packet socket on our end that the kernel takes as its
        interface."""
        device = f"to-{host.name}"
        run_ip(
            [
                f"link add {device} type veth peer name {host.port.device} netns {node.network}",
                f"link set dev {device} up",
            ],
            inherited=node.descriptors,
        )
        return _packet_socket(device)

    def _plug_management(self) -> socket.socket:
        ours, theirs = BED_ROUTER_MANAGEMENT.device, "to-router"
        run_ip([f"link add {theirs} type veth peer name {ours}", f"link set dev {theirs} up", *bed_router_lines()])
        disable_offloads(ours)
        return _packet_socket(theirs)

    def _boot(self, state: Path, cables: list[socket.socket], cpus: str) -> subprocess.Popen[bytes]:
        inside = state / "router"
        inside.mkdir()
        for name, path in remote_files().items():
            (inside / name).parent.mkdir(parents=True, exist_ok=True)
            _copy_compiled(path, inside / name)
        (inside / "settings.json").write_text(json.dumps(self._settings()))
        argv = [
            *([program("taskset"), "--cpu-list", cpus] if cpus else []),
            *uml_boot.command(program("linux.uml"), state, cables, sys.executable),
        ]
        return uml_boot.start(argv, state, self._log, cables, search_path())

    def _settings(self) -> dict[str, object]:
        """Return the settings for the router's first process."""
        return {
            "modules_folder": str(uml_boot.modules_folder()),
            "modules": MODULES,
            "ip_lines": inside_lines(),
            "bed": self._listener.getsockname(),
        }

    def finish(self) -> None:
        deadline = time.monotonic() + BOOT_TIMEOUT_S
        self._listener.settimeout(0.2)
        while self._agent is None:
            with contextlib.suppress(TimeoutError):
                connection, _ = self._listener.accept()
                uml_boot.watch_connection(connection)
                self._agent = AgentConnection("router", connection)
            if self._agent is None and self._process.poll() is not None:
                raise self._failed("ended while it booted")
            if self._agent is None and time.monotonic() > deadline:
                raise self._failed(f"did not boot within {BOOT_TIMEOUT_S} s")
        self._listener.close()
        try:
            self.kernel = self._agent.await_hello(BOOT_TIMEOUT_S)["kernel"]
        except TimeoutError:
            raise self._failed("booted, but its agent is silent") from None
        self._node = AgentNode("router", self._agent)
        # A kernel that is killed closes no connection.
        threading.Thread(target=self._end_with_process, args=(self._agent,), name="router", daemon=True).start()
        self.forward(on=True)

    def lost_at_input(self) -> int:
        return uml_boot.dropped(self._cables)

    def pulse(self) -> Pulse:
        return Pulse(ROUTER_MANAGEMENT.address, self._process.pid)

    def _end_with_process(self, agent: AgentConnection) -> None:
        self._process.wait()
        agent.close()
        if not self._closing:
            self._on_loss("the UML router ended by itself")

    def when_lost(self, callback: Callable[[str], None]) -> None:
        self._on_loss = callback

    def _failed(self, what: str) -> BedError:
        log = self._log.read_text(errors="replace")
        panic = re.search(r"panic[^\n]*|lanelab:[^\n]*|No space left[^\n]*", log)
        last = panic.group(0) if panic else (log.strip().splitlines() or ["its console is empty"])[-1]
        return RouterError(f"the UML router {what}: {last.strip()}", f"Its console: {self._log}")

    def close(self) -> None:
        self._closing = True
        if self._agent:
            self._agent.close()
        for cable in self._cables:
            cable.close()
        if self._process.poll() is None:
            try:
                self._process.wait(0.3)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, 9)
                self._process.wait()
