"""Puts a link on the nodes of a bed, by programs that go on running there: `tc`, `ip` and a shell on the router, `ip`
and a shell on client and server."""

import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypedDict

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import CommandFailed, LinkError, RecordError
from lanelab.driver.bed.batch_program import IP, SHELL, TC, BatchProgram
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link.hosts.host import KERNELS_OWN, USUAL_KERNEL
from lanelab.driver.link.shaping.shaping import Shaping, unshape_lines

FORWARDING = "net.ipv4.ip_forward"
# What already is as it should be is left alone: containers let nobody write there. A shell's own `read` goes byte by
# byte, of which these files give only the first: `cat` it is.
PUT = 'put() { path=$1 wanted=$2; set -- $(cat "$path"); [ "$*" = "$wanted" ] || printf %s "$wanted" >"$path"; }'


class QueueState(TypedDict):
    """One of the router's queueing disciplines, as `tc -s -j qdisc show` has it."""

    dev: str
    kind: str
    handle: str
    qlen: int  # packets


class Shaper:
    """The programs on the nodes, and what hosts had of their own before a link changed it."""

    def __init__(self, substrate: Substrate) -> None:
        self._substrate = substrate
        self._programs: dict[tuple[str, str], BatchProgram] = {}
        self.kept: dict[tuple[str, str], str] = {}  # (node, setting) -> value

    def forward(self, *, on: bool) -> None:
        """Let packets pass the router, or none at all."""
        self._tell("router", [f"printf {int(on)} >{_path(FORWARDING)}"])  # which starts no program in there

    def apply(self, shaping: Shaping) -> None:
        """Make a link, instead of the one that is there. Raises BedError, and leaves half of it."""
        with ThreadPoolExecutor(3) as pool:
            parts = [
                pool.submit(self._apply_router, shaping),
                pool.submit(self._apply_host, "client", shaping.client_ip, shaping.client_kernel),
                pool.submit(self._apply_host, "server", shaping.server_ip, shaping.server_kernel),
            ]
        for part in parts:
            part.result()

    def queues(self) -> list[QueueState]:
        """Return what the router has now. Raises LinkError where tc does not tell."""
        try:
            _, shown = self._program("router", TC).ask([])
            return parsed(list[QueueState], shown, "what tc shows of the router's queues")
        except RecordError as error:
            raise LinkError(f"the router does not tell what waits in its queues: {error}", "Start a new bed") from error

    def congestion_controls(self, name: str) -> list[str]:
        """Return those that a node's kernel has."""
        return self._read(name, "net.ipv4.tcp_available_congestion_control").split()

    def _apply_router(self, shaping: Shaping) -> None:
        tc, undone = self._program("router", TC), unshape_lines()
        tc.ask(undone, may_fail=len(undone))
        if shaping.router_ip:
            self._ask("router", IP, shaping.router_ip)
        self._ask("router", TC, shaping.router_tc)
        wanted = sorted(_wanted(line) for line in shaping.router_tc if line.startswith("qdisc add"))
        # what a device has by itself shows handle 0:
        present = sorted((entry["dev"], entry["kind"]) for entry in self.queues() if entry["handle"] != "0:")
        if wanted != present:
            raise LinkError(f"the router holds {present} where {wanted} was asked for")

    def _apply_host(self, name: str, ip: Sequence[str], kernel: Sequence[str]) -> None:
        self._ask(name, IP, ip)
        wanted = dict(line.split("=") for line in kernel)
        self._put(name, {**USUAL_KERNEL, **self._kept(name, wanted), **wanted})

    def _kept(self, name: str, wanted: Mapping[str, str]) -> dict[str, str]:
        """Return what an earlier link changed of the host's own. What this one is about to change is remembered."""
        for setting in KERNELS_OWN:
            if setting in wanted and (name, setting) not in self.kept:
                self.kept[name, setting] = self._read(name, setting)
        return {setting: value for (node, setting), value in self.kept.items() if node == name}

    def _read(self, name: str, setting: str) -> str:
        path = _path(setting)
        words, _ = self._program(name, SHELL).ask([f"cat {path}"])
        return " ".join(" ".join(words).split())

    def _put(self, name: str, wanted: Mapping[str, str]) -> None:
        self._tell(name, [PUT, *(f"put {_path(setting)} {shlex.quote(value)}" for setting, value in wanted.items())])

    def _tell(self, name: str, lines: Sequence[str]) -> None:
        complaints, _ = self._program(name, SHELL).ask(lines)
        if complaints:
            raise LinkError(f"the {name}'s kernel does not let itself be set: {'; '.join(complaints)}")

    def _ask(self, name: str, program: tuple[Sequence[str], str], lines: Sequence[str]) -> None:
        try:
            self._program(name, program).ask(lines)
        except CommandFailed as error:
            raise LinkError(f"{error.what} (lines: {'; '.join(lines)})") from error

    def _program(self, name: str, program: tuple[Sequence[str], str]) -> BatchProgram:
        key = name, program[1]
        if key not in self._programs:
            node = self._substrate.router.node if name == "router" else self._substrate.node(name)
            self._programs[key] = BatchProgram(node, program)
        return self._programs[key]


def _path(setting: str) -> str:
    return f"/proc/sys/{setting.replace('.', '/')}"


def _wanted(line: str) -> tuple[str, str]:
    words = line.split()
    device = words[words.index("dev") + 1]
    if words[-1] == "ingress":
        return device, "ingress"
    after = "root" if "root" in words else "parent"
    rest = words[words.index(after) + (1 if after == "root" else 2) :]
    return device, rest[2]
