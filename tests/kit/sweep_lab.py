"""Machines for tests of sweeps, on this one: namespaces each, joined by a bridge that only they see.

        lab ── bridge ── each machine's eth0        10.97.0.11, 10.97.0.12, …

    python -P -m tests.kit.sweep_lab FOLDER

It reads orders from its stdin, a JSON list a line, and answers each with a line of JSON; it ends with its stdin. A
machine has an init that reaps, its own processes, network, mounts, host name, identity, /run and /dev/shm, and a folder
FOLDER/NAME that outlives it, as a disk does: a small one of its own where it was asked for. tests/bed/ssh_lab.py's
`enter` runs commands there.
"""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.bed.remote import enclosure, namespaces

BRIDGE = "switch"
FIRST = 11
IDENTITIES = ("/etc/machine-id", "/var/lib/dbus/machine-id")


class Lab:
    """The machines, as the process that made their network has them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers: dict[str, int] = {}
        self._inits: dict[str, int] = {}

    def start(self, name: str, disk_mib: int) -> list[object]:
        """The first process of a machine, by its number as this process sees it, and its address. One that was killed
        comes up with the address and the disk that it had."""
        disk, known = self._folder / name, name in self._numbers
        address = f"10.97.0.{FIRST + self._numbers.setdefault(name, len(self._numbers))}"
        if not known:
            disk.mkdir()
            if disk_mib:
                namespaces.mount("disk", str(disk), "tmpfs", data=f"size={disk_mib}m")
        ours, theirs = socket.socketpair()
        pid = _fork_machine(lambda: be_machine(name, address, disk, theirs))
        self._inits[name] = pid
        if ours.recv(1) != b"+":
            raise OSError(f"the machine {name} did not come up")
        device = device_of(self._numbers[name])
        ip(
            f"link add {device} type veth peer name eth0 netns {pid}",
            f"link set dev {device} master {BRIDGE}",
            f"link set dev {device} up",
        )
        ours.sendall(b"+")
        if ours.recv(1) != b"+":
            raise OSError(f"the machine {name} did not come up")
        return [pid, address]

    def kill(self, name: str) -> None:
        """All its processes, at once: the kernel kills what is in a process namespace before its init is reaped."""
        pid = self._inits.pop(name)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        # With the namespace the cable goes by itself, sooner or later.
        subprocess.run(["ip", "link", "delete", device_of(self._numbers[name])], capture_output=True, check=False)

    def cut(self, name: str, how: str) -> None:
        """`down`: the machine sees that its cable is out. `silent`: nobody is told that nothing arrives."""
        device = device_of(self._numbers[name])
        ip(f"link set dev {device} down" if how == "down" else f"link set dev {device} nomaster")

    def mend(self, name: str) -> None:
        device = device_of(self._numbers[name])
        ip(f"link set dev {device} master {BRIDGE}", f"link set dev {device} up")


def main() -> None:
    enclosure.enter(namespaces.CLONE_NEWNET | namespaces.CLONE_NEWIPC)
    namespaces.mount_sys()
    ip(f"link add {BRIDGE} type bridge", f"link set dev {BRIDGE} up", "link set dev lo up")
    lab = Lab(Path(sys.argv[1]))
    orders: dict[str, Callable[..., object]] = {
        "start": lab.start,
        "kill": lab.kill,
        "cut": lab.cut,
        "mend": lab.mend,
    }
    print("[]", flush=True)  # there it is
    for line in sys.stdin:
        order, *words = json.loads(line)
        try:
            answer = {"is": orders[order](*words)}
        except (OSError, subprocess.CalledProcessError) as error:
            answer = {"failed": str(error)}
        print(json.dumps(answer), flush=True)
    os._exit(0)  # and with this process all the machines


def ip(*lines: str) -> None:
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, capture_output=True, check=False)
    if done.returncode:
        raise OSError(f"ip {lines}: {done.stderr}")


def device_of(number: int) -> str:
    return f"m{number}"


def _fork_machine(be: Callable[[], None]) -> int:
    """The init of new namespaces: a child of this process, so that its end can be waited for."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    namespaces.unshare(namespaces.CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        namespaces.die_with_parent(0)
        namespaces.unshare(namespaces.CLONE_NEWNET | namespaces.CLONE_NEWNS | namespaces.CLONE_NEWUTS)
        be()
    namespaces.enter(own, namespaces.CLONE_NEWPID)  # later children belong to this process's own again
    os.close(own)
    return child


def be_machine(name: str, address: str, disk: Path, line: socket.socket) -> None:
    flags = namespaces.MS_NOSUID | namespaces.MS_NODEV
    namespaces.mount_proc()
    namespaces.mount_sys()
    for folder in ("/run", "/dev/shm"):  # noqa: S108 - the machine's own
        namespaces.mount("machine", folder, "tmpfs", flags)
    socket.sethostname(name)
    identity = Path("/run/machine-id")
    identity.write_text(hashlib.sha256(name.encode()).hexdigest()[:32] + "\n")
    for place in IDENTITIES:
        if Path(place).exists():
            namespaces.mount(str(identity), place, flags=namespaces.MS_BIND)
    (disk / "tmp").mkdir(exist_ok=True)
    line.sendall(b"+")
    line.recv(1)
    Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
    ip("link set dev lo up", f"addr add {address}/24 dev eth0", "link set dev eth0 up")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whatever loses its parent is reaped
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line.sendall(b"+")
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
