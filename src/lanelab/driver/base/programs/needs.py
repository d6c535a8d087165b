"""The programs that lanelab calls, as playbooks/vars/packages.yml lists them, and which of them each command needs."""

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from lanelab.driver.base import paths
from lanelab.driver.base.coded import parsed
from lanelab.driver.base.programs.find_program import find

PLAYBOOKS = paths.PROJECT / "playbooks"
PACKAGES = PLAYBOOKS / "vars" / "packages.yml"
NO_PACKAGE = "none"

# What commands need, in the words of the column `for`. An experiment's needs: driver/run/needs.py.
BED = ("bed", "uml")
BROWSING = (*BED, "capture")  # and the browsers, which are of the arms
RECORDING = ("chromium",)
PAGE_LOAD = (*BROWSING, "chromium", "apache", "module")
MACHINES_OVER_SSH = ("ssh",)
VIRTUAL_BOX = ("vagrant",)  # VirtualBox itself is in no distribution: Vagrant says so where it is missing
VIRTUAL_MACHINES = ("vagrant", "libvirt")
MAKING_A_BOX = (*VIRTUAL_MACHINES, "box")
CHECK = ("lint",)
OF_A_CHECKOUT = (*CHECK, "comparison", "sshd")  # what only `check` and `test` want


Row = TypedDict(
    "Row",
    {
        "package": str,
        "for": Sequence[str],
        "nodes": NotRequired[Sequence[str]],
        "machines": NotRequired[Sequence[str]],
        "commands": NotRequired[Sequence[str]],
        "files": NotRequired[Sequence[str]],
        "variable": NotRequired[str],
        "also": NotRequired[str],
        "optional": NotRequired[bool],
        "version": NotRequired[str],
        "services": NotRequired[Sequence[str]],
    },
)


class _Lists(TypedDict):
    """The file, as far as it is read here."""

    lanelab_families: Mapping[str, Mapping[str, str]]  # of each system: the names that are not Debian's
    lanelab_only_when_asked: Sequence[str]
    lanelab_programs: Mapping[str, Row]


@dataclass(frozen=True)
class Program:
    """One row of the table."""

    name: str
    package: str  # its name in Debian
    purposes: tuple[str, ...]
    nodes: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()  # architectures, as `uname -m` has them; empty: all
    commands: tuple[str, ...] = ()  # what it is called, the best name first
    files: tuple[str, ...] = ()  # or files that show that it is there
    variable: str = ""  # of the environment: where the user says that it is
    also: str = ""  # a package that comes along, so that apt does not choose another one
    optional: bool = False
    version: str = "--version"  # the argument with which it says which it is
    services: tuple[str, ...] = ()  # what its package would start at boot

    @classmethod
    def from_row(cls, name: str, row: Row) -> "Program":
        """Raises ValueError for a word that no row has."""
        if unknown := set(row) - Row.__annotations__.keys():
            raise ValueError(f"{PACKAGES}: {name} has {', '.join(sorted(unknown))}, which no row has")
        return cls(
            name,
            row["package"],
            tuple(row["for"]),
            nodes=tuple(row.get("nodes", ())),
            machines=tuple(row.get("machines", ())),
            commands=tuple(row.get("commands", () if "files" in row else (name,))),
            files=tuple(row.get("files", ())),
            variable=row.get("variable", ""),
            also=row.get("also", ""),
            optional=row.get("optional", False),
            version=row.get("version", cls.version),
            services=tuple(row.get("services", ())),
        )

    def path(self) -> Path | None:
        """Return where it is; None too where there is only a snap, which does not run inside a bed."""
        commands = map(find, (self.chosen,) if self.chosen else self.commands)
        files = (path for pattern in self.files for path in _matching(pattern))
        return next((path for path in (*commands, *files) if path and not is_snap(path)), None)

    @property
    def chosen(self) -> str:
        """Return what the user has set its variable to; "": nothing."""
        return os.environ.get(self.variable, "") if self.variable else ""

    def belongs_here(self) -> bool:
        """Return whether this machine's architecture has it."""
        return not self.machines or platform.machine() in self.machines

    def is_missing(self) -> bool:
        return bool(self.commands or self.files) and self.belongs_here() and self.path() is None


@cache
def all_programs() -> tuple[Program, ...]:
    return tuple(Program.from_row(name, row) for name, row in _table()["lanelab_programs"].items())


def programs(*purposes: str) -> tuple[Program, ...]:
    """Return the programs for these purposes, in the table's order."""
    unknown = set(purposes) - {purpose for each in all_programs() for purpose in each.purposes}
    if unknown:
        raise ValueError(f"no program is for {', '.join(sorted(unknown))}")
    return tuple(each for each in all_programs() if not set(purposes).isdisjoint(each.purposes))


def programs_on(*nodes: str) -> tuple[Program, ...]:
    """Return the programs that machines of these kinds have."""
    return tuple(each for each in all_programs() if not set(nodes).isdisjoint(each.nodes))


def program(name: str) -> Program:
    return next(each for each in all_programs() if each.name == name)


def asked_for_at_once() -> tuple[Program, ...]:
    """The programs that an administrator is asked for whichever command comes first: those of run, and in a checkout
    those of check and test."""
    apart = {*_table()["lanelab_only_when_asked"], *(OF_A_CHECKOUT if paths.CHECKOUT is None else ())}
    return tuple(each for each in all_programs() if not set(each.purposes) <= apart)


def missing(wanted: Iterable[Program]) -> list[Program]:
    """Those that this machine should have and has not."""
    return [each for each in dict.fromkeys(wanted) if each.is_missing()]


def families() -> tuple[str, ...]:
    """The systems whose package names are known: debian-12, ubuntu-24.04, …"""
    return tuple(_table()["lanelab_families"])


def packages(wanted: Iterable[Program], family: str) -> list[str]:
    """The packages that bring these programs; none where the family is unknown, or has no package."""
    if family not in families():
        return []
    names = _table()["lanelab_families"][family]
    brought = [(names.get(each.name, each.package), each.also) for each in wanted]
    return list(dict.fromkeys(name for pair in brought if pair[0] != NO_PACKAGE for name in pair if name))


def is_snap(path: Path) -> bool:
    """Return whether it is a snap's program, or the script that an Ubuntu package has in its place."""
    if path.resolve().name == "snap" or path.is_relative_to("/snap"):
        return True
    try:
        with path.open("rb") as file:
            begin = file.read(4096)
    except OSError:  # a folder, or a file that may only be executed
        return False
    return begin.startswith(b"#!") and b"/snap/" in begin


def _matching(pattern: str) -> list[Path]:
    """Return the files of a pattern, with ~ and $VARIABLE filled in."""
    whole = os.path.expanduser(os.path.expandvars(pattern))  # noqa: PTH111 - a pattern is no path
    return sorted(Path("/").glob(whole.lstrip("/"))) if whole.startswith("/") else []


@cache
def _table() -> _Lists:
    import yaml  # noqa: PLC0415 - commands that need no program are quicker without

    return parsed(_Lists, yaml.safe_load(PACKAGES.read_text()), PACKAGES.name)
