"""What a machine is and has, as seen from itself: for the checks before it becomes a node. Changes nothing there.

Runs on machines that ssh reaches, with any Python from 3.9 on and its standard library.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.system_path import SYSTEM_PATH
from lanelab.driver.bed.remote import namespaces
from lanelab.driver.bed.remote.kernel_probe import make_netem, must, refusal
from lanelab.driver.bed.remote.offloads import DEVICES, in_use, left, wires

ETHERNET = 1  # as /sys/class/net/*/type has it
CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN = 12, 13, 21
NEEDED_CAPABILITIES = (CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN)
PROBE_ETHERTYPE = 0x88B5  # for local experiments
BROADCAST = b"\xff" * 6
MAGIC = b"lanelab neighbour "
SENT_OF_EACH = 3
PROBE = "lanelab-probe"
TRY_MACVLAN = ("link add name probe0 type veth peer name probe1", "link add link probe0 name probe2 type macvlan")


class Interface(TypedDict):
    """One of Ethernet."""

    name: str
    mac: str
    mtu: int
    up: bool
    carrier: bool
    kind: str  # "": none that has a name
    physical: bool
    enslaved: bool  # of a bond or a bridge
    management: bool  # ssh comes through it
    wires: list[str]  # the interfaces of hardware that it lies on
    wire_of_management: str  # one of these that ssh comes through; "": none


class MachineReport(TypedDict):
    """A machine as it describes itself. What is in the way of something is "" where nothing is."""

    kernel: str
    architecture: str
    system: str
    python: str
    processors: int
    memory_mib: int
    management_address: str
    interfaces: list[Interface]
    programs: dict[str, str]  # where each is; "": nowhere
    lacks_capabilities: bool
    no_namespaces: str
    no_macvlan: str
    no_netem: str
    uml_modules: bool
    in_use: list[str]
    left: list[str]  # interfaces whose offloads are not yet as they were


def facts(programs: list[str], connection: str) -> MachineReport:
    """Look at this machine. `connection` is SSH_CONNECTION, which tells which of our addresses ssh came to."""
    words = connection.split()
    here = words[2] if len(words) > 2 else ""
    return {
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "system": _system(),
        "python": platform.python_version(),
        "processors": len(os.sched_getaffinity(0)),
        "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        "management_address": here,
        "interfaces": _interfaces(here),
        "programs": {name: _program(name) for name in programs},
        "lacks_capabilities": _lacks_capabilities(),
        "no_namespaces": _attempt(lambda: None),
        "no_macvlan": _attempt(_make_macvlan),
        "no_netem": _attempt(make_netem),
        "uml_modules": any(Path("/usr/lib/uml/modules").glob("*/modules.dep")),
        "in_use": in_use(),
        "left": left(),
    }


def _system() -> str:
    values = {}
    try:
        lines = Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return "unknown"
    for line in lines:
        key, _, value = line.partition("=")
        values[key] = value.strip("\"'")
    return values.get("ID", "unknown") + "-" + values.get("VERSION_ID", "unknown")


def _program(name: str) -> str:
    """Return where it is; a slash in front: a file that has to be there."""
    if name.startswith("/"):
        return name if os.access(name, os.X_OK) else ""
    return shutil.which(name, path=SYSTEM_PATH) or ""


def _lacks_capabilities() -> bool:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            held = int(line.split()[1], 16)
            return not all(held & 1 << number for number in NEEDED_CAPABILITIES)
    return True


def _interfaces(here: str) -> list[Interface]:
    interfaces: list[Interface] = []
    carriers = _carriers(here)
    below = {each for carrier in carriers for each in wires(carrier)}
    for folder in sorted(DEVICES.iterdir()):
        if _read(folder / "type") != str(ETHERNET):
            continue
        kind = [line[8:] for line in _read(folder / "uevent").splitlines() if line.startswith("DEVTYPE=")]
        interfaces.append(
            {
                "name": folder.name,
                "mac": _read(folder / "address"),
                "mtu": int(_read(folder / "mtu") or 0),
                "up": bool(int(_read(folder / "flags") or "0", 16) & 1),
                "carrier": _read(folder / "carrier") == "1",
                "kind": kind[0] if kind else "tun" if (folder / "tun_flags").exists() else "",
                "physical": (folder / "device").exists(),
                "enslaved": (folder / "master").exists(),
                "management": folder.name in below,
                "wires": wires(folder.name),
                "wire_of_management": next((each for each in wires(folder.name) if each in below), ""),
            }
        )
    return interfaces


def _carriers(here: str) -> list[str]:
    """Return the interfaces that ssh comes through: that with the address it came to; where none of Ethernet has it (a
    reverse tunnel ends at the loopback), those that packets to elsewhere take."""
    address, _, zone = here.partition("%")
    names = [zone] if zone else []
    if address and not zone:
        names = re.findall(r"^\d+: (\S+)", _ip("-o", "addr", "show", "to", address), re.MULTILINE)
    ethernet = [name for name in names if _read(DEVICES / name / "type") == str(ETHERNET)]
    return ethernet or [
        name for version in ("-4", "-6") for name in re.findall(r" dev (\S+)", _ip(version, "route", "show", "default"))
    ]


def _ip(*words: str) -> str:
    done = subprocess.run(
        ["ip", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": SYSTEM_PATH},
        check=False,
    )
    return done.stdout.decode(errors="replace")


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""


def _attempt(step: Callable[[], None]) -> str:
    """What is in the way of that step, in namespaces of its own; empty where it works."""
    why = refusal(step, namespaces.CLONE_NEWNS | namespaces.CLONE_NEWNET)
    return str(LanelabError(*why)) if why else ""


def _make_macvlan() -> None:
    for line in TRY_MACVLAN:
        must(["ip", *line.split()])


def refuses_macvlan(device: str) -> str:
    """Return why none can be made on that interface. It is made into a child's namespace, and goes with it."""
    ours, theirs = os.pipe()
    held, holding = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(holding)
            namespaces.unshare(namespaces.CLONE_NEWNET)
            os.write(theirs, b"+")
            os.read(held, 1)
        finally:
            os._exit(0)
    try:
        for fd in (theirs, held):
            os.close(fd)
        if not os.read(ours, 1):
            return "no namespace can be made for it"
        must(["ip", *f"link add link {device} name {PROBE} netns {child} type macvlan mode bridge".split()])
    except OSError as error:
        return str(error)
    finally:
        os.close(holding)
        os.close(ours)
        os.waitpid(child, 0)
    return ""


class Neighbours:
    """Finds the interfaces of other machines on our wire, with a few broadcast frames that nobody else heeds."""

    def __init__(self, devices: list[str]) -> None:
        self._sockets = {}
        for device in devices:
            probe = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(PROBE_ETHERTYPE))
            probe.bind((device, PROBE_ETHERTYPE))
            probe.setblocking(False)
            self._sockets[device] = probe

    def send(self, token: str) -> None:
        for device, probe in self._sockets.items():
            frame = BROADCAST + probe.getsockname()[4] + PROBE_ETHERTYPE.to_bytes(2, "big")
            for number in range(SENT_OF_EACH):
                if number:
                    time.sleep(0.01)
                probe.send((frame + MAGIC + token.encode() + b" " + device.encode()).ljust(60, b"\0"))

    def heard(self) -> list[list[str]]:
        """Return [our device, their token, their device] of each frame that came."""
        callers = []
        for device, probe in self._sockets.items():
            while True:
                try:
                    frame, sender = probe.recvfrom(2048)
                except BlockingIOError:
                    break
                data = frame[14:].rstrip(b"\0")
                if sender[2] != socket.PACKET_OUTGOING and data.startswith(MAGIC):
                    callers.append([device, *data[len(MAGIC) :].decode(errors="replace").split(" ", 1)])
        return callers

    def close(self) -> None:
        for probe in self._sockets.values():
            probe.close()
