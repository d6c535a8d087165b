"""Running Vagrant: its flood goes to a log, a few words of it to who waits; Ctrl-C reaches it once."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from driver.host.ansible import ansible_settings
from driver.host.find_program import search_path
from model.errors import InputError, VmError
from model.paths import PROJECT, build_folder
from vm import libvirt

MACHINES = ("client", "router", "server")
SHOWN_LINES = 15
AFTER_INTERRUPT_S = 60.0
Tell = Callable[[str], None]

LINE = re.compile(r"(?:==>|   ) (client|router|server): (.*)")
# What Vagrant says -> what is told, in the order in which a machine comes to it.
MILESTONES = (
    ("Uploading base box image", "the box's disk is copied to libvirt, once"),
    ("Creating domain with the following settings", "is made"),
    ("Waiting for domain to get an IP address", "boots"),
    ("Machine booted and ready", "can be reached"),
    ("Configuring and enabling network interfaces", "gets its networks"),
    ("Running provisioner: by-hand", "gets names and routes"),
    ("Running provisioner: prepare", "is prepared (Ansible)"),
    ("Attempting graceful shutdown", "shuts down"),
    ("Halting domain", "shuts down"),
    ("Removing domain", "is removed"),
)
RECAP = re.compile(r"(client|router|server) +: ok=(\d+) +changed=(\d+) +unreachable=(\d+) +failed=(\d+)")


PROVIDERS = ("libvirt", "virtualbox")
PROVIDER_VARIABLE = "LANELAB_VM_PROVIDER"


def provider() -> str:
    """What makes the machines. Vagrant's own variable is not heard: who has it set means other machines."""
    given = os.environ.get(PROVIDER_VARIABLE) or PROVIDERS[0]
    if given not in PROVIDERS:
        what = f"'{given}' is no provider"
        raise InputError(what, f"Choose from: {', '.join(PROVIDERS)}", key=PROVIDER_VARIABLE)
    return given


def environment() -> dict[str, str]:
    """What Vagrant is run with: the Ansible of this environment, and the Vagrantfile's own defaults."""
    given = {name: value for name, value in os.environ.items() if value or not name.startswith("LANELAB_VM_")}
    return {
        **given,
        **ansible_settings(),
        "PATH": f"{Path(sys.prefix) / 'bin'}:{search_path()}",
        "LANELAB_BUILD": str(build_folder().absolute()),
        "VAGRANT_CWD": str(PROJECT),
        "VAGRANT_DOTFILE_PATH": str(dotfiles()),
        "VAGRANT_DEFAULT_PROVIDER": provider(),
        "VAGRANT_NO_COLOR": "1",
        "VAGRANT_CHECKPOINT_DISABLE": "1",  # it would ask the world for a newer Vagrant
    }


def dotfiles() -> Path:
    """Where Vagrant keeps which machines it has made: where it looks by itself, for who uses it by hand; with a build
    folder elsewhere in there, since the checkout may be read-only, or another user's too."""
    if given := os.environ.get("VAGRANT_DOTFILE_PATH"):
        return PROJECT / given
    build = build_folder().resolve()
    return PROJECT / ".vagrant" if build == PROJECT / "build" else build / "vm" / "vagrant"


def known() -> list[str]:
    """The machines that Vagrant has made, whether they are up or not."""
    return [name for name in MACHINES if (dotfiles() / "machines" / name / provider() / "id").exists()]


def home() -> str | None:
    """Which libvirtd has the machines, as the Vagrantfile notes when they are brought up; None without any."""
    if not known():
        return None
    try:
        return _home_file().read_text().strip()
    except FileNotFoundError:
        return libvirt.SYSTEM


def forget_home() -> None:
    _home_file().unlink(missing_ok=True)


def _home_file() -> Path:
    return dotfiles() / "lanelab-libvirtd"  # beside what it is about: whoever removes the one removes the other


@contextlib.contextmanager
def only_one(doing: str) -> Iterator[None]:
    """While this is held, no other lanelab of this checkout changes the machines; it is told so."""
    folder = build_folder() / "vm"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            who = lock.read().strip() or "another lanelab"
            raise VmError(
                f"the virtual machines are busy: {who}", "Wait until it is done, then run this again"
            ) from None
        lock.truncate(0)
        lock.write(f"lanelab vm {doing}, process {os.getpid()}")
        lock.flush()
        try:
            yield
        finally:
            lock.truncate(0)


def run(words: Sequence[str], tell: Tell, *, what: str, log_name: str, extra: Mapping[str, str] | None = None) -> str:
    """Run one of Vagrant's commands to its end; what it said. VmError with the last of it when it fails."""
    log = build_folder() / "vm" / f"{log_name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(tell)
    with log.open("w") as output, _child(words, {**environment(), **(extra or {})}) as process:
        for line in process.stdout or ():
            output.write(line)
            output.flush()
            progress.see(line)
        status = process.wait()
    said = log.read_text(errors="replace")
    if status != 0:
        last = "\n".join(f"    {line}" for line in _readable(said).splitlines()[-SHOWN_LINES:])
        raise VmError(f"{what} failed: vagrant {words[0]} ended with status {status}", _remedy(said, log), output=last)
    return said


def _readable(said: str) -> str:
    """As Vagrant says it to people; what it says to programs it says twice."""
    errors = (line.split(",", 4) for line in said.splitlines() if ",ui,error," in line)
    plain = (fields[-1].replace("\\n", "\n").replace("%!(VAGRANT_COMMA)", ",") for fields in errors)
    return "\n".join(dict.fromkeys(plain)) or said.replace("\r", "\n")


class Progress:
    """A line whenever a machine comes to something new, with the seconds since the beginning."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._begun = time.monotonic()
        self._told: set[tuple[str, str]] = set()

    def see(self, line: str) -> None:
        match = LINE.match(line)
        if not match:
            return
        machine, words = match.groups()
        for begin, told in MILESTONES:
            if words.strip().startswith(begin) and (machine, told) not in self._told:
                self._told.add((machine, told))
                self._tell(f"{time.monotonic() - self._begun:4.0f} s  {machine} {told}")


def changes(said: str) -> dict[str, int]:
    """How many tasks Ansible had to change, by machine, as its recap says."""
    return {match[1]: int(match[3]) for match in RECAP.finditer(said)}


@contextlib.contextmanager
def _child(words: Sequence[str], given: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Vagrant in a session of its own: the terminal's Ctrl-C is ours, and it gets one from us. setpriv: were we killed,
    it would get one too."""
    argv = ["setpriv", "--pdeathsig", "INT", "vagrant", *words]
    with (
        _ending_signals() as ending,
        subprocess.Popen(
            argv, cwd=PROJECT, env=dict(given), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        ) as process,
    ):  # fmt: skip
        try:
            ending.let_go()
            yield process
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[str]) -> None:
    """Interrupt it as Ctrl-C would, so that it leaves what it knows in order; then do not wait for ever."""
    if process.poll() is not None:
        return
    print(
        "lanelab: stopping vagrant, which finishes what it is at (Ctrl-C again: at once)", file=sys.stderr, flush=True
    )
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)  # Ansible too
    try:
        process.communicate(timeout=AFTER_INTERRUPT_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


class _Ending:
    """SIGTERM and SIGHUP end us in order, as Ctrl-C does; not before there is a process to end: it would be left to
    itself."""

    def __init__(self) -> None:
        self._held = True
        self._heard = 0

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        if self._held:
            self._heard = number
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            sys.exit(128 + number)

    def let_go(self) -> None:
        self._held = False
        if self._heard:
            self(self._heard, None)


@contextlib.contextmanager
def _ending_signals() -> Iterator[_Ending]:
    ending = _Ending()
    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    heard = [number for number in wanted if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, ending) for number in heard}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _remedy(said: str, log: Path) -> str:
    lower = said.lower()
    if "already in use by interface" in lower or "does not match with network name" in lower:
        return f"Give the machines' management another network: LANELAB_VM_MANAGEMENT=192.168.232.0/24. Log: {log}"
    if "authentication failure" in lower:
        what = "The machines may know another login key than this user's (it is in Vagrant's home folder)"
        return f"{what}: lanelab vm destroy, lanelab vm up. Log: {log}"
    if "is already taken" in lower or "already exists" in lower:
        return f"Something is left of machines that Vagrant has forgotten: lanelab vm destroy removes it. Log: {log}"
    if "no space left" in lower:
        return f"The disk is full: make room for about 5 GB in {build_folder()}. Log: {log}"
    if "cannot allocate memory" in lower:
        return f"The machines need 2.8 GB of memory in all: LANELAB_VM_MEMORY=512 takes less. Log: {log}"
    return f"The whole log is {log}"
