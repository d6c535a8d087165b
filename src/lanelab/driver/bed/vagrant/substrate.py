"""Beds in lanelab's own virtual machines: reached over ssh, with an inventory that lanelab writes itself."""

from collections.abc import Mapping
from pathlib import Path

from lanelab.driver.bed.ssh.hosts import Hosts
from lanelab.driver.bed.ssh.kind import INVENTORY, SshKind
from lanelab.driver.bed.substrate import Given, Option

EMULATED = (
    "mind: the processors of these virtual machines are emulated. Page load times will tell how slow they are, "
    "and nothing about links or protocols; table and report say so"
)


class VagrantKind(SshKind):
    """The machines of `lanelab vm up`, also where a user names their inventory.

    Their clocks are set first, and everything has the time that emulated processors need.
    """

    name = "vagrant"
    help = "virtual machines (lanelab vm up)"
    options: tuple[Option, ...] = ()

    def is_meant(self, name: str, given: Given) -> bool:
        if name != SshKind.name:
            return name == self.name
        from lanelab.driver.bed.vagrant import inventory  # noqa: PLC0415 - only beds over ssh need it

        return Path(given[INVENTORY.name]).resolve() == inventory.inventory_file().resolve()

    def settings(self, given: Given) -> Hosts:  # noqa: ARG002 - lanelab knows where they are
        from lanelab.driver.bed.vagrant import inventory  # noqa: PLC0415

        return inventory.hosts()

    def facts(self, given: Given) -> Mapping[str, bool]:  # noqa: ARG002
        from lanelab.driver.bed.vagrant import accelerator  # noqa: PLC0415

        return {"emulated_processors": accelerator.is_emulated()}

    def warning(self, given: Given) -> str:
        return EMULATED if self.facts(given)["emulated_processors"] else ""
