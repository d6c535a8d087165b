"""How the beds of a run are made, as its user asks for it: recorded in its folder, and kept when the run goes on."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lanelab.driver.base import configuration, paths
from lanelab.driver.base.coded import Json, parsed
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs.needs import Program, programs
from lanelab.driver.bed import placement, registry
from lanelab.driver.bed.kept_bed import KeptBed
from lanelab.driver.bed.placement import processors_here
from lanelab.driver.bed.substrate import NO_DIRECT, BedSettings, NodeSettings, SubstrateKind, Traits
from lanelab.driver.link import Link
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import Listener, Notice, unheard


@dataclass(frozen=True, slots=True)
class BedOptions:
    """The user's wishes about how beds are made."""

    substrate: str = "netns"
    given: Mapping[str, str] = field(
        default_factory=dict
    )  # options of the substrate, paths as they hold in every folder
    router: str = "auto"
    cpus: Mapping[str, str] = field(default_factory=dict)
    accept_links: bool = False  # go on where a link is out of tolerance

    @classmethod
    def from_json(cls, data: object) -> "BedOptions":
        """Read the options from the record of a run; older ones know no substrates."""
        way = "how beds are made"
        kept, whole = parsed(KeptBed, data, way), parsed(dict[str, object], data, way)
        given = {option.name: str(whole[option.name]) for option in registry.options() if option.name in whole}
        substrate, accept = kept.get("substrate", "netns"), kept.get("accept_links", False)
        return cls(substrate, given, kept["router"], kept["pinned"], accept)

    def to_json(self) -> dict[str, Json]:
        usual: dict[str, Json] = {"router": self.router, "pinned": dict(self.cpus), "substrate": self.substrate}
        return {**usual, **self.given, **({"accept_links": True} if self.accept_links else {})}

    @property
    def is_default(self) -> bool:
        return self == BedOptions()

    @property
    def may_go_on(self) -> bool:
        """Return whether a run may go on with these: a session may accept links, and all else stays as it was."""
        return replace(self, accept_links=False).is_default

    def going_on(self, session_options: "BedOptions") -> "BedOptions":
        """Return the options that a run began with, in a session that is given `session_options`."""
        return replace(self, accept_links=self.accept_links or session_options.accept_links)

    @property
    def kind(self) -> SubstrateKind[Any]:
        """Raises InputError where options do not fit the substrate."""
        return registry.kind_meant(self.substrate, self.given)

    @property
    def traits(self) -> Traits:
        return self.kind.traits

    def needs(self, of_nodes: Iterable[Program]) -> Iterable[Program]:
        """The programs that this machine must have: those of the nodes, or what it takes to reach them."""
        return of_nodes if self.traits.same_machine else programs(*self.kind.needs)

    def facts(self) -> dict[str, Json]:
        """Return what of it belongs in the record of a run, once `settings` has looked where the nodes are."""
        factor = configuration.current().timeout_factor
        return {"bed_options": self.to_json(), "patience": factor, **self.kind.facts(self.given)}

    def settings(self, folder: Path) -> BedSettings:
        return BedSettings(folder, self.substrate, self.router, self.cpus, self.nodes())

    def require(self, links: Iterable[Link]) -> None:
        """Raises InputError where such beds cannot have one of these links."""
        if not self.traits.direct and any(link.direct for link in links):
            raise InputError(*NO_DIRECT, key="path")

    def placed(self, workload: str, links: Iterable[Link], tell: Listener = unheard) -> "BedOptions":
        """With the processors that suit the workload, unless the user says which, or the nodes are elsewhere."""
        if self.cpus or not self.traits.same_machine:
            return self
        processors = processors_here()
        if warning := placement.warning(processors, workload):
            tell(Notice(f"mind: {warning}"))
        direct = all(link.direct for link in links)
        return replace(self, cpus=placement.placement(processors, workload, direct=direct))

    def nodes(self) -> NodeSettings:
        """Return where the nodes are, as it is now. Raises InputError for an inventory that cannot be read."""
        settings: NodeSettings = self.kind.settings(self.given)
        return settings

    @contextmanager
    def opened(self) -> Iterator[Bed]:
        """A bed that is made so; leaving it ends the bed."""
        with paths.bed_folder() as folder, Bed(self.settings(folder)) as bed:
            yield bed
