"""Beds over ssh, as the registry knows them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


class SshKind(SubstrateKind):
    """Machines that an inventory names."""

    name = "ssh"
    help = "machines over ssh"
    traits = SshSubstrate.traits
    options: tuple[Option, ...] = (INVENTORY,)
    needs = MACHINES_OVER_SSH

    def settings(self, options: Given) -> Mapping[str, Any]:
        return read_inventory(Path(options[INVENTORY.name])).to_json()

    def make(self, settings: Mapping[str, Any]) -> SshSubstrate:
        return SshSubstrate(Hosts.from_json(settings))
