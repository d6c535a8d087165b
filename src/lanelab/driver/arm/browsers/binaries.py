"""Which browser a node has, and which program that leads it."""

import os
import re
from dataclasses import dataclass, replace

from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.programs import needs
from lanelab.driver.bed.node import Node

LOOK = 'for p in "$@"; do p=$(command -v "$p") && echo "$p" && exec "$p" --version; done; exit 127'


@dataclass(frozen=True, slots=True)
class Binary:
    path: str
    version: str  # as it says itself: "Chromium 156.0.8078.79"

    @property
    def major(self) -> str:
        match = re.search(r"(\d+)\.\d+\.\d+", self.version)
        return match.group(1) if match else ""


def find_firefox(node: Node) -> Binary:
    path = _find(node, "firefox", "Firefox")
    return replace(path, version=path.version.removeprefix("Mozilla "))


def find_chromium(node: Node) -> Binary:
    return _find(node, "chromium", "Chromium")


def find_chromedriver(node: Node) -> Binary:
    return _find(node, "chromedriver", "ChromeDriver")


def require_match(chromium: Binary, chromedriver: Binary) -> None:
    """ChromeDriver leads only the Chromium of its own version."""
    if chromium.major != chromedriver.major:
        raise BrowserError(
            f"{chromedriver.path} is {chromedriver.version}, but {chromium.path} is {chromium.version}",
            "Install both from the same source, or set LANELAB_CHROMIUM and LANELAB_CHROMEDRIVER",
        )


def _find(node: Node, name: str, title: str) -> Binary:
    program = needs.program(name)
    chosen = os.environ.get(program.variable)
    done = node.run(["sh", "-c", LOOK, "sh", *((chosen,) if chosen else program.commands)], check=False)
    lines = done.stdout.splitlines()
    if done.status != 0 or len(lines) < 2:
        where = f"{program.variable} is {chosen}" if chosen else f"looked for {', '.join(program.commands)}"
        why = f": {done.stderr.strip()}" if done.stderr.strip() else ""
        raise BrowserError(
            f"on {node.name}, {title} was not found ({where}){why}",
            f"Install the package {program.package}, or set {program.variable} to the program",
        )
    return Binary(lines[0], lines[1].strip())
