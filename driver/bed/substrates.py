"""The substrates that there are."""

from __future__ import annotations

from driver.bed.netns_substrate import NetnsSubstrate
from driver.bed.substrate import Substrate
from driver.errors import InputError

SUBSTRATES: dict[str, type[Substrate]] = {"netns": NetnsSubstrate}


def substrate_named(name: str) -> Substrate:
    """A substrate, not yet entered."""
    if name not in SUBSTRATES:
        raise InputError(f"there is no substrate '{name}'", f"There is: {', '.join(SUBSTRATES)}", key="substrate")
    return SUBSTRATES[name]()
