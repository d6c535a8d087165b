"""Nodes on a machine that ssh reaches: namespaces over there, or a kernel of its own, and the agent in them."""

import threading
from pathlib import Path

from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.agent_node import AgentNode
from lanelab.driver.bed.commands import cover
from lanelab.driver.bed.remote.enclosure import BED_STATE


class FarNode(AgentNode):
    """A node that does not see this machine's files. Its /run is its own."""

    programs = "/run"  # where ours are brought

    def __init__(self, name: str, connection: AgentConnection) -> None:
        super().__init__(name, connection)
        self._brought: dict[Path, str] = {}
        self._bringing = threading.Lock()

    def program_of_ours(self, path: Path) -> str:
        """Return where the program is, which is brought there when it is first wanted."""
        with self._bringing:
            if path not in self._brought:
                target = f"{self.programs}/{path.name}"
                self.put(path, target)
                self._brought[path] = target
            return self._brought[path]


class SshNode(FarNode):
    """A node in namespaces of another machine. But for /run all is that machine's."""

    programs = BED_STATE

    def cover(self, path: str, text: str) -> None:
        cover(self, path, text)
