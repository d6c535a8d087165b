"""How much a server sends before it can have heard that any of it came: its initial window, if its answer fills it."""

from lanelab.driver.trial.packets.sequence import HALF, NUMBERS

CLOCK_TICK_NS = 2_000_000  # of a sender's timestamps, and one to be sure

Stamps = tuple[int, int] | None  # TCP's: value, echo


class FirstFlight:
    """Of one connection, while its capture is read. `open` until it has ended."""

    __slots__ = ("begin", "end", "heard_ns", "open", "stamp")

    def __init__(self) -> None:
        self.open = True
        self.begin: int | None = None  # the number of the server's first byte
        self.end: int | None = None  # the number behind the flight's last byte
        self.heard_ns = -1  # when the server can have heard that some of it came, as it would be seen here
        self.stamp: int | None = None  # the client's timestamp that it then echoes

    def acknowledged(self, now: int, ack: int, stamps: Stamps, answered_ns: int, rtt_ns: int) -> None:
        """The client has sent this number. From here to the server and back it takes `answered_ns`."""
        if self.heard_ns >= 0 or self.begin is None or self.end is None:
            return
        if 0 < (ack - self.begin) & NUMBERS < HALF:
            self.heard_ns = now + max(0, answered_ns)
            self.stamp = stamps[0] if stamps and rtt_ns > CLOCK_TICK_NS else None

    def sent(self, now: int, begin: int, seq: int, carried: int, stamps: Stamps) -> None:
        """The server has sent this segment; its SYN said where its data begins. What it sends echoes the newest
        timestamp that it has heard."""
        if self.heard_ns >= 0:
            if stamps and self.stamp is not None:
                self.open = (stamps[1] - self.stamp) & NUMBERS >= HALF
            else:
                self.open = now < self.heard_ns
        if not self.open:
            return
        self.begin = begin & NUMBERS
        end = (seq + carried) & NUMBERS
        if self.end is None or 0 < (end - self.end) & NUMBERS < HALF:
            self.end = end

    @property
    def bytes(self) -> int | None:
        """None: its beginning was not captured, or the client never said that any of it came."""
        if self.begin is None or self.end is None or self.heard_ns < 0:
            return None
        return (self.end - self.begin) & NUMBERS
