"""What a libvirtd keeps of ours: machines, disks, networks; which driver they have, and the removal of what is left.

All of it has a name that begins with this build folder's prefix, as the Vagrantfile gives them.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence

from model.paths import build_folder
from vm.libvirt import POOL, own_folder, virsh


def prefix() -> str:
    """How the names of this build folder's machines begin; the Vagrantfile makes the same."""
    return f"lanelab-{hashlib.sha256(os.fsencode(build_folder().resolve())).hexdigest()[:6]}-"


def defined_in_own() -> list[str]:
    """The machines that the libvirtd of lanelab's own keeps, without asking it: it may not run."""
    files = own_folder().glob(f"etc/qemu/{prefix()}*.xml")
    return [file.stem.removeprefix(prefix()) for file in files]


def any_in_own() -> bool:
    """Whether it has anything of a machine, if only a disk of one that was not finished."""
    return bool(defined_in_own()) or any(own_folder().glob(f"lib/images/{prefix()}*"))


def driver_of(uri: str, machine: str) -> str:
    """What drives a machine; empty where nobody can tell."""
    said = virsh(uri, "dumpxml", prefix() + machine) or ""
    found = re.search(r"<domain type=['\"](\w+)['\"]", said)
    return found[1] if found else ""


def remove_all(uri: str) -> list[str]:
    """Remove whatever is left of our machines: what Vagrant does not know of, it does not remove."""
    removed = []
    for listing, commands in (
        (("list", "--all", "--name"), (("destroy",), ("undefine",))),
        (("vol-list", POOL), (("vol-delete", "--pool", POOL),)),
        (("net-list", "--all", "--name"), (("net-destroy",), ("net-undefine",))),
    ):
        for name in _names(uri, listing):
            if name.startswith(prefix()):
                for command in commands:
                    virsh(uri, *command, name)
                removed.append(name)
    return removed


def forget_old_boxes(uri: str, begin: str) -> None:
    """Of the disks of boxes only the newest is of use, and those that disks of machines are made on: others may use
    the same libvirtd. Their names end with when they came."""
    volumes = _names(uri, ("vol-list", POOL))
    below = "".join(
        virsh(uri, "vol-dumpxml", "--pool", POOL, name) or "" for name in volumes if not name.startswith(begin)
    )
    for name in sorted(name for name in volumes if name.startswith(begin))[:-1]:
        if f"/{name}<" not in below:
            virsh(uri, "vol-delete", "--pool", POOL, name)


def _names(uri: str, listing: Sequence[str]) -> list[str]:
    """The first word of each line."""
    return [line.split()[0] for line in (virsh(uri, *listing) or "").splitlines() if line.strip()]
