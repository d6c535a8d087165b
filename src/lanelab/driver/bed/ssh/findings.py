"""The findings of a check of three machines that may become a bed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lanelab.driver.base.errors import HostAway, HostError
from lanelab.driver.base.programs.finding import Finding, State
from lanelab.driver.bed.remote.examine import MachineReport

IN_USE, LINK = "in use", "link"

Heard = Mapping[str, Sequence[Sequence[str]]]  # node -> [its interface, who called, from which interface]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFinding(Finding):
    """One thing that was looked at on one machine."""

    node: str
    host: str


@dataclass(frozen=True, slots=True)
class Observations:
    """The answers of the machines."""

    facts: Mapping[str, MachineReport]
    clocks_s: Mapping[str, float]  # how far each is ahead of here
    heard: Heard


@dataclass
class Verdict:
    """The findings, and which interface of each node leads to which other one."""

    findings: list[HostFinding] = field(default_factory=list)
    interfaces: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def gaps(self) -> list[HostFinding]:
        return [finding for finding in self.findings if finding.state == "gap"]

    @property
    def busy(self) -> bool:
        """Return whether only other beds are in the way."""
        return bool(self.gaps) and all(gap.what == IN_USE for gap in self.gaps)

    @property
    def passes(self) -> bool:
        """Return whether that may mend itself: switches start anew too."""
        return all(gap.what in (IN_USE, LINK) for gap in self.gaps)

    def require(self) -> None:
        """Raises HostError with all that is in the way."""
        if self.gaps:
            gaps = "; ".join(f"{gap.host} ({gap.node}): {gap.what}: {gap.found}" for gap in self.gaps)
            raise (HostAway if self.passes else HostError)(gaps, self.gaps[0].remedy)


class Find:
    """Adds findings about one machine."""

    def __init__(self, node: str, host: str, findings: list[HostFinding]) -> None:
        self._node, self._host, self._findings = node, host, findings

    def __call__(self, state: State, what: str, text: str, remedy: str = "") -> None:
        self._findings.append(HostFinding(state, what, text, remedy, node=self._node, host=self._host))
