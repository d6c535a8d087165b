"""What a bed changes on a machine outside its own namespaces, and that it is as before when the bed has ended.

A bed's part on a machine lives in namespaces that the kernel removes with its last process. What cannot live there are
the offloads of the interface that its cable hangs on (driver/bed/remote/offloads.py), and three watch over them. The
keeper restores them when the node ends; the guard, a process apart, when the keeper is killed; the next bed when both
were. (After a crash of the machine they are as its boot sets them, and the note in /run is gone.)

Runs on machines that ssh reaches, with any Python from 3.9 on and its standard library.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import syslog
from collections.abc import Iterable

from lanelab.driver.base.system_path import SYSTEM_PATH
from lanelab.driver.bed.remote.offloads import Interfaces


def put_back(interfaces: Interfaces) -> None:
    """Report in the machine's own log what could not be put back: nobody else listens by now."""
    for trouble in interfaces.restore():
        syslog.syslog(syslog.LOG_WARNING, "lanelab: " + trouble + "; the next bed tries again")


def remove_cables(network: int, names: Iterable[str]) -> None:
    """Take a node's cables out of its namespace. That may outlive its processes by minutes, for the sake of TCP
    connections that have not heard that they are over, and with it what its cables ask of our interfaces."""
    for name in names:
        subprocess.run(
            ["nsenter", "--net=/proc/self/fd/" + str(network), "ip", "link", "delete", "dev", name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": SYSTEM_PATH},
            pass_fds=[network],
            check=False,
        )


class Guard:
    """A process that outlives us, and puts everything back when we have ended, however."""

    def __init__(self, interfaces: Interfaces) -> None:
        watched, self._line = socket.socketpair()
        child = os.fork()
        if child == 0:
            self._line.close()
            _be_guard(watched, interfaces)
        watched.close()
        os.waitpid(child, 0)

    def fileno(self) -> int:
        """It waits until nobody holds this any more."""
        return self._line.fileno()

    def take_over(self, network: int, names: Iterable[str]) -> None:
        """Tell it of a node's cables."""
        socket.send_fds(self._line, [" ".join(names).encode()], [network])


def _be_guard(watched: socket.socket, interfaces: Interfaces) -> None:
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.chdir("/")
        _keep_only({watched.fileno(), *interfaces.locks})
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # it ends with its keeper, and that heeds them: not before
        names, networks, _, _ = socket.recv_fds(watched, 1000, 1)
        if names:
            watched.recv(1)
            remove_cables(networks[0], names.decode().split())
        put_back(interfaces)
    finally:
        os._exit(0)


def _keep_only(wanted: Iterable[int]) -> None:
    """Every other descriptor is somebody else's, who would wait for us."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    spared = set(wanted)
    for fd in range(3, 4096):
        if fd not in spared:
            try:
                os.close(fd)
            except OSError:
                continue
