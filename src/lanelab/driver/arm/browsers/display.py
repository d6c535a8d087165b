"""A screen that nobody sees, for display: headful."""

import os
import select

from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Command, Node, Stdio

READY_TIMEOUT_S = 15.0
SCREEN = "2560x1600x24"


# Xvfb writes a lock and a socket into /tmp, whatever its options: it gets a /tmp of its own, which goes with it.
OWN_TMP = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x00020000) != 0 or libc.mount(b"lanelab", b"/tmp", b"tmpfs", ctypes.c_ulong(6), None) != 0:
    sys.exit(f"cannot have a /tmp of its own: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
"""


class Display:
    """Xvfb in a node, until closed. Programs reach it over the node's loopback: two beds may have a screen of the same
    number, and nothing of it is in the machine's own /tmp."""

    def __init__(self, node: Node) -> None:
        # Our end stays open: Xvfb dies of writing to a closed one, and it may have more to say than its number.
        self._output, stdout = os.pipe()
        own_tmp = [*node.python, "-c", OWN_TMP]
        argv = [
            *own_tmp,
            "Xvfb",
            "-displayfd",
            "1",
            "-screen",
            "0",
            SCREEN,
            "-listen",
            "tcp",
            "-nolisten",
            "unix",
            "-ac",
        ]
        try:
            self._process = node.spawn(Command(argv), Stdio(stdout=stdout))
        except BaseException:
            os.close(self._output)
            raise
        finally:
            os.close(stdout)
        ready, _, _ = select.select([self._output], [], [], scaled(READY_TIMEOUT_S))
        number = os.read(self._output, 20).decode().strip() if ready else ""
        if not number.isdigit():
            self.close()
            raise BrowserError(f"on {node.name}, Xvfb did not start", "Install xvfb, or use display: headless")
        self.name = f"127.0.0.1:{number}"

    def close(self) -> None:
        self._process.signal(15)
        try:
            self._process.wait(2)
        except TimeoutError:
            self._process.signal(9)
        os.close(self._output)
