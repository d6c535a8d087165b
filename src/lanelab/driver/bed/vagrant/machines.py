"""Up, halt, destroy, status: what the commands of `lanelab vm` do, one at a time."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.programs.needs import MAKING_A_BOX, VIRTUAL_BOX, VIRTUAL_MACHINES, programs
from lanelab.driver.bed.vagrant import accelerator, box, inventory, libvirt, settings, vagrant

Tell = Callable[[str], None]
MEMORY_MIB = 3000  # of all three, with what QEMU needs besides
NO_MACHINES = "there are no machines"
HAND = (
    "by hand: lanelab vm ssh client (router, server); there, `ping server`, and in the router "
    "`sudo tc qdisc add dev eth1 root netem delay 20ms`"
)


@dataclass(frozen=True, slots=True)
class Machine(Coded):
    """One of the three, as `lanelab vm status` shows it."""

    name: str
    state: str  # as Vagrant calls it: running, shutoff, not_created, …
    address: str  # where ssh reaches it; empty where it is not up


def prepare_programs() -> None:
    """Check the settings, and install what the commands call."""
    settings.require()
    prepare(programs(*(VIRTUAL_MACHINES if settings.uses_libvirt() else VIRTUAL_BOX)))


def up(tell: Tell, *, provision: bool = False) -> None:
    """Bring the machines up, prepared."""
    _warn_of_little_memory(tell)
    with vagrant.only_one("up"):
        begun = time.monotonic()
        extra = _ready_libvirt(tell) if settings.uses_libvirt() else {}
        inventory.forget()  # should this fail, they are not where they were
        words = ["up", *(["--provision"] if provision else [])]
        vagrant.run(words, tell, what="bringing the machines up", extra=extra)
        inventory.write(vagrant.run(["ssh-config"], tell, what="asking where they are"))
        tell(f"up after {time.monotonic() - begun:.0f} s; {HAND}")


def _ready_libvirt(tell: Tell) -> dict[str, str]:
    """Return the box, a driver and a libvirtd, before Vagrant makes machines; what the Vagrantfile has to know of
    them."""
    the_box = box.already_made()
    if settings.own_box():
        if not the_box:
            prepare(programs(*MAKING_A_BOX))
        the_box = box.make_box()
        _give_to_vagrant(the_box, tell)
    driver = _choose_driver(the_box, tell)
    machines = vagrant.made_in()
    libvirt.ensure(machines.home if machines else None, driver.name, tell)
    return {settings.DRIVER: driver.name}


def halt(tell: Tell) -> None:
    """Shut the machines down; their disks stay."""
    with vagrant.only_one("halt"):
        inventory.forget()
        if not vagrant.known():
            tell(NO_MACHINES)
        elif _can_be_asked():
            vagrant.run(["halt"], tell, what="shutting the machines down")
        if settings.uses_libvirt():
            libvirt.stop(tell)


def destroy(tell: Tell) -> None:
    """Remove the machines with their disks, and whatever is left of any. The box stays."""
    with vagrant.only_one("destroy"):
        inventory.forget()
        known = vagrant.known()
        if known and _can_be_asked():
            vagrant.run(["destroy", "--force"], tell, what="removing the machines")
        vagrant.forget()
        left = _remove_leftovers(tell) if settings.uses_libvirt() else []
        if left and not known:
            tell(f"removed what was left: {', '.join(left)}")
        elif not known:
            tell(NO_MACHINES)


def _remove_leftovers(tell: Tell) -> list[str]:
    """Remove what Vagrant does not know: it was ended in the middle, or is not asked."""
    libvirt.stop(tell)
    left = libvirt.remove_all(libvirt.SYSTEM)
    libvirt.forget_old_boxes(libvirt.SYSTEM, f"{box.NAME.replace('/', '-VAGRANTSLASH-')}_vagrant_box_image_")
    return [*left, *(["the folder of a libvirtd"] if libvirt.remove_own() else [])]


def make_box(tell: Tell, *, mirror: str | None, again: bool) -> box.Box:
    """Return the box, made and known to Vagrant; and whether KVM works with its kernel."""
    prepare(programs(*MAKING_A_BOX))
    with vagrant.only_one("box"):
        the_box = box.make_box(mirror=mirror, again=again)
        _give_to_vagrant(the_box, tell)
        _choose_driver(the_box, tell)
    return the_box


def status(tell: Tell) -> list[Machine]:
    """Return the three, as Vagrant sees them."""
    states, addresses = _states(tell), inventory.addresses()
    return [
        Machine(name, states[name], addresses.get(name, "") if states[name] == "running" else "")
        for name in vagrant.MACHINES
    ]


def _states(tell: Tell) -> dict[str, str]:
    """Return each machine's state."""
    states, known = dict.fromkeys(vagrant.MACHINES, "not_created"), vagrant.known()
    if known and _can_be_asked():
        text = vagrant.run(["status"], tell, what="asking Vagrant")
        lines = re.findall(r"^(client|router|server) +(.+?) \(\w+\)$", text, re.MULTILINE)
        return states | {name: state.replace(" ", "_") for name, state in lines}
    return states | dict.fromkeys(known if libvirt.own_folder().exists() else (), "shutoff")


def _can_be_asked() -> bool:
    """Return whether Vagrant reaches the libvirtd that has the machines: it forgets machines that it does not find. One
    of lanelab's own that has ended keeps machines that are shut down. VmError where this machine's has to be
    started."""
    machines = vagrant.made_in()
    if machines is None or not settings.uses_libvirt() or libvirt.answers(machines.home):
        return True
    if machines.home == libvirt.SYSTEM:
        raise libvirt.no_answer()
    return False


def _choose_driver(image: box.Box | None, tell: Tell) -> accelerator.Driver:
    driver = accelerator.choose(image)
    slow = "; emulated machines are slow, and timings in them mean nothing" if driver.name == settings.EMULATED else ""
    tell(f"driver: {driver.name} ({driver.why}){slow}")
    return driver


def _give_to_vagrant(image: box.Box, tell: Tell) -> None:
    """Vagrant keeps a copy."""
    if box.key_in_vagrant() != image.key:
        tell(f"giving the box to Vagrant as {box.NAME}")
        words = ["box", "add", "--force", "--name", box.NAME, str(image.file)]
        vagrant.run(words, tell, what="giving the box to Vagrant")


def _warn_of_little_memory(tell: Tell) -> None:
    """A machine that has no room is killed in the middle of something."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    free_mib = int(fields["MemAvailable"].split()[0]) // 1024
    if free_mib < MEMORY_MIB and not os.environ.get("LANELAB_VM_MEMORY"):
        tell(f"mind: {free_mib} MiB of memory are free here, and the three machines may take {MEMORY_MIB}")
