"""Beds over ssh, as the registry knows them."""

from pathlib import Path

from lanelab.driver.base.programs.needs import MACHINES_OVER_SSH
from lanelab.driver.bed.ssh.hosts import Hosts, read_inventory
from lanelab.driver.bed.ssh.substrate import SshSubstrate
from lanelab.driver.bed.substrate import Given, Option, SubstrateKind

INVENTORY = Option(
    "inventory",
    "For ssh beds: an Ansible inventory whose groups client, router and server name the machines",
    (
        "ssh beds need to know their machines",
        "Add --inventory FILE; docs/reference/ssh.md has one to begin with",
    ),
)


class SshKind(SubstrateKind[Hosts]):
    """Machines that an inventory names."""

    name = "ssh"
    help = "machines over ssh"
    nodes = Hosts
    traits = SshSubstrate.traits
    options: tuple[Option, ...] = (INVENTORY,)
    needs = MACHINES_OVER_SSH

    def settings(self, options: Given) -> Hosts:
        return read_inventory(Path(options[INVENTORY.name]))

    def make(self, settings: Hosts) -> SshSubstrate:
        return SshSubstrate(settings)
