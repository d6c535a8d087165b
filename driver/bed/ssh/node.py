"""A node on a machine that ssh reaches: namespaces over there, and the agent in them."""

from __future__ import annotations

import threading
from pathlib import Path

from driver.bed.agent_node import AgentLink, AgentNode
from driver.bed.netns.nodes import BED_STATE, COVER
from driver.bed.remote import namespaces


class SshNode(AgentNode):
    """Its /run is its own; all else is that machine's."""

    def __init__(self, name: str, link: AgentLink) -> None:
        super().__init__(name, link)
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
        words = [path, BED_STATE, str(namespaces.MS_BIND)]
        self.run([*self.python, "-c", COVER, *words], stdin=text.encode())
