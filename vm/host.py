"""What libvirt changes on this machine outside of any namespace, kept from before and put back after.

For a network with a way out libvirtd lets the machine route, and adds chains to its firewall; it takes away neither. So
what was there before the first libvirtd of lanelab's own is written down, and the end of the last one restores it:
several checkouts may run one each, and those between neither know what was there nor may take it away. Both stand in
/run, where all checkouts see them, and which a start of the machine empties, as it does the settings.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from driver.host.find_program import search_path

FOLDER = Path("/run/lanelab-libvirtd")
BEFORE = "before.json"
ROUTING = Path("/proc/sys/net/ipv4")
# In this order: to set the first changes the others, for every interface.
SETTINGS = ("ip_forward", "conf/all/accept_redirects", "conf/*/forwarding")
TABLES = ("filter", "nat", "mangle")
CHAINS = "LIBVIRT_"  # how the names of libvirt's begin
WAIT = ("-w", "20")  # for who else is changing rules


@contextlib.contextmanager
def locked() -> Iterator[Path]:
    """The folder, while no other lanelab of this machine changes it."""
    FOLDER.mkdir(mode=0o755, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield FOLDER


def remember(folder: Path, places: Iterable[str]) -> None:
    """Write down what is there, unless that was done already: then what is there now is libvirt's doing. `places`:
    folders that are made where they are missing."""
    file = folder / BEFORE
    if _read(file) is None:
        new = file.with_suffix(".new")
        absent = [place for place in places if not Path(place).exists()]
        known = {"settings": settings(), "chains": sorted(chains()), "bridges": _bridges(), "absent": absent}
        new.write_text(json.dumps({"boot": _boot(), **known}))
        new.replace(file)


def restore(folder: Path, tell: Callable[[str], None], *, bridges: bool) -> None:
    """Make it what it was before; nothing where nothing is known. `bridges`: those of a libvirtd that was killed, too,
    which nobody else's can be."""
    file = folder / BEFORE
    before = _read(file)
    if before is not None:
        _remove(chains() - {(family, table, chain) for family, table, chain in before["chains"]})
        for name in set(_bridges() if bridges else ()) - set(before["bridges"]):
            _said("ip", "link", "delete", name)
        for place in before["absent"]:
            with contextlib.suppress(OSError):  # gone, or somebody's by now
                Path(place).rmdir()
        if changed := _set(before["settings"]):
            tell(f"this machine's {', '.join(changed)} as before")
    file.unlink(missing_ok=True)


def settings() -> dict[str, str]:
    """What the kernel routes, by the setting's name below ROUTING."""
    found = {}
    for pattern in SETTINGS:
        for file in sorted(ROUTING.glob(pattern)):
            found[str(file.relative_to(ROUTING))] = file.read_text().strip()
    return found


def chains() -> set[tuple[str, str, str]]:
    """libvirt's chains: the program that shows them, table, name."""
    found = set()
    for program in ("iptables", "ip6tables"):
        for table in TABLES:
            for words in _rules(program, table):
                if words[:1] == ["-N"] and words[1].startswith(CHAINS):
                    found.add((program, table, words[1]))
    return found


def _set(wanted: dict[str, str]) -> list[str]:
    """Write those that differ; the names of those that could be."""
    changed = []
    for name, value in wanted.items():
        file = ROUTING / name
        with contextlib.suppress(OSError):  # an interface that is gone; /proc/sys that may only be read
            if file.read_text().strip() != value:
                file.write_text(value)
                changed.append("net.ipv4." + name.replace("/", "."))
    return changed


def _remove(found: Iterable[tuple[str, str, str]]) -> None:
    """First whatever leads to the chains, then what is in them: a chain in use cannot be removed."""
    ordered = sorted(found)
    for program, table, chain in ordered:
        for words in _rules(program, table):
            if words[:1] == ["-A"] and words[-2:] == ["-j", chain]:
                _tables(program, table, "-D", *words[1:])
    for program, table, chain in ordered:
        _tables(program, table, "-F", chain)
        _tables(program, table, "-X", chain)


def _bridges() -> list[str]:
    """libvirt's bridges that no machine is on."""
    return [each.name for each in Path("/sys/class/net").glob("virbr*") if not any(each.glob("brif/*"))]


def _rules(program: str, table: str) -> list[list[str]]:
    return [line.split() for line in _tables(program, table, "-S").splitlines()]


def _tables(program: str, table: str, *words: str) -> str:
    return _said(program, *WAIT, "-t", table, *words)


def _said(*argv: str) -> str:
    """What it says; nothing where it fails, or there is no such program."""
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": search_path()},
        )  # fmt: skip
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def _read(file: Path) -> dict[str, Any] | None:
    """What was written down since this machine started."""
    try:
        before: dict[str, Any] = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return before if before.get("boot") == _boot() else None


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
