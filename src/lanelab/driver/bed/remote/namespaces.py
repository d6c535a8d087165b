"""Linux namespaces without root: the calls, and why they fail when they do.

Python 3.11 has no unshare, setns or mount, and the tools that have them disagree between distributions, so the
calls are made here. Nothing but this file knows their numbers.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import socket
from pathlib import Path

from lanelab.driver.bed.remote.refusals import diagnose

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 0x2, 0x4, 0x8
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000

PR_SET_PDEATHSIG = 1
PR_SET_TIMERSLACK = 29
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAPABILITY_VERSION_3 = 0x20080522

# Chromium's sandbox, Apache and tcpdump each treat user 0 in a special way that harms here: root gets this
# number inside the bed (and stays root outside of it, so files still belong to root).
INNER_ID_OF_ROOT = 1000

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def enter(fd: int, kind: int) -> None:
    """Put this thread into a namespace; the other threads stay where they are."""
    _check(_libc.setns(fd, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), data.encode() or None
    )
    _check(result, f"mount {kind or source} on {target}")


def die_with_parent(parent_pid: int) -> None:
    """Be killed when the thread that started this process ends; at once if it has ended already."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)


def precise_timers() -> None:
    """What this thread starts from now on is woken when its timers expire, not up to 50 microseconds later."""
    _check(_libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0), "prctl(PR_SET_TIMERSLACK)")


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def keep_capabilities() -> None:
    """Let programs that we start keep this namespace's capabilities although their user is not 0."""
    header = _CapabilityHeader(CAPABILITY_VERSION_3, 0)
    data = (_CapabilityData * 2)()
    _check(_libc.capget(ctypes.byref(header), data), "capget")
    for half in data:
        half.inheritable = half.permitted
    _check(_libc.capset(ctypes.byref(header), data), "capset")
    for number in range(64):
        if data[number // 32].permitted & (1 << number % 32):
            _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0)


def enter_user_namespace(other_flags: int) -> None:
    """Enter a user namespace of our own in which we keep our user's number, and the other namespaces inside it."""
    uid, gid = os.getuid(), os.getgid()
    try:
        unshare(CLONE_NEWUSER | other_flags)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid or INNER_ID_OF_ROOT} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid or INNER_ID_OF_ROOT} {gid} 1")
        mount("none", "/", flags=MS_REC | MS_PRIVATE)
        keep_capabilities()
    except OSError as error:
        raise diagnose(error) from error


def mount_proc() -> bool:
    """Mount a /proc of the new process namespace. False where a container hides parts of /proc and so forbids a new
    one: the old one still works for what runs in the bed, but its /proc/sys may be read-only."""
    try:
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except OSError as error:
        if error.errno == errno.EPERM:
            return False
        raise
    return True


def name_host(name: str) -> None:
    """Give this namespace its host name. Where a container's filter denies that, the machine's own stays, and the bed's
    facts say so: nothing finds a node by it."""
    with contextlib.suppress(PermissionError):
        socket.sethostname(name)


def mount_sys() -> None:
    """A /sys that shows this namespace's interfaces; where a container forbids it, the old one stays."""
    with contextlib.suppress(OSError):
        mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC)
