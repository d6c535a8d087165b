"""The substrates that there are."""

from __future__ import annotations

from driver.bed.netns.substrate import NetnsSubstrate
from driver.bed.ssh.substrate import SshSubstrate
from driver.bed.substrate import Substrate
from model.errors import InputError

# Virtual machines are reached over ssh, too.
SUBSTRATES: dict[str, type[Substrate]] = {"netns": NetnsSubstrate, "vagrant": SshSubstrate, "ssh": SshSubstrate}


def substrate_named(name: str) -> Substrate:
    """A substrate, not yet entered."""
    if name not in SUBSTRATES:
        raise InputError(f"there is no substrate '{name}'", f"There is: {', '.join(SUBSTRATES)}", key="substrate")
    return SUBSTRATES[name]()
