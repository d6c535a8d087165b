"""What a judge of page loads is: it looks at a trial's evidence, and names each reason why the trial may not count
(failures), or may be doubted (flags). Pure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.reasons import OF_THE_MACHINE, Failure, Flag, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.requests import fetched_from
from lanelab.driver.trial.tolerances import Tolerances


class Needs(Enum):
    """What has to have happened before a judge can say anything."""

    TRIAL = "a trial that began, however it ended"
    LOAD = "a page load, or one that ran out of time"


def no_timeline() -> None:
    """There is no capture that is whole."""


@dataclass(frozen=True, slots=True)
class Case:
    """One trial, and what it was asked to be."""

    record: TrialRecord
    evidence: PageLoadEvidence
    expected: Expected
    read_timeline: Callable[[], Timeline | None] = no_timeline  # of the client's capture, for who needs it

    @property
    def arm(self) -> Arm:
        return self.expected.arm

    @property
    def site(self) -> Site:
        return self.expected.site

    @property
    def link(self) -> Link:
        return self.expected.link

    @property
    def tolerances(self) -> Tolerances:
        return self.expected.tolerances

    @property
    def plt_ms(self) -> float | None:
        return self.evidence.loaded_ms

    @property
    def packets(self) -> PacketSummary | None:
        """The client's."""
        return self.evidence.packets.get("client")

    @property
    def requests(self) -> list[Request]:
        """Those of the site's hosts that were answered over the network."""
        return fetched_from(self.site.hosts, self.record.requests)


def _nothing(_case: Case) -> tuple[()]:
    return ()


@dataclass(frozen=True, slots=True)
class Judge:
    needs: Needs
    failures: Callable[[Case], Iterable[Failure]] = _nothing
    flags: Callable[[Case], Iterable[Flag]] = _nothing


def of_the_machine(record: TrialRecord) -> list[Flag]:
    """Return the flags that say the machine had no time for the trial."""
    return [flag for flag in record.flags if flag.name in OF_THE_MACHINE]


def is_punctual(record: TrialRecord) -> bool:
    """Return whether the machine was watched, and had time."""
    return record.machine is not None and not of_the_machine(record)


def once(failures: Iterable[Failure]) -> Iterator[Failure]:
    """Yield those of one reason as one, and what several say once."""
    details_of: dict[Reason, list[str]] = {}
    for each in failures:
        details_of.setdefault(each.reason, []).append(each.detail)
    for reason, details in details_of.items():
        yield Failure(reason, "; ".join(dict.fromkeys(details)))
