"""The three virtual machines of lanelab: client, router and server."""

import shlex
from collections.abc import Callable, Sequence
from typing import TypedDict

from lanelab.driver.bed.vagrant import inventory, libvirt
from lanelab.driver.bed.vagrant.machines import Machine, destroy, halt, make_box, prepare_programs, up
from lanelab.driver.bed.vagrant.machines import status as states

__all__ = [
    "Libvirtd",
    "Machine",
    "MachinesStatus",
    "destroy",
    "halt",
    "make_box",
    "prepare_programs",
    "ssh_command",
    "status",
    "up",
]


class Libvirtd(TypedDict):
    """The libvirtd that lanelab started."""

    pid: int
    uri: str
    driver: str


class MachinesStatus(TypedDict):
    """The virtual machines, and what runs them; None: this machine's own libvirtd."""

    machines: list[Machine]
    libvirtd: Libvirtd | None


def status(tell: Callable[[str], None]) -> MachinesStatus:
    """Return which machines there are, where they are reached, and what runs them."""
    machines = states(tell)
    daemon = libvirt.ours()
    ours: Libvirtd | None = {"pid": daemon.pid, "uri": libvirt.own_uri(), "driver": daemon.driver} if daemon else None
    return {"machines": machines, "libvirtd": ours}


def ssh_command(machine: str, command: Sequence[str], *, on_terminal: bool) -> list[str]:
    """Return the program that logs in to a machine, or runs a command there. Raises VmError where none is up."""
    inventory.require_up()
    terminal = ["-t"] if command and on_terminal else []
    words = [shlex.join(command)] if command else []
    return ["ssh", "-F", str(inventory.ssh_config_file()), *terminal, machine, *words]
