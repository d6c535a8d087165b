"""What tcpdump and the router count."""

from __future__ import annotations

from dataclasses import dataclass

from model.coded import Coded


@dataclass(frozen=True, slots=True)
class CaptureCounts(Coded):
    """Packets of one capture: in the file, seen by the kernel's filter, lost before tcpdump could take them."""

    file: str
    captured: int
    received: int
    dropped: int


@dataclass(frozen=True, slots=True)
class RouterCounts(Coded):
    lost_at_input: int  # packets that the router was too slow to take in
