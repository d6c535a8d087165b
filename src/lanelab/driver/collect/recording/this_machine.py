"""This machine as a node: where pages of the world outside are recorded."""

import os
import socket

from lanelab.driver.base.child_start import OWN_LANELAB
from lanelab.driver.base.configuration import SOURCES
from lanelab.driver.base.errors import NodeError
from lanelab.driver.base.programs.find_program import find, search_path
from lanelab.driver.bed.local import LocalNode, connected
from lanelab.driver.bed.node import Command, Process, Stdio, Terminal

# What is started dies with us, however we end. For root it is an ordinary user: Chromium's sandbox wants that.
CONFINE = f"""
{OWN_LANELAB}import os
from lanelab.driver.bed.remote import namespaces
parent, root = int(sys.argv[1]), os.getuid() == 0
if root:
    namespaces.enter_user_namespace(0x00020000)
namespaces.die_with_parent(parent)
os.execvp(sys.argv[2], sys.argv[2:])
"""


class ThisMachine(LocalNode):
    """No namespaces: its network is the machine's."""

    def __init__(self) -> None:
        super().__init__("this machine")

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        environment = {**os.environ, "PATH": search_path(), **command.env}
        if find(command.argv[0]) is None and not os.access(command.argv[0], os.X_OK):
            raise NodeError(f"there is no program '{command.argv[0]}' on this machine", "Install it")
        argv = [*self.python, "-c", CONFINE, str(SOURCES), str(os.getpid()), *command.argv]
        return self._start(argv, environment, stdio, terminal)

    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        return connected(address, port, timeout_s)
