"""Up, halt, destroy: what the commands of `lanelab vm` do, one at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from driver.host.install import prepare
from driver.host.needs import MAKING_A_BOX, VIRTUAL_BOX, VIRTUAL_MACHINES, programs
from model.errors import VmError
from vm import accelerator, box, inventory, kept, libvirt, settings, vagrant

Tell = Callable[[str], None]
MEMORY_MIB = 3000  # of all three, with what QEMU needs besides
REMOVING = "removing the machines"
NO_MACHINES = "there are no machines"
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
    return vagrant.provider() == "libvirt"


def prepare_programs() -> None:
    """See to it that what the commands call is installed, once they know what they are to make."""
    settings.require()
    prepare(programs(*(VIRTUAL_MACHINES if uses_libvirt() else VIRTUAL_BOX)))


def up(tell: Tell, *, provision: bool = False) -> dict[str, int]:
    """Bring the machines up, prepared; how many tasks Ansible had to change in each (nothing where it did not run)."""
    _require_memory(tell)
    with vagrant.only_one("up"):
        begun = time.monotonic()
        words = ["up", *(["--provision"] if provision else [])]
        extra = _ready_libvirt(tell) if uses_libvirt() else {}
        inventory.forget()  # should this fail, they are not where they were
        said = vagrant.run(words, tell, what="bringing the machines up", log_name="up", extra=extra)
        inventory.write(vagrant.run(["ssh-config"], tell, what="asking where they are", log_name="ssh-config"))
        tell(f"up after {time.monotonic() - begun:.0f} s; {HAND}")
    return vagrant.changes(said)


def _ready_libvirt(tell: Tell) -> dict[str, str]:
    """The box, a driver and a libvirtd, before Vagrant is asked for machines; what it is told besides."""
    known = vagrant.known()
    if not known:
        accelerator.machines_have("")
    if not libvirt.ours() and (others := libvirt.others()):
        what = f"virtual machines of another build folder are up (libvirtd, process {others[0].pid})"
        raise VmError(what, "Their networks have the same names and addresses: lanelab vm halt there, then this again")
    driver = _driver_with_box(tell)
    uri = libvirt.ensure(driver, tell, home=vagrant.home())
    # The Vagrantfile may not think otherwise: this libvirtd was started for this driver.
    name = (kept.driver_of(uri, known[0]) if known else "") or driver.name
    accelerator.machines_have(name)
    return {accelerator.VARIABLE: name}


def halt(tell: Tell) -> None:
    """Shut the machines down; their disks stay."""
    with vagrant.only_one("halt"):
        inventory.forget()
        if not uses_libvirt() or _daemon_there():
            vagrant.run(["halt"], tell, what="shutting the machines down", log_name="halt")
        if not vagrant.known() and not (uses_libvirt() and kept.any_in_own()):
            tell(NO_MACHINES)
        _stop_ours(tell)


def destroy(tell: Tell) -> None:
    """Remove the machines with their disks, and whatever is left of any. The box stays."""
    with vagrant.only_one("destroy"):
        inventory.forget()
        if not uses_libvirt():
            vagrant.run(["destroy", "--force"], tell, what=REMOVING, log_name="destroy")
            return
        if vagrant.known() or libvirt.ours() or kept.any_in_own() or libvirt.answers(libvirt.SYSTEM):
            _destroy_in_libvirt(tell)
        else:
            tell(NO_MACHINES)
        _stop_ours(tell)


def _destroy_in_libvirt(tell: Tell) -> None:
    uri = _require_daemon(tell, home=vagrant.home() or (libvirt.OWN if kept.any_in_own() else None))
    known = vagrant.known()
    if known:
        vagrant.run(["destroy", "--force"], tell, what=REMOVING, log_name="destroy")
    if left := kept.remove_all(uri):
        tell(f"removed what was left: {', '.join(left)}")
    elif not known:
        tell(NO_MACHINES)
    kept.forget_old_boxes(uri, f"{box.NAME.replace('/', '-VAGRANTSLASH-')}_vagrant_box_image_")
    accelerator.machines_have("")
    vagrant.forget_home()


def make_box(tell: Tell, *, mirror: str | None, again: bool) -> box.Box:
    """The box, made and known to Vagrant; and whether KVM works with its kernel."""
    prepare(programs(*MAKING_A_BOX))
    with vagrant.only_one("box"):
        made = box.make_box(mirror=mirror, again=again)
        _add(made, tell)
        _tell_driver(made, tell)
    return made


def status(tell: Tell) -> list[Machine]:
    """The three, as Vagrant sees them."""
    states = _states(tell)
    known = {}
    if inventory.ssh_config_file().exists():
        known = inventory.read_ssh_config(inventory.ssh_config_file().read_text())
    return [
        Machine(name, state, known.get(name, {}).get("HostName", "") if state == "running" else "")
        for name, state in ((name, states.get(name, "unknown")) for name in vagrant.MACHINES)
    ]


def _states(tell: Tell) -> dict[str, str]:
    """Each machine's state. Vagrant is asked only where somebody can tell it: it forgets machines that it does not
    find, and finds none without the libvirtd that has them."""
    if uses_libvirt():
        home = vagrant.home()
        if home is None:
            return dict.fromkeys(vagrant.MACHINES, "not_created")
        if home == libvirt.OWN and not libvirt.ours_answers():
            return {name: "shutoff" if name in kept.defined_in_own() else "not_created" for name in vagrant.MACHINES}
        if home == libvirt.SYSTEM and not libvirt.answers(home):
            raise libvirt.no_answer()
    said = vagrant.run(["status", "--machine-readable"], tell, what="asking Vagrant", log_name="status")
    lines = [line.split(",") for line in said.splitlines()]
    return {fields[1]: fields[3] for fields in lines if len(fields) >= 4 and fields[2] == "state"}


def _driver_with_box(tell: Tell) -> accelerator.Driver:
    """What drives the machines; the box, which Vagrant knows from then on, serves to find out."""
    made = box.newest()
    if not os.environ.get("LANELAB_VM_BOX"):
        if not box.is_made():
            prepare(programs(*MAKING_A_BOX))
        made = box.make_box()
        _add(made, tell)
    return _tell_driver(made, tell)


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


def _require_daemon(tell: Tell, *, home: str | None) -> str:
    newest = box.newest()
    return libvirt.ensure(accelerator.choose(newest.kernel if newest else None), tell, home=home)


def _daemon_there() -> bool:
    """Whether the one that has the machines, if there are any, can be asked to shut them down."""
    home = vagrant.home()
    return libvirt.ours_answers() if home == libvirt.OWN else home is not None and libvirt.answers(home)


def _stop_ours(tell: Tell) -> None:
    if uses_libvirt() and libvirt.stop(tell):
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
