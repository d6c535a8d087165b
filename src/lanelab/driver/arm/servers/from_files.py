"""What servers have in common that answer from files: each says what is different of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from lanelab.driver.arm.servers.answers import Ability, not_reproduced
from lanelab.driver.arm.servers.layout import Layout, lay_out, staged
from lanelab.driver.arm.servers.server import Assignment, Content, Server, ServerArm
from lanelab.driver.site.site import Site


class FromFiles(Server):
    """A server that answers from files (`layout.py`), with one program of its name."""

    @property
    @abstractmethod
    def compresses(self) -> Collection[str]:
        """The values of `compression` that it makes by itself."""

    @property
    @abstractmethod
    def values_type(self) -> type:
        """The frozen dataclass of the settings that only this server has."""

    @property
    def ability(self) -> Ability:
        """What it can send with a file."""
        return Ability(self.title)

    def values(self, values: Mapping[str, Any]) -> object:
        return self.values_type(**values)

    def needs(self, _arm: ServerArm) -> tuple[str, ...]:
        return (self.name,)

    def builds(self, _arm: ServerArm) -> tuple[str, ...]:
        return ()

    def content(self, assignment: Assignment) -> Content:
        return staged(assignment.site, self.layout(assignment))

    def layout(self, assignment: Assignment) -> Layout:
        """What minify has rewritten comes compressed whatever the arm's compression is; a server that is told to
        compress would then compress all."""
        return lay_out(assignment.site, compressed_before=assignment.arm.compression not in self.compresses)

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        return tuple(not_reproduced(site.objects, self.ability))
