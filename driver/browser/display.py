"""A screen that nobody sees, for display: headful."""

from __future__ import annotations

import contextlib
import os
import select

from driver.bed.node import Command, Node, Stdio
from driver.browser.failures import BrowserError

READY_TIMEOUT_S = 15.0
SCREEN = "2560x1600x24"


class Display:
    """Xvfb in a node, until closed. It listens on an abstract socket alone, which belongs to the node's network: no two
    beds share one, and none is left behind."""

    def __init__(self, node: Node) -> None:
        said, stdout = os.pipe()
        words = ["-screen", "0", SCREEN, "-displayfd", "1", "-nolisten", "tcp", "-nolisten", "unix", "-listen", "local"]
        try:
            self._process = node.spawn(Command(["Xvfb", *words, "-ac"]), Stdio(stdout=stdout))
        except BaseException:
            os.close(said)
            raise
        finally:
            os.close(stdout)
        try:
            ready, _, _ = select.select([said], [], [], READY_TIMEOUT_S)
            number = os.read(said, 20).decode().strip() if ready else ""
        finally:
            os.close(said)
        if not number.isdigit():
            self.close()
            raise BrowserError(
                f"on {node.name}, Xvfb did not start", "Install the package xvfb, or use display: headless"
            )
        self.name = f":{number}"

    def close(self) -> None:
        self._process.signal(15)  # politely: it removes its lock from /tmp
        with contextlib.suppress(TimeoutError):
            self._process.wait(2)
            return
        self._process.signal(9)
