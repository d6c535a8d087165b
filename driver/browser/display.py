"""A screen that nobody sees, for display: headful."""

from __future__ import annotations

import os
import select

from driver.bed.node import Command, Node, Stdio
from driver.browser.failures import BrowserError

READY_TIMEOUT_S = 15.0
SCREEN = "2560x1600x24"


class Display:
    """Xvfb in a node, until closed. Programs reach it by an abstract socket, which belongs to the node's network:
    two beds may have a screen of the same number."""

    def __init__(self, node: Node) -> None:
        # Our end stays open: Xvfb dies of writing to a closed one, and it may have more to say than its number.
        self._said, stdout = os.pipe()
        argv = ["Xvfb", "-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp", "-ac"]
        try:
            self._process = node.spawn(Command(argv), Stdio(stdout=stdout))
        except BaseException:
            os.close(self._said)
            raise
        finally:
            os.close(stdout)
        ready, _, _ = select.select([self._said], [], [], READY_TIMEOUT_S)
        number = os.read(self._said, 20).decode().strip() if ready else ""
        if not number.isdigit():
            self.close()
            raise BrowserError(f"on {node.name}, Xvfb did not start", "Install xvfb, or use display: headless")
        self.name = f":{number}"

    def close(self) -> None:
        self._process.signal(15)  # politely: it removes its lock and its socket from /tmp
        try:
            self._process.wait(2)
        except TimeoutError:
            self._process.signal(9)
        os.close(self._said)
