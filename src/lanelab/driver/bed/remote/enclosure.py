"""A process tree that ends whole: who owns it goes on inside, in namespaces of its own.

    launcher (outside: waits, and dies with whoever started it)
      └─ init (first process of the new process namespace: reaps)
           └─ the process that goes on

Each dies with its parent; when init dies, the kernel kills all that is inside and frees namespaces and interfaces.
The launcher may have an owner, a process with several threads: it watches that process, and ends when the process does.
(PR_SET_PDEATHSIG, by which the others end, kills a child when the *thread* that started it ends.)
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.bed.remote import namespaces

BED_STATE = "/run/lanelab"  # where a bed, and each of its nodes, keeps files in memory


def enter(spaces: int, owner: int | None = None) -> None:
    """Go on, in another process, inside namespaces of these kinds and a process namespace, with a /proc and an empty
    /run of our own. `owner`: a pidfd; the tree ends when that process does. Raises OSError or NamespaceError."""
    namespaces.enter_user_namespace(spaces | namespaces.CLONE_NEWNS | namespaces.CLONE_NEWPID)
    continue_in_child(lambda child: wait_for(child, owner))  # the launcher stays outside and waits
    continue_in_child(reap_until)  # init stays and reaps
    namespaces.mount_proc()
    namespaces.mount("lanelab", "/run", "tmpfs", namespaces.MS_NOSUID | namespaces.MS_NODEV)
    with contextlib.suppress(OSError):  # read-only in some containers; it only keeps solicitations off the cables
        Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")


def continue_in_child(stay: Callable[[int], None]) -> None:
    """Fork: the child goes on and dies with this process; this process stays behind in `stay` until the child ends."""
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        # The parent's number as seen from a new process namespace is 0.
        seen = os.getppid()
        namespaces.die_with_parent(seen if seen == 0 else parent)
        return
    stay(child)


def wait_for(child: int, owner: int | None) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _close_everything(owner)
    if owner is not None and _ends_first(owner, child):
        os._exit(1)  # and so does the child, which dies with its parent
    _, status = os.waitpid(child, 0)
    os._exit(max(os.waitstatus_to_exitcode(status), 0))


def _ends_first(owner: int, child: int) -> bool:
    """Wait until one of two processes has ended; whether the owner has."""
    watched = select.poll()
    watched.register(owner, select.POLLIN)
    watched.register(os.pidfd_open(child), select.POLLIN)
    return any(fd == owner for fd, _ in watched.poll())


def reap_until(child: int) -> None:
    _close_everything()
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            os._exit(max(os.waitstatus_to_exitcode(status), 0))


def _close_everything(spared: int | None = None) -> None:
    """A process that only waits must hold no end of the channel to the controller: the channel closes when the process
    inside ends."""
    last = min(os.sysconf("SC_OPEN_MAX"), 65536)
    with contextlib.suppress(OSError):
        os.closerange(0, last if spared is None else spared)
        if spared is not None:
            os.closerange(spared + 1, last)
