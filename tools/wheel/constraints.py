"""The exact versions with which lanelab is tested, with their hashes: those of the lock files, in one file."""

import re
from pathlib import Path

LOCKS = ("requirements.lock", "requirements-notebooks.lock")  # where both have a package, the first counts
HEADER = "# Made by lanelab wheel from the lock files of the checkout.\n"
PIN = re.compile(r"^[A-Za-z0-9]\S*==.*(?:\n {4}.*)*", re.MULTILINE)


def constraints(checkout: Path) -> str:
    chosen: dict[str, list[str]] = {}
    for lock in LOCKS:
        pins = [match[0] for match in PIN.finditer((checkout / lock).read_text())]
        named: dict[str, list[str]] = {}
        for pin in pins:  # a package may have a version for each of several Pythons
            named.setdefault(_name(pin), []).append(_without_remarks(pin))
        chosen = {**named, **chosen}
    return HEADER + "".join(f"{pin}\n" for name in sorted(chosen) for pin in chosen[name])


def _name(pin: str) -> str:
    return pin.partition("==")[0]


def _without_remarks(pin: str) -> str:
    lines = [line for line in pin.splitlines() if not line.lstrip().startswith("#")]
    return "\n".join(lines)
