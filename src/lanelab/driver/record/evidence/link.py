"""What the captures of a trial tell of its link. Measured without knowing what was asked for: judges compare it."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded, with_later


@dataclass(frozen=True, slots=True)
class RoundTrip(Coded):
    """A packet from the client and the first that could only come after it had arrived. The quickest of its kind."""

    us: int
    up_bytes: int  # of the two frames
    down_bytes: int
    # Of `us`, how long the answer was held back on purpose, as who sent it says (QUIC). 0 too where nobody says it, and
    # in a record from before this was kept.
    held_us: int = 0
    by_program: bool = False  # that answered (QUIC), and not a kernel; False in such a record, too
    # Of all frames that the client sent shortly before, which the packet may have waited for; 0 in such a record, too.
    ahead_bytes: int = 0

    @classmethod
    def decoded(cls, data: object) -> "RoundTrip":
        """Return it, also from a record that lacks what came later."""
        return super(RoundTrip, cls).decoded(with_later(data, held_us=0, by_program=False, ahead_bytes=0))


@dataclass(frozen=True, slots=True)
class Arrivals(Coded):
    """The moments at which one direction's frames came out of the link. Each block is a part of them in their order,
    with those of its points (bytes so far, us) that are the earliest by one rate or another: a rate can be tested with
    nothing else."""

    frames: int
    blocks: tuple[tuple[tuple[int, int], ...], ...]
    spacing: float | None  # the most frequent time between two full frames, in ns for each byte; None: too few
    spaced: int  # full frames that came like that
    silences: tuple[tuple[int, int], ...]  # (us, us) from when to when no frame came, in order: the longest
    spread: float | None = None  # between which shares of `spacing` half of those times are
    full: int = 0  # full frames in all


@dataclass(frozen=True, slots=True)
class Windows(Coded):
    """Says how many packets one side sent before it had heard of any: bounds for its initial window."""

    least: int  # it was at least this, since so many were under way
    stopped: int | None  # it was no more than this, since the side waited with more to send; None: it never did
    connections: int  # that tell


@dataclass(frozen=True, slots=True)
class Losses(Coded):
    """Packets of one direction whose loss would show, those that were lost, and what a full queue may have dropped."""

    told: int
    lost: int
    overflowed: int


@dataclass(frozen=True, slots=True)
class LinkEvidence(Coded):
    """Down is towards the client. What arrives at the server is known from a capture there only."""

    # The quickest handshake, then the quickest of small and of large packets; of each also the one that was quickest
    # without the time for which its answer was held back, where that is another.
    round_trips: tuple[RoundTrip, ...]
    down: Arrivals
    up: Arrivals | None
    window_down: Windows
    window_up: Windows
    mss_down: tuple[int, ...]  # that servers and clients named, without repetition
    mss_up: tuple[int, ...]
    largest_down: int  # bytes of a frame
    largest_up: int
    losses_down: Losses
    losses_up: Losses


@dataclass(frozen=True, slots=True)
class WayError(Coded):
    """One direction: how much later each packet came than the link should have brought it (earlier: below 0)."""

    packets: int  # seen at both ends
    lost: int  # seen at the sender's only
    strange: int  # seen at the receiver's only
    overflowed: int  # lost while the queue was full
    passed_full: int  # that came although the queue was full
    median_ms: float | None  # None where no packet came, or where the queue is not modelled
    worst_99_ms: float | None  # 99 of 100 are less than this away from where they should be
    idle_ms: float | None  # the least error of small packets that found the link idle: of the delay alone


@dataclass(frozen=True, slots=True)
class EmulationError(Coded):
    """The error for each packet that client and server captured."""

    down: WayError
    up: WayError
    median_ms: float | None
    worst_99_ms: float | None
    varied: bool  # the link varies delays by itself, which is in these errors
    not_told: str | None  # why there are none
