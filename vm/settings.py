"""What the user says of the machines, in environment variables: looked at before anything is begun."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping

from model.errors import InputError
from vm import accelerator

COUNTS = {"LANELAB_VM_MEMORY": "MiB, like 1024", "LANELAB_VM_CPUS": "processors, like 2"}
MANAGEMENT = "LANELAB_VM_MANAGEMENT"


def require(given: Mapping[str, str] = os.environ) -> None:
    """InputError with the variable that cannot be used. One that is empty is as one that is not there."""
    accelerator.asked_for(given)
    for name, like in COUNTS.items():
        value = given.get(name)
        if value and not (value.isascii() and value.isdigit() and int(value)):
            raise InputError(f"'{value}' is no number", f"Set a whole number of {like}", key=name)
    if network := given.get(MANAGEMENT):
        _require_network(network)


def _require_network(network: str) -> None:
    try:
        found = ipaddress.IPv4Network(network)
        small = found.prefixlen > 28 or found.prefixlen < 8
    except ValueError as error:
        what = f"'{network}' is no network: {error}"
        raise InputError(what, "Write one like 192.168.232.0/24", key=MANAGEMENT) from None
    if small:
        what = f"'{network}' has {found.num_addresses} addresses"
        raise InputError(what, "Write one like 192.168.232.0/24", key=MANAGEMENT)
