"""Machines of one's own that ssh reaches, before they are a bed: looked at, and prepared."""

from collections.abc import Callable
from pathlib import Path

from lanelab.driver.base.errors import HostError
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.programs.needs import MACHINES_OVER_SSH, programs
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.ssh.findings import HostFinding
from lanelab.driver.bed.ssh.hosts import read_inventory
from lanelab.driver.bed.ssh.machines import examine, play, unreachable

__all__ = ["HostFinding", "check_hosts", "prepare_hosts"]


def check_hosts(inventory: Path) -> list[HostFinding]:
    """Return all that is known of the machines of an inventory, and leave them as they are."""
    hosts = read_inventory(inventory)
    prepare(programs(*MACHINES_OVER_SSH))
    return examine(hosts)


def prepare_hosts(inventory: Path, *, only_look: bool, tell: Callable[[str], None]) -> None:
    """Install on the machines of an inventory what their nodes need. tell: hears which cannot be reached. Raises
    HostError where one could not be prepared; the others are."""
    hosts = read_inventory(inventory)
    prepare(programs(*MACHINES_OVER_SSH))
    errors = unreachable(hosts)
    lacking = []
    for name, host in hosts:
        if name in errors:
            tell(str(errors[name]))
        if name in errors or not play(inventory, name, only_look=only_look):
            lacking.append(f"{host.name} ({name})")
    if lacking:
        others = "" if len(lacking) == len(NODE_NAMES) else "; the others were"
        what = f"{' and '.join(lacking)} could not be prepared{others}. Why is told above"
        raise HostError(what, "See: lanelab hosts check")
