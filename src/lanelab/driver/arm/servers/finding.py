"""How a server's program is found on its node: a shell says where it is, then what it says of itself."""

import re
from dataclasses import dataclass

from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.bed.node import Node


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """A program, and the line that says its version."""

    program: str
    version: re.Match[str]  # with a group `number`

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(map(int, self.version["number"].split(".")))


def look_for(node: Node, look: str) -> str:
    """Return what a script for the shell writes there."""
    return node.run(["sh", "-c", look], check=False).stdout


def program_in(words: str, version: re.Pattern[str], node: str, title: str) -> InstalledProgram:
    """The program is in the first line, and its version in one of the others. Raises MissingProgram."""
    program, _, rest = words.partition("\n")
    match = version.search(rest)
    if not program or match is None:
        raise MissingProgram(f"on {node}, {title} cannot be found", "Run: ./lanelab doctor")
    return InstalledProgram(program, match)


def require_version(program: InstalledProgram, oldest: tuple[int, ...], node: str, name: str) -> None:
    """Raises MissingProgram. `name`: what it calls itself, with its version."""
    if program.number < oldest:
        wanted = ".".join(map(str, oldest))
        what = f"on {node}, {name} is too old: lanelab needs {wanted} or later"
        raise MissingProgram(what, "Debian 12 and later have one; or write server: apache")
