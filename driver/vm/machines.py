"""Up, halt, destroy: what the commands of `lanelab vm` do, one at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from driver.errors import VmError
from driver.prepare import prepare
from driver.vm import accelerator, box, inventory, libvirt, vagrant

Tell = Callable[[str], None]
PROVIDER_VARIABLE = "LANELAB_VM_PROVIDER"
MEMORY_MIB = 3000  # of all three, with what QEMU needs besides
HAND = (
    "by hand: lanelab vm ssh client (router, server); there, `ping server`, and in the router "
    "`sudo tc qdisc add dev eth1 root netem delay 20ms`"
)


@dataclass(frozen=True)
class Machine:
    """One of the three, as `lanelab vm status` shows it."""

    name: str
    state: str  # as Vagrant calls it: running, shutoff, not_created, …
    address: str  # where ssh reaches it; empty where it is not up

    def to_json(self) -> dict[str, str]:
        return asdict(self)


def uses_libvirt() -> bool:
    return (os.environ.get(PROVIDER_VARIABLE) or "libvirt") == "libvirt"


def prepare_programs() -> None:
    """See to it that what the commands call is installed."""
    prepare("vm" if uses_libvirt() else "vm virtualbox")


def up(tell: Tell, *, provision: bool = False) -> dict[str, int]:
    """Bring the machines up, prepared; how many tasks Ansible had to change in each (nothing where it did not run)."""
    _require_memory(tell)
    with vagrant.only_one("up"):
        if uses_libvirt():
            _ready_libvirt(tell)
        begun = time.monotonic()
        words = ["up", *(["--provision"] if provision else [])]
        said = vagrant.run(words, tell, what="bringing the machines up", log_name="up")
        inventory.write(vagrant.run(["ssh-config"], tell, what="asking where they are", log_name="ssh-config"))
        tell(f"up after {time.monotonic() - begun:.0f} s; {HAND}")
    return vagrant.changes(said)


def provision(tell: Tell) -> dict[str, int]:
    """Run the playbook on the machines that are up; how many tasks changed something in each."""
    with vagrant.only_one("up --provision"):
        if uses_libvirt():
            _require_daemon(tell)
        said = vagrant.run(["provision"], tell, what="preparing the machines", log_name="provision")
    return vagrant.changes(said)


def halt(tell: Tell) -> None:
    """Shut the machines down; their disks stay."""
    with vagrant.only_one("halt"):
        inventory.forget()
        if not uses_libvirt() or _daemon_there():
            vagrant.run(["halt"], tell, what="shutting the machines down", log_name="halt")
        _stop_ours(tell)


def destroy(tell: Tell) -> None:
    """Remove the machines with their disks. The box stays."""
    with vagrant.only_one("destroy"):
        inventory.forget()
        if uses_libvirt():
            if not _known_to_vagrant() and not libvirt.ours():
                tell("there are no machines")
                return
            _require_daemon(tell)
        vagrant.run(["destroy", "--force"], tell, what="removing the machines", log_name="destroy")
        libvirt.forget_old_boxes(f"{box.NAME.replace('/', '-VAGRANTSLASH-')}_vagrant_box_image_")
        _stop_ours(tell)


def make_box(tell: Tell, *, mirror: str | None, again: bool) -> box.Box:
    """The box, made and known to Vagrant; and whether KVM works with its kernel."""
    prepare("vm box")
    with vagrant.only_one("box"):
        made = box.make_box(mirror=mirror, again=again)
        _add(made, tell)
        _tell_driver(made, tell)
    return made


def status(tell: Tell) -> list[Machine]:
    """The three, as Vagrant sees them."""
    said = vagrant.run(["status", "--machine-readable"], tell, what="asking Vagrant", log_name="status")
    states = {}
    for line in said.splitlines():
        fields = line.split(",")
        if len(fields) >= 4 and fields[2] == "state":
            states[fields[1]] = fields[3]
    known = {}
    if inventory.ssh_config_file().exists():
        known = inventory.read_ssh_config(inventory.ssh_config_file().read_text())
    return [
        Machine(name, state, known.get(name, {}).get("HostName", "") if state == "running" else "")
        for name, state in ((name, states.get(name, "unknown")) for name in vagrant.MACHINES)
    ]


def _ready_libvirt(tell: Tell) -> None:
    """The box, a driver and a libvirtd, before Vagrant is asked for machines."""
    made = None
    if not os.environ.get("LANELAB_VM_BOX"):
        if not box.is_made():
            prepare("vm box")
        made = box.make_box()
        _add(made, tell)
    libvirt.ensure(_tell_driver(made, tell), tell)


def _tell_driver(made: box.Box | None, tell: Tell) -> accelerator.Driver:
    driver = accelerator.choose(made.kernel if made else None)
    slow = (
        "; emulated machines are slow, and timings in them mean nothing" if driver.name == accelerator.EMULATED else ""
    )
    tell(f"driver: {driver.name} ({driver.why}){slow}")
    return driver


def _add(made: box.Box, tell: Tell) -> None:
    """Give it to Vagrant, which keeps a copy."""
    if box.key_in_vagrant() == made.key:
        return
    tell(f"giving the box to Vagrant as {box.NAME}")
    words = ["box", "add", "--force", "--name", box.NAME, str(made.file)]
    vagrant.run(words, tell, what="giving the box to Vagrant", log_name="box-add")


def _require_daemon(tell: Tell) -> None:
    known = box.newest()
    libvirt.ensure(accelerator.choose(known.kernel if known else None), tell)


def _daemon_there() -> bool:
    return libvirt.ours() is not None or libvirt.answers(libvirt.SYSTEM)


def _known_to_vagrant() -> bool:
    folder = Path(vagrant.environment()["VAGRANT_CWD"]) / ".vagrant" / "machines"
    return any(folder.glob("*/*/id"))


def _stop_ours(tell: Tell) -> None:
    if uses_libvirt() and libvirt.stop():
        tell("ended the libvirtd that lanelab had started")


def _require_memory(tell: Tell) -> None:
    """A machine that has no room is killed in the middle of something: better to be told before."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    free_mib = int(fields["MemAvailable"].split()[0]) // 1024
    if free_mib < MEMORY_MIB and not os.environ.get("LANELAB_VM_MEMORY"):
        tell(f"mind: {free_mib} MiB of memory are free here, and the three machines may take {MEMORY_MIB}")


def require_up() -> None:
    """VmError where there is nothing to log in to."""
    if not inventory.ssh_config_file().exists():
        raise VmError("the virtual machines are not up", "Bring them up with: lanelab vm up")
