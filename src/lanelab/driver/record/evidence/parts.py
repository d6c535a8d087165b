"""What a page load's time went to: stretches of it, each with its part. docs/reference/parts.md defines the parts."""

from dataclasses import dataclass
from enum import StrEnum

from lanelab.driver.base.coded import Coded


class Part(StrEnum):
    """A part of a load time. Parts are in the order in which they are shown: as a load begins, then what carries the
    page."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    WAIT = "wait"
    SLOW_START = "slow_start"
    REDUCED_WINDOW = "reduced_window"
    TRANSMISSION = "transmission"
    RECOVERY = "recovery"
    MAIN_THREAD = "main_thread"
    IDLE = "idle"

    @property
    def measure(self) -> str:
        """Its name among the measures of a trial."""
        return f"part_{self.value}_ms"


@dataclass(frozen=True, slots=True)
class Stretch(Coded):
    """A time of the load that belongs to one part. Stretches follow each other without gap or overlap."""

    part: Part
    from_ms: float  # as all times of requests: from the start of the first one
    to_ms: float
    detail: str  # what it was, where there is more to say; else ""


@dataclass(frozen=True, slots=True)
class Parts(Coded):
    """All of a load from the moment at which the page was asked for to the end of its PLT; or why not."""

    stretches: tuple[Stretch, ...]
    absent: str | None  # why there are none
