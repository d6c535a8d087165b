"""What tcpdump and the router count."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class CaptureCounts(Coded):
    """Packets of one capture: in the file, seen by the kernel's filter, lost before tcpdump could take them."""

    file: str
    captured: int
    received: int
    dropped: int


@dataclass(frozen=True, slots=True)
class RouterStall(Coded):
    """A time in which the router did not answer a ping. Moments in us since 1970."""

    from_us: int
    to_us: int
    busy_us: int  # of it the router's process ran, or waited for a processor

    @property
    def stood_us(self) -> int:
        """It did neither."""
        return max(0, self.to_us - self.from_us - self.busy_us)


@dataclass(frozen=True, slots=True)
class RouterCounts(Coded):
    lost_at_input: int  # packets that the router was too slow to take in
    stalls: tuple[RouterStall, ...] | None = None  # None: the router is no process of this machine
