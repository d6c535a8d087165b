"""The UML router: a Linux kernel that runs as an ordinary process.

It brings its own tc, so neither this machine's kernel nor its administrator has to; and the kernel that emulates
the link is the same wherever lanelab runs. Its root file system is this machine's own (hostfs), its memory is a
file in the bed's /run, its two link interfaces are packet sockets on veths, its commands come over a serial line.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from driver.bed import netns
from driver.bed.agent_node import AgentLink, AgentNode
from driver.bed.node import Node
from driver.bed.router import Router
from driver.topology import HOSTS, Host, router_lines
from driver.errors import BedError, NodeError, RouterError

MODULES_ROOT = Path("/usr/lib/uml/modules")
MODULES = (
    "sch_netem", "sch_tbf", "sch_fq_codel", "sch_cake", "sch_ingress", "ifb", "act_mirred", "cls_matchall", "veth"
)  # fmt: skip
MEMORY = "192M"
BOOT_TIMEOUT_S = 60
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23
ETH_P_ALL = 3


def installed() -> str | None:
    """None when this machine can run the UML router, else what it lacks."""
    if platform.machine() != "x86_64":
        return f"the UML kernel is an x86-64 program and this machine is {platform.machine()}"
    if shutil.which("linux.uml", path=netns.search_path()) is None:
        return "the program 'linux.uml' is not installed (package user-mode-linux)"
    if not (MODULES_ROOT.is_dir() and any(MODULES_ROOT.glob("*/modules.dep"))):
        return f"there are no modules in {MODULES_ROOT} (package user-mode-linux)"
    return None


class UmlRouter(Router):
    """Boots the kernel in `start`, which returns at once; `finish` waits for it and configures it."""

    kind = "uml"
    compensation_us = 150

    def __init__(self, state: Path, log: Path, hosts: dict[str, netns.NetnsNode], cpus: str = "") -> None:
        self._log = log
        cables = [self._plug(host, hosts[host.name]) for host in HOSTS]
        ours, theirs = socket.socketpair()
        self._process = self._boot(state, cables, theirs, cpus)
        theirs.close()
        for cable in cables:
            cable.close()
        self._link = AgentLink("router", ours)
        self._node = AgentNode("router", self._link)
        self.kernel = ""

    @property
    def node(self) -> Node:
        return self._node

    def _plug(self, host: Host, node: netns.NetnsNode) -> socket.socket:
        """A veth from the host to here, and a packet socket on our end that the kernel takes as its interface."""
        device = f"to-{host.name}"
        netns.run_ip(
            [
                f"link add {device} type veth peer name {host.port.device} netns {node.network}",
                f"link set dev {device} up",
            ],
            inherited=node.descriptors,
        )
        netns.disable_offloads(device)
        cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        cable.bind((device, ETH_P_ALL))
        cable.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        cable.setblocking(False)
        return cable

    def _boot(
        self, state: Path, cables: list[socket.socket], line: socket.socket, cpus: str
    ) -> subprocess.Popen[bytes]:
        folder = max(MODULES_ROOT.glob("*/modules.dep"), key=lambda path: path.stat().st_mtime).parent
        init = Path(__file__).with_name("uml_init.py").resolve()
        interfaces = [
            f"vec{number}:transport=fd,fd={cable.fileno()},vec=0" for number, cable in enumerate(cables)
        ]
        interpreter = str(Path(sys.executable).resolve())
        argv = [
            *([netns.program("taskset"), "--cpu-list", cpus] if cpus else []),
            netns.program("linux.uml"),
            *(f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "devtmpfs.mount=1"),
            *("con=null", "con0=null,fd:1", "ssl=null", f"ssl0=fd:{line.fileno()}", f"uml_dir={state}/uml"),
            *interfaces,
            f"init={interpreter}",
            "--",
            *("-I", "-S", str(init), str(folder), *MODULES),
        ]
        (state / "uml").mkdir(exist_ok=True)
        with self._log.open("wb") as log:
            return subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"TMPDIR": str(state), "HOME": str(state), "PATH": netns.search_path()},
                pass_fds=[cable.fileno() for cable in cables] + [line.fileno()],
                start_new_session=True,
            )

    def finish(self) -> None:
        try:
            hello: dict[str, Any] = self._link.await_hello(BOOT_TIMEOUT_S)
        except TimeoutError:
            raise self._failed(f"did not boot within {BOOT_TIMEOUT_S} s") from None
        except NodeError:
            raise self._failed("did not boot") from None
        self.kernel = hello["kernel"]
        netns.run_ip(router_lines({"vec0": "to_client", "vec1": "to_server"}), node=self._node)
        self.forward(on=True)

    def _failed(self, what: str) -> BedError:
        log = self._log.read_text(errors="replace")
        panic = re.search(r"panic[^\n]*|lanelab:[^\n]*|No space left[^\n]*", log)
        last = panic.group(0) if panic else (log.strip().splitlines() or ["its console is empty"])[-1]
        return RouterError(f"the UML router {what}: {last.strip()}", f"Its console: {self._log}")

    def close(self) -> None:
        self._node.close()
        if self._process.poll() is None:
            try:
                self._process.wait(0.3)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, 9)
                self._process.wait()
