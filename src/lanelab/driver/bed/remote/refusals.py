"""Why this machine refuses namespaces, and what to do about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import NamespaceError

CAP_SYS_ADMIN = 21


@dataclass(frozen=True)  # no slots: it also runs on machines whose Python is 3.9
class Refusal:
    """One cause: when it is the one, what it is, and its remedy."""

    applies: Callable[[int | None], bool]  # to the error's number
    what: str
    remedy: str


def _setting(path: str, value: str) -> bool:
    try:
        return Path(path).read_text().strip() == value
    except OSError:
        return False


def _may_administer() -> bool:
    """Return whether this process began with CAP_SYS_ADMIN, as root has it outside of containers."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) & 1 << CAP_SYS_ADMIN)
    return False


def _in_chroot() -> bool:
    """This process's root is not the root of its mounts."""
    try:
        return not any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())
    except OSError:
        return False


PRIVILEGED = _may_administer()  # asked before any namespace changes the answer

# The first that applies is the cause: settings before guesses from the error.
REFUSALS = (
    Refusal(
        lambda _: _setting("/proc/sys/kernel/unprivileged_userns_clone", "0") and os.getuid() != 0,
        "sysctl kernel.unprivileged_userns_clone is 0",
        "Run: sudo sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    Refusal(
        lambda _: _setting("/proc/sys/user/max_user_namespaces", "0"),
        "sysctl user.max_user_namespaces is 0",
        "Run: sudo sysctl -w user.max_user_namespaces=15000",
    ),
    Refusal(
        lambda _: _setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") and not PRIVILEGED,
        "AppArmor keeps them from programs without a profile of their own (Ubuntu 23.10 and later)",
        "Install the package lanelab-system (docs/install.md) and join its group: sudo adduser USER lanelab. Or run: "
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    Refusal(
        lambda number: number == errno.ENOSPC,
        "the limit user.max_user_namespaces, or that of 32 nested ones, is reached",
        "End other containers or beds, or run: sudo sysctl -w user.max_user_namespaces=15000",
    ),
    Refusal(
        lambda number: number == errno.EPERM and _in_chroot(),
        "the kernel refuses them inside a chroot",
        "Enter the root file system with pivot_root (systemd-nspawn, podman, bubblewrap) instead of chroot",
    ),
    Refusal(
        lambda number: number == errno.EPERM,
        "the kernel said EPERM, as it does under a container's seccomp filter",
        "Start the container with a filter that allows unshare and mount: lanelab image --how has the fewest flags for "
        "Podman and Docker",
    ),
    Refusal(
        lambda number: number in (errno.EINVAL, errno.ENOSYS),
        "this kernel was built without them (CONFIG_USER_NS)",
        "Use a kernel that has them",
    ),
)


def diagnose(error: OSError) -> NamespaceError:
    """Return the cause of an error from making namespaces, as exactly as this machine tells it."""
    for refusal in REFUSALS:
        if refusal.applies(error.errno):
            return NamespaceError(f"no user namespaces here: {refusal.what}", refusal.remedy)
    return NamespaceError(f"no user namespaces here: {error}", "See docs/guide.md, 'Where beds run'")
