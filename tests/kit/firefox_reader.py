"""Somebody who reads pages with a real Firefox, by WebDriver BiDi."""

import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from lanelab.driver.arm.browsers.firefox.bidi import BiDi
from lanelab.driver.arm.browsers.firefox.firefox import Tree
from lanelab.driver.base.programs.needs import program
from lanelab.driver.bed.node import Node

LISTENING = re.compile(r"WebDriver BiDi listening on ws://[^/]*:(\d+)")
ANSWERS_WITHIN_S = 120.0  # beside other tests


class _Here:
    """The node that BiDi connects from is this machine itself."""

    def connect(self, host: str, port: int, timeout_s: float) -> socket.socket:
        return socket.create_connection((host, port), timeout_s)


class FirefoxReader:
    """One tab."""

    def __init__(self, bidi: BiDi) -> None:
        self._bidi = bidi
        self._tab = bidi.ask(Tree, "browsingContext.getTree")["contexts"][0]["context"]

    def go(self, address: str) -> None:
        self._bidi.call("browsingContext.navigate", 60, context=self._tab, url=address, wait="complete")

    def run(self, expression: str) -> Any:
        """The value of an expression on the page."""
        return self._bidi.evaluate(self._tab, f"JSON.stringify({expression})")

    def size(self, width: int, height: int = 1000) -> None:
        size = {"width": width, "height": height}
        self._bidi.call("browsingContext.setViewport", context=self._tab, viewport=size)

    def complaints(self) -> list[str]:
        """What its console has said since it was asked last."""
        lines = [each["params"]["text"] for each in self._bidi.events if each.get("method") == "log.entryAdded"]
        self._bidi.events.clear()
        return lines


@contextmanager
def firefox_reader(folder: Path) -> Iterator[FirefoxReader]:
    """A browser of its own with an empty profile in that folder, which is gone afterwards."""
    argv = [str(program("firefox").path()), "--headless", "--no-remote", "--profile", str(folder)]
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(
        [*argv, "--remote-debugging-port", "0"], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stderr is not None
            port = next(match[1] for line in process.stderr if (match := LISTENING.search(line)))
            bidi = BiDi(cast(Node, _Here()), int(port))
            bidi.call("session.new", ANSWERS_WITHIN_S, capabilities={"alwaysMatch": {}})
            bidi.call("session.subscribe", events=["log.entryAdded"])
            yield FirefoxReader(bidi)
            bidi.call("browser.close", 20)
        finally:
            process.kill()
