"""The libvirtd that runs the machines: this machine's own where it answers, else one that lanelab starts and ends.

Ours lives in mount and process namespaces (libvirt_init.py), keeps everything in the build folder, and goes on when the
command ends that started it: machines outlive `lanelab vm up`. Who it is stands in a file, with the time at which it
started, so that a number that another process has got since is never taken for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from driver.errors import VmError
from driver.paths import build_folder
from driver.programs import search_path
from driver.vm import libvirt_init
from driver.vm.accelerator import EMULATED, Driver

SYSTEM = "qemu:///system"
POOL = "default"  # where Vagrant keeps disks
START_S = 60.0
ANSWER_S = 20.0


@dataclass(frozen=True)
class Daemon:
    """A libvirtd of ours."""

    pid: int  # of unshare, with which all of it ends
    started: int  # when that was, as the kernel counts
    driver: str

    @property
    def uri(self) -> str:
        # Not by its path in the build folder: that may be longer than the address of a socket may be.
        return f"{SYSTEM}?socket=/proc/{self.pid}/root/run/libvirt/libvirt-sock"

    def runs(self) -> bool:
        return _started(self.pid) == self.started


def ours() -> Daemon | None:
    """The one that lanelab started, where it still runs."""
    try:
        daemon = Daemon(**json.loads(_record().read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return daemon if daemon.runs() else None


def ensure(driver: Driver, tell: Callable[[str], None]) -> str:
    """See to it that a libvirtd answers; its address."""
    daemon = ours()
    if daemon and daemon.driver != driver.name and not _machines(daemon.uri):
        tell(f"starting libvirtd anew, for {driver.name}")
        stop()
        daemon = None
    if daemon is None and answers(SYSTEM):
        _uri_file().unlink(missing_ok=True)
        return SYSTEM
    if daemon is None:
        daemon = _start(driver, tell)
    _uri_file().write_text(daemon.uri + "\n")
    return daemon.uri


def answers(uri: str) -> bool:
    return _virsh(uri, "version") is not None


def forget_old_boxes(prefix: str) -> None:
    """Of the disks of boxes that ours keeps, only the newest is of use. Their names end with when they came."""
    daemon = ours()
    if daemon is None:
        return
    listed = (_virsh(daemon.uri, "vol-list", POOL) or "").splitlines()
    kept = sorted(line.split()[0] for line in listed if line.strip().startswith(prefix))
    for name in kept[:-1]:
        _virsh(daemon.uri, "vol-delete", "--pool", POOL, name)


def stop() -> bool:
    """End ours, its machines (if any still run) and its networks; whether there was one."""
    daemon = ours()
    _uri_file().unlink(missing_ok=True)
    if daemon is None:
        _record().unlink(missing_ok=True)
        return False
    # Bridges are the machine's: they would stay when their libvirtd is gone.
    for command, what in (("list", "destroy"), ("net-list", "net-destroy")):
        for name in (_virsh(daemon.uri, command, "--name") or "").split():
            _virsh(daemon.uri, what, name)
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(daemon.pid)
        try:
            if daemon.runs():  # after the handle: from here on it is this process and no other
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
    _record().unlink(missing_ok=True)
    return True


def _start(driver: Driver, tell: Callable[[str], None]) -> Daemon:
    if os.geteuid() != 0:
        raise VmError(
            "no libvirtd answers at qemu:///system, and only root can start one",
            "Run this as root, or have an administrator start libvirtd ('systemctl start libvirtd') and put you into "
            "the group libvirt",
        )
    folder = _folder()
    libvirt_init.lay_out(folder)
    tell(f"starting a libvirtd of its own, since none runs here (log: {folder / 'log' / 'libvirtd.log'})")
    init = [sys.executable, "-I", libvirt_init.__file__, str(folder)]
    hide = ["hide-kvm"] if driver.name == EMULATED else []
    namespaces = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]
    with (folder / "log" / "start.log").open("w") as output:
        process = subprocess.Popen(
            ["unshare", *namespaces, "--", *init, *hide], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, "PATH": search_path()}, start_new_session=True, cwd="/",
        )  # fmt: skip
    daemon = Daemon(process.pid, _started(process.pid), driver.name)
    _record().write_text(json.dumps(daemon.__dict__))
    deadline = time.monotonic() + START_S
    while not answers(daemon.uri):
        if process.poll() is not None or time.monotonic() > deadline:
            last = (folder / "log" / "start.log").read_text().strip().splitlines()[-1:]
            stop()
            raise VmError(
                f"libvirtd did not start: {' '.join(last) or 'it does not answer'}", f"Logs: {folder / 'log'}"
            )
        time.sleep(0.2)
    return daemon


def _machines(uri: str) -> list[str]:
    return (_virsh(uri, "list", "--name") or "").split()


def _virsh(uri: str, *words: str) -> str | None:
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


def _folder() -> Path:
    return (build_folder() / "vm" / "libvirt").absolute()


def _record() -> Path:
    return _folder() / "process.json"


def _uri_file() -> Path:
    return build_folder() / "vm" / "libvirt-uri"
