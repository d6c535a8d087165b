"""What the nodes of a bed were set to when a trial was over, as their kernels say."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class RouteSettings(Coded):
    """TCP on one of a host's routes to the link, as `ip -j route show` names it."""

    to: str
    metrics: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HostSettings(Coded):
    """The settings of client or server that shape the packets that it sends."""

    mtu: int | None
    routes: tuple[RouteSettings, ...]
    kernel: Mapping[str, str]  # what its kernel says of TCP, by the kernel's names
    offloads: tuple[str, ...]  # those that are on, of those that make packets longer than the wire carries them
    used_controls: tuple[str, ...]  # congestion control of each connection that was still there


@dataclass(frozen=True, slots=True)
class QueueSettings(Coded):
    """A queueing discipline of the router. Its numbers by tc's names, in tc's units: bytes per second, seconds, shares;
    of tbf, fq_codel and cake microseconds."""

    device: str
    kind: str
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Setting(Coded):
    """A setting of a node's kernel that is not as it was when the bed's first page was loaded."""

    node: str
    name: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class SettingsEvidence(Coded):
    client: HostSettings
    server: HostSettings
    queues: tuple[QueueSettings, ...]
    mtus: Mapping[str, int]  # of the router's interfaces
    compensation_us: int  # what is taken off each direction's delay, since the router or the way is late by itself
    changed: tuple[Setting, ...]
    content_changed: tuple[str, ...]  # files that the server answers from, and that somebody has written to
    clock_step_us: int  # by how much the wall clock ran ahead of the steady one during the load
    # Queueing disciplines of the router that were set anew during the load, in words; None: the link moves.
    queues_changed: tuple[str, ...] | None = None
