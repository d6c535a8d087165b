"""The libvirtd that runs the machines: this machine's own where it answers, else one that lanelab starts and ends.

lanelab's own (libvirtd) keeps everything in the build folder, and outlives the command that started it, as machines
do. There is one at a time on a machine. Its note in /run says whose it is, and what the machine was like before: a
restart of the machine empties /run, and resets what libvirt has changed.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import RecordError, VmError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.find_program import search_path
from lanelab.driver.bed.vagrant import host

SYSTEM, PRIVATE = "qemu:///system", "own"  # where machines are
RUN = Path("/run/lanelab-libvirtd")
PROGRAM = Path(__file__).parent / "libvirtd"
POOL = "default"  # where Vagrant keeps disks
KERNELS = ("-vmlinuz", "-initrd.img")  # what the Vagrantfile puts there too
START_S, ANSWER_S, END_S = 60.0, 20.0, 20.0
NAMESPACES = ("--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc")
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Daemon(Coded):
    """A libvirtd of lanelab's own."""

    folder: str  # where it keeps everything
    driver: str
    before: host.State  # what the machine was like
    pid: int = 0  # of unshare, with which all of it ends

    def runs(self) -> bool:
        """Return whether the process runs, and is no other that has got its number since."""
        try:
            first, *_, folder, driver, _ = Path(f"/proc/{self.pid}/cmdline").read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return False
        return (first, folder, driver) == ("unshare", self.folder, self.driver)


def ours() -> Daemon | None:
    """Return the one of this build folder, where it runs."""
    daemon = _noted()
    return daemon if daemon and daemon.runs() and daemon.folder == str(own_folder()) else None


def own_uri() -> str:
    """Return how to reach the one of this build folder. Not through the build folder: the address of a socket is
    short."""
    return f"{SYSTEM}?socket={_link() / 'libvirt-sock'}"


def own_folder() -> Path:
    """Return where the libvirt of this build folder keeps everything: machines, disks, networks, logs."""
    return (build_folder() / "vm" / "libvirt").absolute()


def prefix() -> str:
    """Return how the names of this build folder's machines, disks and networks begin. The Vagrantfile makes the
    same."""
    return f"lanelab-{_link().name}-"


def answers(home: str) -> bool:
    """Return whether the libvirtd answers that has the machines. VmError where it is not this user's to ask."""
    if home == SYSTEM:
        return virsh(SYSTEM, "version") is not None
    daemon = ours()
    if daemon and os.geteuid() != 0:
        raise VmError(f"the libvirtd of the virtual machines (process {daemon.pid}) is root's", "Run this as root")
    return daemon is not None and _link().exists()  # else its folder was removed


def ensure(home: str | None, driver: str, tell: Tell) -> None:
    """Make sure that the libvirtd of the machines answers. `home`: where they are, if there are any. No other one may
    be asked for them: Vagrant forgets machines that it does not find."""
    daemon = _noted()
    if daemon and daemon.runs() and not ours():
        what = f"virtual machines of another build folder are up ({daemon.folder}; process {daemon.pid})"
        raise VmError(what, "Their networks have the same names and addresses: lanelab vm halt there, then this again")
    if home == PRIVATE and answers(PRIVATE):
        return
    stop(tell)  # one without its folder or without machines, or what is left of one that was killed
    if home != PRIVATE and answers(SYSTEM):
        return
    if home == SYSTEM:
        raise no_answer()
    _start(driver, tell)


def no_answer() -> VmError:
    return VmError(
        f"this machine's libvirtd has the virtual machines, and does not answer at {SYSTEM}",
        "Start it ('systemctl start libvirtd'), or be a user whom it lets in (root, the group libvirt)",
    )


def stop(tell: Tell) -> None:
    """End the one of this build folder with its machines and networks, and undo what any that has ended did to this
    machine."""
    if daemon := ours():
        # Bridges belong to the machine: they would outlive their libvirtd.
        for listing, end in (("list", "destroy"), ("net-list", "net-destroy")):
            for name in (virsh(own_uri(), listing, "--name") or "").split():
                virsh(own_uri(), end, name)
        _kill(daemon)
        tell("ended the libvirtd that lanelab had started")
    daemon = _noted()
    if daemon and not daemon.runs() and os.geteuid() == 0:
        if changed := host.restore(daemon.before, bridges=not answers(SYSTEM)):
            tell(f"this machine's {', '.join(changed)} as before")
        shutil.rmtree(RUN)


def remove_own() -> bool:
    """Remove all that the one of this build folder has kept; whether there was anything. It must have ended."""
    existed = own_folder().exists()
    shutil.rmtree(own_folder(), ignore_errors=True)
    return existed


def remove_all(uri: str) -> list[str]:
    """Remove whatever has this build folder's names: Vagrant removes only what it knows."""
    removed = []
    for listing, commands in (
        (("list", "--all", "--name"), (("destroy",), ("undefine",))),
        (("vol-list", POOL), (("vol-delete", "--pool", POOL),)),
        (("net-list", "--all", "--name"), (("net-destroy",), ("net-undefine",))),
    ):
        for name in _names(uri, *listing):
            if name.startswith(prefix()):
                for command in commands:
                    virsh(uri, *command, name)
                removed.append(name)
    return [name for name in removed if not name.endswith(KERNELS)]


def forget_old_boxes(uri: str, begin: str) -> None:
    """Remove the disks of boxes, apart from the newest and those that others' machines are based on. Their names end
    with when they came."""
    volumes = _names(uri, "vol-list", POOL)
    based = "".join(virsh(uri, "vol-dumpxml", "--pool", POOL, each) or "" for each in volumes if begin not in each)
    for name in sorted(name for name in volumes if name.startswith(begin))[:-1]:
        if f"/{name}<" not in based:
            virsh(uri, "vol-delete", "--pool", POOL, name)


def virsh(uri: str, *words: str) -> str | None:
    """What virsh prints; None when it fails or nobody answers."""
    try:
        done = subprocess.run(
            ["virsh", "--quiet", "--connect", uri, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=ANSWER_S, check=False, env={**os.environ, "PATH": search_path(), "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return None
    return done.stdout if done.returncode == 0 else None


def _names(uri: str, *listing: str) -> list[str]:
    """Return the first word of each line."""
    return [line.split()[0] for line in (virsh(uri, *listing) or "").splitlines() if line.strip()]


def _start(driver: str, tell: Tell) -> None:
    if os.geteuid() != 0:
        remedy = "Run this as root, or have an administrator start libvirtd ('systemctl start libvirtd') and put you "
        remedy += "into the group libvirt"
        raise VmError(f"no libvirtd answers at {SYSTEM}, and only root can start one", remedy)
    folder = own_folder()
    folder.mkdir(parents=True, exist_ok=True)
    tell(f"starting a libvirtd of its own, since none runs here (logs: {folder / 'var/log/libvirt'})")
    daemon = Daemon(str(folder), driver, host.state())
    RUN.mkdir(mode=0o755, exist_ok=True)
    with _note().open("x") as note:  # before anything changes; refused where another lanelab starts one now
        json.dump(daemon.to_json(), note)
    _link().unlink(missing_ok=True)
    _link().symlink_to(folder / "run/libvirt")
    with (folder / "start.log").open("w") as log:
        process = subprocess.Popen(
            ["unshare", *NAMESPACES, "--", PROGRAM, folder, driver], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, cwd="/", env={**os.environ, "PATH": search_path()},
        )  # fmt: skip
    _note().write_text(json.dumps(daemon.to_json() | {"pid": process.pid}))
    deadline = time.monotonic() + START_S
    while virsh(own_uri(), "version") is None:
        if process.poll() is not None or time.monotonic() > deadline:
            last = (folder / "start.log").read_text().strip().splitlines()[-1:]
            stop(tell)
            raise VmError(f"libvirtd did not start: {' '.join(last) or 'it does not answer'}", f"Logs: {folder}")
        time.sleep(0.2)
    # It may know a pool from before that is not active: Vagrant would not see that one, and fail to make it again.
    virsh(own_uri(), "pool-start", POOL)


def _kill(daemon: Daemon) -> None:
    """Kill process 1 of its namespaces: when unshare ends after it, every process in there has ended."""
    for child in Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)
    deadline = time.monotonic() + END_S
    while daemon.runs() and time.monotonic() < deadline:
        time.sleep(0.05)


def _noted() -> Daemon | None:
    """Return the one that was started last on this machine, whether it runs or not."""
    try:
        return Daemon.from_json(json.loads(_note().read_text()))
    except (FileNotFoundError, ValueError, RecordError):
        return None


def _note() -> Path:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return RUN / f"{boot}.json"


def _link() -> Path:
    """Leads to the folder of this build folder's socket."""
    return RUN / hashlib.sha256(os.fsencode(build_folder().resolve())).hexdigest()[:6]
