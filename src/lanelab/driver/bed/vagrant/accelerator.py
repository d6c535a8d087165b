"""Whether a guest really boots on this machine's KVM. That /dev/kvm exists does not prove it.

Inside some virtual machines /dev/kvm opens, the first instruction runs, and then nothing ever happens: `vagrant up`
would wait for ten minutes. So the kernel of the box starts once on KVM, with a program of the box as its first process,
and gets half a minute. The answer holds until this machine restarts.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.find_program import search_path
from lanelab.driver.bed.vagrant import vagrant
from lanelab.driver.bed.vagrant.box import Box
from lanelab.driver.bed.vagrant.settings import DRIVER, EMULATED, KVM
from lanelab.driver.bed.vagrant.settings import driver as wanted_driver

DEVICE = Path("/dev/kvm")
LIMIT_S = 30.0
# The kernel says so when its first process, /bin/true, ends well.
SIGN = b"Attempted to kill init! exitcode=0x00000000"


@dataclass(frozen=True)
class Driver:
    """Says what runs the machines' processors, and why lanelab chose it."""

    name: str
    why: str


def choose(box: Box | None) -> Driver:
    """Return what machines that exist were made with; else what the user wants; else KVM where a guest boots on it, and
    emulation where none does. `box` has the kernel for the trial."""
    wanted = wanted_driver()
    machines = vagrant.made_in()
    if machines and machines.driver:
        other = f"; for {wanted}: lanelab vm destroy, lanelab vm up" if wanted not in ("", machines.driver) else ""
        return Driver(machines.driver, f"the machines were made with it{other}")
    if wanted:
        return Driver(wanted, f"{DRIVER} is set")
    if not DEVICE.exists():
        return Driver(EMULATED, f"there is no {DEVICE}")
    if not os.access(DEVICE, os.R_OK | os.W_OK):
        return Driver(EMULATED, f"{DEVICE} is not yours to open: an administrator can put you into the group kvm")
    return _remembered() or _tried(box)


def is_emulated() -> bool:
    """Return whether the machines that exist have emulated processors."""
    machines = vagrant.made_in()
    return machines is not None and machines.driver == EMULATED


def guest_boots(box: Box, accelerator: str, limit_s: float = LIMIT_S) -> bool:
    """Return whether the kernel of a box boots and runs a program."""
    argv = [
        "qemu-system-x86_64", "-accel", accelerator, "-m", "256", "-nodefaults", "-display", "none", "-no-reboot",
        "-kernel", str(box.folder / "vmlinuz"), "-initrd", str(box.folder / "initrd.img"), "-serial", "stdio",
        "-append", "console=ttyS0 quiet panic=-1 rdinit=/bin/true",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, check=False,
            env={**os.environ, "PATH": search_path()},
        )  # fmt: skip
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return False
    return SIGN in done.stdout


def _tried(box: Box | None) -> Driver:
    if box is None:
        return Driver(EMULATED, "no kernel to try KVM with; `lanelab vm box` makes one")
    if guest_boots(box, KVM):
        driver = Driver(KVM, "a guest booted on it")
    else:
        driver = Driver(EMULATED, f"{DEVICE} is there, but no guest boots on it within {LIMIT_S:.0f} s")
    _file().parent.mkdir(parents=True, exist_ok=True)
    _file().write_text(f"{driver.name}\n{driver.why}\n{_boot()}\n")  # the Vagrantfile reads the first word
    return driver


def _remembered() -> Driver | None:
    try:
        name, why, boot = _file().read_text().splitlines()
    except (FileNotFoundError, ValueError):
        return None
    return Driver(name, why) if boot == _boot() else None


def _file() -> Path:
    return build_folder() / "vm" / "driver"


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
