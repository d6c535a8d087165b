"""What libvirt changes on this machine outside of any namespace: noted before, restored after.

For a network with a way out libvirtd lets the machine route packets and adds chains to its firewall, and removes
neither. It also makes bridges, which outlive a libvirtd that is killed.
"""

import contextlib
import os
import subprocess
from pathlib import Path
from typing import TypedDict

from lanelab.driver.base.programs.find_program import search_path

ROUTING = Path("/proc/sys/net/ipv4")
# In this order: writing the first changes the others, for every interface.
SETTINGS = ("ip_forward", "conf/all/accept_redirects", "conf/*/forwarding")
PLACES = ("/etc/libvirt", "/run/libvirt", "/var/lib/libvirt", "/var/log/libvirt", "/var/cache/libvirt")
FIREWALLS = ("iptables", "ip6tables")
CHAIN = "LIBVIRT_"  # how the names of libvirt's chains begin


class State(TypedDict):
    """The parts of a machine that libvirt may change."""

    settings: dict[str, str]  # of the kernel
    firewalls: list[str]  # programs whose rules have chains of libvirt's
    bridges: list[str]
    places: list[str]  # folders that are there


def state() -> State:
    """Return the present state of everything that libvirt may change."""
    return {
        "settings": settings(),
        "firewalls": [program for program in FIREWALLS if CHAIN in _rules(program)],
        "bridges": _bridges(),
        "places": [place for place in PLACES if Path(place).exists()],
    }


def restore(before: State, *, bridges: bool) -> list[str]:
    """Make this machine what it was; the kernel's settings that were changed. `bridges`: also remove those that nobody
    uses, where no other libvirtd can have made them."""
    for program in FIREWALLS:
        lines = _rules(program).splitlines(keepends=True)
        if program not in before["firewalls"] and any(CHAIN in line for line in lines):
            _run(f"{program}-restore", "--counters", text="".join(line for line in lines if CHAIN not in line))
    for name in set(_bridges() if bridges else ()) - set(before["bridges"]):
        _run("ip", "link", "delete", name)
    for place in set(PLACES) - set(before["places"]):
        with contextlib.suppress(OSError):  # it is gone, or somebody uses it by now
            Path(place).rmdir()
    return [f"net.ipv4.{name.replace('/', '.')}" for name, value in before["settings"].items() if _set(name, value)]


def settings() -> dict[str, str]:
    """Return what the kernel routes, by the setting's name below ROUTING."""
    files = (file for pattern in SETTINGS for file in sorted(ROUTING.glob(pattern)))
    return {str(file.relative_to(ROUTING)): file.read_text().strip() for file in files}


def _set(name: str, value: str) -> bool:
    """Write a setting that differs; whether it did and could be written."""
    with contextlib.suppress(OSError):  # the interface is gone, or /proc/sys is read-only
        if (ROUTING / name).read_text().strip() != value:
            (ROUTING / name).write_text(value)
            return True
    return False


def _rules(program: str) -> str:
    return _run(f"{program}-save", "--counters")


def _bridges() -> list[str]:
    """Return libvirt's bridges that no machine is on."""
    return [each.name for each in Path("/sys/class/net").glob("virbr*") if not any(each.glob("brif/*"))]


def _run(*argv: str, text: str = "") -> str:
    """What a program prints; nothing where it fails or does not exist."""
    try:
        done = subprocess.run(
            argv, input=text, capture_output=True, text=True, check=False, env={**os.environ, "PATH": search_path()}
        )
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""
