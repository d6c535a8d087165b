"""Three machines for tests of the ssh substrate: namespaces with an sshd each, on a machine that only they see.

        controller's side ── management ── each machine's eth0        10.99.N.1, 10.99.N.2
        client eth1 ── eth1 router eth2 ── eth1 server                without addresses

    python -P -m tests.bed.ssh_lab FOLDER             makes them; prints JSON when they are up; ends with its stdin
    python -P -m tests.bed.ssh_lab enter PID WORDS…   runs a command where that process is

A machine has an init that reaps, its own processes, network, mounts, host name and /run. Its only user has the rights
of root over it, but not its number, since one that is not root can have no other.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from lanelab.driver.bed.remote import enclosure, namespaces

MACHINES = ("client", "router", "server")
USER = "lanelabtester"
SSHD = "/usr/sbin/sshd"
SPACES = ("user", "ipc", "net", "mnt", "pid", "uts")
SETTINGS = """
ListenAddress 0.0.0.0
HostKey {folder}/host-{name}
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
"""


def address_of(name: str) -> str:
    return f"10.99.{MACHINES.index(name) + 1}.2"


def main() -> None:
    if sys.argv[1] == "enter":
        enter(int(sys.argv[2]), sys.argv[3:])
    folder = Path(sys.argv[1])
    enclosure.enter(namespaces.CLONE_NEWNET | namespaces.CLONE_NEWIPC)
    namespaces.mount_sys()
    run("ip", "link", "set", "dev", "lo", "up")
    machines = {name: start_machine(name, folder) for name in MACHINES}
    wire(machines)
    for _, line in machines.values():
        line.send(b"+")
    for _, line in machines.values():
        assert line.recv(1) == b"+"
    print(json.dumps({name: pid for name, (pid, _) in machines.items()}), flush=True)
    sys.stdin.read()
    os._exit(0)


def run(*argv: str) -> None:
    subprocess.run(argv, check=True)


def wire(machines: dict[str, tuple[int, socket.socket]]) -> None:
    pids = {name: str(pid) for name, (pid, _) in machines.items()}
    lines = []
    for name in MACHINES:
        near = address_of(name)[:-1] + "1"
        lines.append(f"link add m-{name} type veth peer name eth0 netns {pids[name]}")
        lines += [f"addr add {near}/24 dev m-{name}", f"link set dev m-{name} up"]
    lines.append(f"link add name eth1 netns {pids['client']} type veth peer name eth1 netns {pids['router']}")
    lines.append(f"link add name eth2 netns {pids['router']} type veth peer name eth1 netns {pids['server']}")
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def start_machine(name: str, folder: Path) -> tuple[int, socket.socket]:
    """Its first process; it waits for a word before it goes on, and says one when sshd listens."""
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    spaces = namespaces.CLONE_NEWNET | namespaces.CLONE_NEWNS | namespaces.CLONE_NEWPID | namespaces.CLONE_NEWUTS
    outer = os.fork()
    if outer == 0:
        ours.close()
        namespaces.die_with_parent(parent)
        namespaces.unshare(spaces)
        first = os.fork()
        if first:
            theirs.sendall(f"{first}\n".encode())
            theirs.close()
            os.waitpid(first, 0)
            os._exit(0)
        namespaces.die_with_parent(0)
        be_machine(name, folder, theirs)
    theirs.close()
    told = b""
    while not told.endswith(b"\n"):
        told += ours.recv(1)
    return int(told), ours


def be_machine(name: str, folder: Path, line: socket.socket) -> None:
    namespaces.mount_proc()
    flags = namespaces.MS_NOSUID | namespaces.MS_NODEV
    namespaces.mount("machine", "/run", "tmpfs", flags)
    namespaces.mount_sys()
    socket.sethostname(f"machine-{name}")
    Path("/run/sshd").mkdir()
    home = folder / f"home-{name}"
    home.mkdir(exist_ok=True)
    shell = (folder / f"shell-{name}").read_text()
    entry = f"{USER}:x:{os.getuid()}:{os.getgid()}::{home}:{shell}\n"
    Path("/run/passwd").write_text(entry + Path("/etc/passwd").read_text())
    namespaces.mount("/run/passwd", "/etc/passwd", flags=namespaces.MS_BIND)
    line.recv(1)
    with contextlib.suppress(OSError):  # addresses that come by themselves some seconds later are no bed's doing
        Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
    addresses = (folder / f"addresses-{name}").read_text().split()
    lines = ["link set dev lo up", *(f"addr add {address}/24 dev eth0" for address in addresses)]
    lines += [f"link set dev {device} up" for device in ("eth0", "eth1", *(["eth2"] if name == "router" else []))]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)
    for device in ("eth1", "eth2") if name == "router" else ("eth1",):  # as hardware comes, and veths do not
        subprocess.run(["ethtool", "-K", device, "gro", "on"], check=False)
    settings = folder / f"sshd-{name}"
    settings.write_text(SETTINGS.format(folder=folder, name=name))
    with (folder / f"sshd-{name}.log").open("wb") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", settings], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    while socket.socket().connect_ex((address_of(name), 22)) != 0:
        if server.poll() is not None:
            os._exit(1)
    line.send(b"+")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        os.wait()  # whatever loses its parent is ours to reap


def enter(pid: int, words: list[str]) -> None:
    """Become that command there, in a child (a process namespace is only for children), and end with its status."""
    folder = Path.cwd()  # other mounts begin at their root
    theirs = {kind: Path(f"/proc/{pid}/ns/{kind}").readlink() for kind in SPACES}
    others = [kind for kind in SPACES if theirs[kind] != Path(f"/proc/self/ns/{kind}").readlink()]
    for fd in [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in others]:
        namespaces.enter(fd, 0)
    os.chdir(folder)
    namespaces.keep_capabilities()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        namespaces.die_with_parent(parent if os.getppid() else 0)
        os.execvp(words[0], words)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
