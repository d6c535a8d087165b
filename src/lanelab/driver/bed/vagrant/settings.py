"""What the user says about the machines, in environment variables. An empty one counts as one that is not set."""

import ipaddress
import os
from collections.abc import Mapping

from lanelab.driver.base.errors import InputError

PROVIDERS = ("libvirt", "virtualbox")
DRIVERS = KVM, EMULATED = ("kvm", "qemu")  # as libvirt calls them
PROVIDER, DRIVER, BOX = "LANELAB_VM_PROVIDER", "LANELAB_VM_DRIVER", "LANELAB_VM_BOX"
COUNTS = {"LANELAB_VM_MEMORY": "MiB, like 1024", "LANELAB_VM_CPUS": "processors, like 2"}
MANAGEMENT = "LANELAB_VM_MANAGEMENT"


def provider(environment: Mapping[str, str] = os.environ) -> str:
    """Return what makes the machines. Vagrant's own variable does not count: a user who has set it means other
    machines."""
    return _choice(environment, PROVIDER, PROVIDERS) or PROVIDERS[0]


def uses_libvirt() -> bool:
    return provider() == "libvirt"


def driver(environment: Mapping[str, str] = os.environ) -> str:
    """Return what the user wants to run the processors, if anything."""
    return _choice(environment, DRIVER, DRIVERS)


def own_box() -> bool:
    """Return whether the machines are made from lanelab's own box."""
    return uses_libvirt() and not os.environ.get(BOX)


def require(environment: Mapping[str, str] = os.environ) -> None:
    """Check every setting before anything begins. InputError with the variable that cannot be used."""
    provider(environment)
    driver(environment)
    for name, like in COUNTS.items():
        value = environment.get(name)
        if value and not (value.isascii() and value.isdigit() and int(value)):
            raise InputError(f"'{value}' is no number", f"Set a whole number of {like}", key=name)
    if network := environment.get(MANAGEMENT):
        try:
            size = ipaddress.IPv4Network(network).prefixlen
            why = "" if 8 <= size <= 28 else f"has {2 ** (32 - size)} addresses"
        except ValueError as error:
            why = f"is no network: {error}"
        if why:
            raise InputError(f"'{network}' {why}", "Write one like 192.168.232.0/24", key=MANAGEMENT)


def _choice(environment: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    value = environment.get(name, "")
    if value and value not in known:
        kind = name.rpartition("_")[2].lower()
        raise InputError(f"'{value}' is no {kind}", f"Choose from: {', '.join(known)}", key=name)
    return value
