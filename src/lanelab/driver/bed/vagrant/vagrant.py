"""Runs Vagrant: its flood of words goes to a log, a few of them to the user; Ctrl-C reaches it once."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import VmError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs.ansible import ansible_settings
from lanelab.driver.base.programs.find_program import search_path
from lanelab.driver.bed.vagrant import settings

MACHINES = ("client", "router", "server")
SHOWN_LINES = 15
AFTER_INTERRUPT_S = 60.0
Tell = Callable[[str], None]

# What Vagrant prints -> what lanelab tells, in the order in which a machine comes to it.
MILESTONES = {
    "Uploading base box image": "the box's disk is copied to libvirt, once",
    "Creating domain with the following settings": "is made",
    "Waiting for domain to get an IP address": "boots",
    "Machine booted and ready": "can be reached",
    "Configuring and enabling network interfaces": "gets its networks",
    "Running provisioner: by-hand": "gets names and routes",
    "Running provisioner: prepare": "is prepared (Ansible)",
    "Attempting graceful shutdown": "shuts down",
    "Halting domain": "shuts down",
    "Removing domain": "is removed",
}
LINE = re.compile(rf"(?:==>|   ) (client|router|server): +({'|'.join(MILESTONES)})")
# What a failure's output holds -> what the user can do.
NETWORK = "Give the machines' management another network: LANELAB_VM_MANAGEMENT=192.168.232.0/24"
LEFT_OVER = "Something is left of machines that Vagrant has forgotten: lanelab vm destroy removes it"
REMEDIES = {
    "already in use by interface": NETWORK,
    "does not match with network name": NETWORK,
    "authentication failure": "The machines know another login key than Vagrant: lanelab vm destroy, lanelab vm up",
    "is already taken": LEFT_OVER,
    "already exists": LEFT_OVER,
    "no space left": "The disk is full: make room for about 5 GB in the build folder",
    "cannot allocate memory": "The machines need 2.8 GB of memory in all: LANELAB_VM_MEMORY=512 takes less",
}


@dataclass(frozen=True)
class Origin:
    """Says what the machines that exist were made in and with, as the Vagrantfile notes it."""

    home: str  # libvirt.SYSTEM or libvirt.PRIVATE
    driver: str = ""  # kvm or qemu


def environment() -> dict[str, str]:
    """Return what Vagrant runs with: the Ansible of this environment, and the Vagrantfile's own defaults."""
    variables = {name: value for name, value in os.environ.items() if value or not name.startswith("LANELAB_VM_")}
    return {
        **variables,
        **ansible_settings(),
        "PATH": f"{Path(sys.prefix) / 'bin'}:{search_path()}",
        "LANELAB_BUILD": str(build_folder().absolute()),
        "VAGRANT_CWD": str(PROJECT),
        "VAGRANT_DOTFILE_PATH": str(dotfiles()),
        "VAGRANT_DEFAULT_PROVIDER": settings.provider(),
        "VAGRANT_NO_COLOR": "1",
        "VAGRANT_CHECKPOINT_DISABLE": "1",  # it would ask the world for a newer Vagrant
    }


def dotfiles() -> Path:
    """Return where Vagrant keeps which machines it has made: where it looks by itself; with a build folder elsewhere in
    there, since the checkout may be read-only, or another user's."""
    if folder := os.environ.get("VAGRANT_DOTFILE_PATH"):
        return PROJECT / folder
    build = build_folder().resolve()
    return PROJECT / ".vagrant" if build == PROJECT / "build" else build / "vm" / "vagrant"


def known() -> list[str]:
    """Return the machines that Vagrant has made, whether they are up or not."""
    return [name for name in MACHINES if (dotfiles() / "machines" / name / settings.provider() / "id").exists()]


def made_in() -> Origin | None:
    """Return what libvirt's machines were made in and with; None where there are none."""
    if not known():
        return None
    try:
        return Origin(*note().read_text().split())
    except (FileNotFoundError, TypeError):
        return Origin("qemu:///system")


def note() -> Path:
    """Return the file of the note, which is beside Vagrant's own notes of the machines, so that they disappear
    together."""
    return dotfiles() / "lanelab-libvirtd"


def forget() -> None:
    """Remove Vagrant's notes of machines that exist no more."""
    for name in MACHINES:
        shutil.rmtree(dotfiles() / "machines" / name / settings.provider(), ignore_errors=True)


@contextlib.contextmanager
def only_one(command: str) -> Iterator[None]:
    """While this is held, no other lanelab of this checkout changes the machines; VmError there names this one."""
    path = build_folder() / "vm" / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            what = f"the virtual machines are busy: {path.read_text() or 'another lanelab'}"
            raise VmError(what, "Wait until it is done, then run this again") from None
        path.write_text(f"lanelab vm {command}, process {os.getpid()}")
        yield


def run(words: Sequence[str], tell: Tell, *, what: str, extra: Mapping[str, str] | None = None) -> str:
    """Run one of Vagrant's commands to its end; what it printed. A line is told whenever a machine comes to something
    new, with the seconds since the beginning. VmError with the last lines when it fails."""
    log = build_folder() / "vm" / f"{words[0]}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    begun, steps = time.monotonic(), set()
    with log.open("w") as output, _child(words, {**environment(), **(extra or {})}) as process:
        for line in process.stdout or ():
            print(line, end="", file=output, flush=True)
            match = LINE.match(line)
            step = f"{match[1]} {MILESTONES[match[2]]}" if match else ""
            if step and step not in steps:
                steps.add(step)
                tell(f"{time.monotonic() - begun:4.0f} s  {step}")
        status = process.wait()
    text = log.read_text(errors="replace")
    if status != 0:
        last = "\n".join(f"    {line}" for line in text.replace("\r", "\n").splitlines()[-SHOWN_LINES:])
        remedies = (remedy for sign, remedy in REMEDIES.items() if sign in text.lower())
        remedy = f"{next(remedies, 'Look at the log')}. Log: {log}"
        raise VmError(f"{what} failed: vagrant {words[0]} ended with status {status}", remedy, output=last)
    return text


@contextlib.contextmanager
def _child(words: Sequence[str], variables: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start Vagrant in a session of its own: it gets Ctrl-C from us, not from the terminal. setpriv ends it even where
    we are killed, or interrupted before we know the process."""
    with subprocess.Popen(
        ["setpriv", "--pdeathsig", "INT", "vagrant", *words], cwd=PROJECT, env=dict(variables),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        try:
            yield process
        except BaseException:
            _end(process)
            raise
        finally:
            signal.signal(signal.SIGTERM, before)


def _end(process: subprocess.Popen[str]) -> None:
    """Interrupt Vagrant and its Ansible as Ctrl-C would, so that they leave things in order; wait, but not for ever."""
    words = "stopping vagrant, which finishes what it is at (Ctrl-C again: at once)"
    print(f"lanelab: {words}", file=sys.stderr, flush=True)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.communicate(timeout=AFTER_INTERRUPT_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            os.killpg(process.pid, signal.SIGKILL)
