"""Nodes that are network namespaces of this machine, and the making of those namespaces."""

import os
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lanelab.driver.base.errors import NodeError
from lanelab.driver.base.programs.find_program import search_path
from lanelab.driver.bed.commands import cover, program
from lanelab.driver.bed.local import LocalNode, connected
from lanelab.driver.bed.node import Command, Process, Stdio, Terminal
from lanelab.driver.bed.remote import namespaces
from lanelab.driver.bed.remote.agent_protocol import missing_folder
from lanelab.driver.bed.remote.enclosure import BED_STATE

NSENTER_OPTIONS = {"net": "net", "mnt": "mount", "uts": "uts"}
KINDS = tuple(NSENTER_OPTIONS)
# nsenter leaves a command at the root of its mounts; this goes back, without any quoting.
IN_FOLDER = 'cd -- "$1" || exit 126; shift; exec "$@"'


class NetnsNode(LocalNode):
    """A node whose network (and mounts, and host name) is a namespace held open by descriptors."""

    def __init__(self, name: str, cpus: str = "") -> None:
        super().__init__(name)
        self._cpus = cpus
        self._nsenter = program("nsenter")
        self._fds = _make_namespaces(name)
        # As this /proc counts: a container may not let us mount one of our own. By that number our descriptors can be
        # reached without being inherited, and so being left open in every command.
        self._owner = int(os.readlink("/proc/self"))  # noqa: PTH115

    @property
    def network(self) -> str:
        """The network namespace, for `ip link … netns`; the command must inherit `descriptors`."""
        return f"/proc/self/fd/{self._fds['net']}"

    @property
    def descriptors(self) -> tuple[int, ...]:
        return tuple(self._fds.values())

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        environment = {**os.environ, "PATH": search_path(), **command.env}
        folder = command.cwd or "/"
        self._require(command.argv[0], folder, environment["PATH"])
        entry = [f"--{long}=/proc/{self._owner}/fd/{self._fds[kind]}" for kind, long in NSENTER_OPTIONS.items()]
        pinned = [program("taskset"), "--cpu-list", self._cpus] if self._cpus else []
        argv = [self._nsenter, *entry, "--", *pinned, "sh", "-c", IN_FOLDER, "sh", folder, *command.argv]
        return self._start(argv, environment, stdio, terminal)

    def _require(self, name: str, folder: str, path: str) -> None:
        """Require the folder and the program, as the command will find them: relative ones begin at its folder, not at
        ours."""
        if not Path(folder).is_dir():
            raise NodeError(f"on {self.name}, {missing_folder(folder)}", "Go to another folder")
        place = Path(folder, name) if "/" in name else name
        if shutil.which(place, path=":".join(str(Path(folder, entry)) for entry in path.split(":"))):
            return
        try:
            exists = "/" in name and Path(place).is_file()
        except OSError as error:
            raise NodeError(f"on {self.name}, '{name}' cannot be reached: {error.strerror}") from error
        if exists:
            raise NodeError(f"on {self.name}, '{name}' is not executable", f"Run: chmod +x {name}")
        raise NodeError(f"on {self.name}, there is no program '{name}'", "Install it, or mind its spelling and PATH")

    def cover(self, path: str, text: str) -> None:
        cover(self, path, text)

    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        """Without a command, which would take longer than a server takes to start: a thread goes there instead."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(self._connect, address, port, timeout_s).result()

    def _connect(self, address: str, port: int, timeout_s: float) -> socket.socket:
        """In a thread that ends after this: only it is in the node's network."""
        namespaces.enter(self._fds["net"], namespaces.CLONE_NEWNET)
        return connected(address, port, timeout_s)

    def close(self) -> None:
        super().close()
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()


def _make_namespaces(name: str) -> dict[str, int]:
    """Make new namespaces, and return them as open descriptors: they live as long as those do."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ours.close()
            namespaces.unshare(namespaces.CLONE_NEWNET | namespaces.CLONE_NEWNS | namespaces.CLONE_NEWUTS)
            namespaces.name_host(name)
            # What runs on a node must not reach the bed's own socket and files.
            namespaces.mount("lanelab", BED_STATE, "tmpfs", namespaces.MS_NOSUID | namespaces.MS_NODEV)
            namespaces.mount_sys()
            fds = [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in KINDS]
            socket.send_fds(theirs, [b"+"], fds)
            status = 0
        except OSError as error:
            theirs.send(f"-{error}".encode()[:200])
        finally:
            os._exit(status)
    theirs.close()
    with ours:
        announcement, fds, _, _ = socket.recv_fds(ours, 200, len(KINDS))
    os.waitpid(child, 0)
    if announcement != b"+":
        raise NodeError(f"cannot make the node {name}: {announcement[1:].decode(errors='replace')}")
    return dict(zip(KINDS, fds, strict=True))
