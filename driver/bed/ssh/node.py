"""A node on a machine that ssh reaches: namespaces over there, and the agent in them."""

from __future__ import annotations

import threading
from pathlib import Path

from driver.bed.agent_connection import AgentConnection
from driver.bed.agent_node import AgentNode
from driver.bed.commands import cover
from driver.bed.remote.enclosure import BED_STATE


class SshNode(AgentNode):
    """Its /run is its own; all else is that machine's."""

    def __init__(self, name: str, connection: AgentConnection) -> None:
        super().__init__(name, connection)
        self._brought: dict[Path, str] = {}
        self._bringing = threading.Lock()

    def program_of_ours(self, path: Path) -> str:
        """Brought there when it is first wanted."""
        with self._bringing:
            if path not in self._brought:
                target = f"{BED_STATE}/{path.name}"
                self.put(path, target)
                self._brought[path] = target
            return self._brought[path]

    def cover(self, path: str, text: str) -> None:
        cover(self, path, text)
