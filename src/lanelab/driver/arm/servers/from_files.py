"""What servers have in common that answer from files: each says what is different of it."""

from abc import abstractmethod
from collections.abc import Collection

from lanelab.driver.arm.servers.answers import Ability, not_reproduced
from lanelab.driver.arm.servers.layout import Layout, lay_out, staged
from lanelab.driver.arm.servers.server import Assignment, Content, Server
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.site.site import Site


class FromFiles(Server):
    """A server that answers from files (`layout.py`), with one program of its name."""

    @property
    @abstractmethod
    def compresses(self) -> Collection[str]:
        """The values of `compression` that it makes by itself."""

    @property
    def ability(self) -> Ability:
        """Return what it can send with a file."""
        return Ability(self.title)

    def needs(self, _arm: WireSettings) -> tuple[str, ...]:
        return (self.name,)

    def builds(self, _arm: WireSettings) -> tuple[str, ...]:
        return ()

    def content(self, assignment: Assignment) -> Content:
        return staged(assignment.site, self.layout(assignment))

    def layout(self, assignment: Assignment) -> Layout:
        """What minify has rewritten comes compressed whatever the arm's compression is; a server that is told to
        compress would then compress all."""
        return lay_out(assignment.site, compressed_before=assignment.arm.compression not in self.compresses)

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        return tuple(not_reproduced(site.objects, self.ability))
