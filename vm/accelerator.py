"""Whether a guest really boots on this machine's KVM. That /dev/kvm is there does not tell.

Inside some virtual machines it can be opened, and a first instruction runs, and then nothing ever happens: `vagrant up`
would wait for ten minutes. So a tiny guest is tried, the box's kernel with a program of a hundred bytes as its first
process, and given half a minute. The answer holds until the machine starts anew.
"""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from driver.host.find_program import search_path
from model.errors import InputError
from model.paths import build_folder

KVM = Path("/dev/kvm")
KVM_DRIVER, EMULATED = "kvm", "qemu"  # as libvirt calls them
VARIABLE = "LANELAB_VM_DRIVER"
PATIENCE_S = 30.0
SIGN = b"lanelab: a guest runs\n"


@dataclass(frozen=True)
class Driver:
    """What runs the machines' processors, and why it was chosen."""

    name: str
    why: str


def choose(kernel: Path | None) -> Driver:
    """What machines that exist were made with; else what the user asks for; else KVM where a guest boots on it, and
    emulation where none does. `kernel`: to try it with."""
    given = asked_for()
    if made_with := _of_machines():
        but = f"; for {given}: lanelab vm destroy, lanelab vm up" if given and given != made_with else ""
        return Driver(made_with, f"the machines were made with it{but}")
    if given:
        return Driver(given, f"{VARIABLE} is set")
    if not KVM.exists():
        return _remember(Driver(EMULATED, f"there is no {KVM}"))
    if not os.access(KVM, os.R_OK | os.W_OK):
        return _remember(
            Driver(EMULATED, f"{KVM} is not yours to open: an administrator can put you into the group kvm")
        )
    return _remembered() or _tried(kernel)


def asked_for(settings: Mapping[str, str] = os.environ) -> str:
    """What the user asks for, if anything."""
    given = settings.get(VARIABLE, "")
    if given not in ("", KVM_DRIVER, EMULATED):
        raise InputError(f"'{given}' is no driver", f"Choose from: {KVM_DRIVER}, {EMULATED}", key=VARIABLE)
    return given


def _tried(kernel: Path | None) -> Driver:
    if kernel is None:
        return Driver(EMULATED, "no kernel to try KVM with; `lanelab vm box` makes one")
    if guest_boots(kernel, accelerator=KVM_DRIVER):
        return _remember(Driver(KVM_DRIVER, "a guest booted on it"))
    return _remember(Driver(EMULATED, f"{KVM} is there, but no guest boots on it within {PATIENCE_S:.0f} s"))


def is_emulated() -> bool:
    """Whether the machines that exist have processors that are emulated."""
    return _of_machines() == EMULATED


def machines_have(driver: str) -> None:
    """Keep with which driver the machines were made. Empty: there are none any more."""
    if not driver:
        _machines_file().unlink(missing_ok=True)
        return
    _machines_file().parent.mkdir(parents=True, exist_ok=True)
    _machines_file().write_text(f"{driver}\n")


def guest_boots(kernel: Path, *, accelerator: str, patience_s: float = PATIENCE_S) -> bool:
    """Start a guest of 128 MiB whose first process says so, and look whether it does."""
    with tempfile.TemporaryDirectory() as folder:
        initrd = Path(folder) / "initrd"
        initrd.write_bytes(initial_files(first_process()))
        argv = [
            "qemu-system-x86_64", "-accel", accelerator, "-m", "128", "-nodefaults", "-display", "none", "-no-reboot",
            "-kernel", str(kernel), "-initrd", str(initrd), "-serial", "stdio",
            "-append", "console=ttyS0 quiet panic=-1",
        ]  # fmt: skip
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=patience_s, check=False,
                env={**os.environ, "PATH": search_path()},
            )  # fmt: skip
        except (subprocess.TimeoutExpired, FileNotFoundError):
            return False
    return SIGN.strip() in done.stdout


def first_process() -> bytes:
    """A program for x86-64 that writes a line and switches the machine off."""
    # write(1, SIGN, len); reboot(two magic numbers, POWER_OFF); and should that be refused, again
    code = b"\xb8\x01\0\0\0\xbf\x01\0\0\0\x48\x8d\x35" + struct.pack("<i", 36) + b"\xba" + struct.pack("<I", len(SIGN))
    code += b"\x0f\x05\xb8\xa9\0\0\0\xbf" + struct.pack("<I", 0xFEE1DEAD) + b"\xbe" + struct.pack("<I", 672274793)
    code += b"\xba" + struct.pack("<I", 0x4321FEDC) + b"\x0f\x05\xeb\xe8"
    code = code.ljust(17 + 36, b"\x90") + SIGN
    headers, base = 64 + 56, 0x400000
    size = headers + len(code)
    elf = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    elf += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + headers, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    elf += struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000)
    return elf + code


def initial_files(init: bytes) -> bytes:
    """A kernel's initial file system (cpio): the first process, and the console that it writes to."""
    files = [("dev", 0o040755, b"", 0), ("dev/console", 0o020600, b"", 5), ("init", 0o100755, init, 0)]
    made = b"".join(_cpio(name, mode, data, major) for name, mode, data, major in files)
    return made + _cpio("TRAILER!!!", 0, b"", 0)


def _cpio(name: str, mode: int, data: bytes, major: int) -> bytes:
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, major, 1 if major else 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return head.ljust(-len(head) % 4 + len(head), b"\0") + data.ljust(-len(data) % 4 + len(data), b"\0")


def _of_machines() -> str:
    try:
        return _machines_file().read_text().strip()
    except FileNotFoundError:
        return ""


def _machines_file() -> Path:
    return build_folder() / "vm" / "machines-driver"


def _file() -> Path:
    return build_folder() / "vm" / "driver"


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _remember(driver: Driver) -> Driver:
    """For the next time, and for the Vagrantfile, which reads the first word."""
    _file().parent.mkdir(parents=True, exist_ok=True)
    _file().write_text(f"{driver.name}\n{driver.why}\n{_boot()}\n")
    return driver


def _remembered() -> Driver | None:
    try:
        name, why, boot = _file().read_text().splitlines()
    except (FileNotFoundError, ValueError):
        return None
    # "is not there" and the like are looked at anew each time; only a trial is worth remembering
    return Driver(name, why) if boot == _boot() and "boot" in why else None
