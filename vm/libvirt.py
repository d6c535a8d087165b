"""The libvirtd that runs the machines: this machine's own where it answers, else one that lanelab starts and ends.

Ours lives in mount and process namespaces (libvirt_init.py), keeps everything in the build folder, and goes on when the
command ends that started it: machines outlive `lanelab vm up`. Who it is stands in a file in /run, so that one whose
build folder was removed meanwhile is found and ended, with the time at which it started, so that a number that another
process has got since is never taken for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from driver.host.find_program import search_path
from model.errors import VmError
from model.paths import build_folder
from vm import host, libvirt_init
from vm.accelerator import EMULATED, Driver

SYSTEM = "qemu:///system"
OWN = "own"  # where machines live that one of ours keeps; SYSTEM: the others
RECORD = ".process.json"
POOL = "default"  # where Vagrant keeps disks
START_S = 60.0
ANSWER_S = 20.0
END_S = 20.0

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Daemon:
    """A libvirtd of ours."""

    pid: int  # of unshare, with which all of it ends
    started: int  # when that was, as the kernel counts
    driver: str

    @property
    def uri(self) -> str:
        # Not by its path in the build folder: that may be longer than the address of a socket may be.
        return f"{SYSTEM}?socket={self._socket}"

    @property
    def _socket(self) -> str:
        return f"/proc/{self.pid}/root/run/libvirt/libvirt-sock"

    def runs(self) -> bool:
        return _started(self.pid) == self.started

    def is_lost(self) -> bool:
        """Whether the folder in which it keeps everything was removed. One that is only slow to answer is not."""
        return not Path(self._socket).exists()


def ours() -> Daemon | None:
    """The one that lanelab started for this build folder, where it still runs."""
    return _read(_record())


def ours_answers() -> bool:
    """Whether ours runs and can be asked; VmError where it can, but not by this user."""
    daemon = ours()
    if daemon is None:
        return False
    require_mine(daemon)
    return not daemon.is_lost()


def others() -> list[Daemon]:
    """Those that lanelab started for other build folders."""
    found = [_read(record) for record in sorted(host.FOLDER.glob(f"*{RECORD}")) if record != _record()]
    return [daemon for daemon in found if daemon]


def require_mine(daemon: Daemon) -> None:
    if os.geteuid() != 0:
        raise VmError(f"the libvirtd of the virtual machines (process {daemon.pid}) is root's", "Run this as root")


def ensure(driver: Driver, tell: Tell, *, home: str | None = None) -> str:
    """See to it that a libvirtd answers; its address. `home`: who has the machines that exist, where any do. Another
    one must never be asked for them: Vagrant forgets machines that it does not find."""
    daemon = ours()
    if daemon:
        require_mine(daemon)
    if daemon and daemon.is_lost():
        tell("ending the libvirtd of lanelab's own, whose folder was removed")
        stop(tell)
        daemon = None
    if daemon and daemon.driver != driver.name and _machines(daemon.uri) == []:
        tell(f"starting libvirtd anew, for {driver.name}")
        stop(tell)
        daemon = None
    if home == SYSTEM or (home is None and daemon is None):
        if answers(SYSTEM):
            _uri_file().unlink(missing_ok=True)
            return SYSTEM
        if home == SYSTEM:
            raise no_answer()
    if daemon is None:
        daemon = _start(driver, tell)
    _uri_file().write_text(daemon.uri + "\n")
    return daemon.uri


def no_answer() -> VmError:
    return VmError(
        f"this machine's libvirtd has the virtual machines, and does not answer at {SYSTEM}",
        "Start it ('systemctl start libvirtd'), or be a user whom it lets in (root, the group libvirt)",
    )


def answers(uri: str) -> bool:
    return virsh(uri, "version") is not None


def stop(tell: Tell) -> bool:
    """End ours, its machines (if any still run) and its networks, and undo what it did to this machine if it was the
    last; whether there was one."""
    daemon = ours()
    _uri_file().unlink(missing_ok=True)
    if daemon is not None:
        # Bridges are the machine's: they would stay when their libvirtd is gone.
        for command, what in (("list", "destroy"), ("net-list", "net-destroy")):
            for name in (virsh(daemon.uri, command, "--name") or "").split():
                virsh(daemon.uri, what, name)
        _kill(daemon)
    if host.FOLDER.is_dir() and os.geteuid() == 0:
        with host.locked() as folder:
            _record().unlink(missing_ok=True)
            if not any(_read(record) for record in folder.glob(f"*{RECORD}")):
                host.restore(folder, tell, bridges=not answers(SYSTEM))
    return daemon is not None


def _kill(daemon: Daemon) -> None:
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(daemon.pid)
        try:
            if daemon.runs():  # after the handle: from here on it is this process and no other
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                select.select([handle], [], [], END_S)
        finally:
            os.close(handle)


def _start(driver: Driver, tell: Tell) -> Daemon:
    if os.geteuid() != 0:
        raise VmError(
            "no libvirtd answers at qemu:///system, and only root can start one",
            "Run this as root, or have an administrator start libvirtd ('systemctl start libvirtd') and put you into "
            "the group libvirt",
        )
    folder = own_folder()
    libvirt_init.lay_out(folder)
    tell(f"starting a libvirtd of its own, since none runs here (log: {folder / 'log' / 'libvirtd.log'})")
    init = [sys.executable, "-I", libvirt_init.__file__, str(folder)]
    hide = ["hide-kvm"] if driver.name == EMULATED else []
    namespaces = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]
    with (folder / "log" / "start.log").open("w") as output, host.locked() as known:
        host.remember(known, libvirt_init.PLACES.values())
        process = subprocess.Popen(
            ["unshare", *namespaces, "--", *init, *hide], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, "PATH": search_path()}, start_new_session=True, cwd="/",
        )  # fmt: skip
        daemon = Daemon(process.pid, _started(process.pid), driver.name)
        _record().write_text(json.dumps(asdict(daemon)))
    deadline = time.monotonic() + START_S
    while not answers(daemon.uri):
        if process.poll() is not None or time.monotonic() > deadline:
            last = (folder / "log" / "start.log").read_text().strip().splitlines()[-1:]
            stop(tell)
            raise VmError(
                f"libvirtd did not start: {' '.join(last) or 'it does not answer'}", f"Logs: {folder / 'log'}"
            )
        time.sleep(0.2)
    # A pool that it knows from before may not be active; Vagrant would not see it, and make it again, in vain.
    virsh(daemon.uri, "pool-start", POOL)
    return daemon


def _machines(uri: str) -> list[str] | None:
    """Those that run; None where nobody can tell now."""
    said = virsh(uri, "list", "--name")
    return None if said is None else said.split()


def virsh(uri: str, *words: str) -> str | None:
    """What virsh says; None when it fails or nobody answers."""
    try:
        done = subprocess.run(
            ["virsh", "--quiet", "--connect", uri, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=ANSWER_S, check=False, env={**os.environ, "PATH": search_path(), "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return None
    return done.stdout if done.returncode == 0 else None


def _started(pid: int) -> int:
    """When a process started, in the kernel's ticks; 0 where there is none, or one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return 0 if fields[0] == "Z" else int(fields[19])


def _read(record: Path) -> Daemon | None:
    try:
        daemon = Daemon(**json.loads(record.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return daemon if daemon.runs() else None


def own_folder() -> Path:
    """Where ours keeps everything."""
    return (build_folder() / "vm" / "libvirt").absolute()


def _record() -> Path:
    return host.FOLDER / (hashlib.sha256(os.fsencode(own_folder())).hexdigest()[:16] + RECORD)


def _uri_file() -> Path:
    return build_folder() / "vm" / "libvirt-uri"
