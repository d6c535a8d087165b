"""How a server is put under load: the settings of the workload `load`, read and resolved. Pure."""

import math
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded

PAGE, OBJECT, SLOW = "page", "object", "slow"  # scripts for k6 that lanelab brings along
CONNECTIONS_OF_A_USER = 6  # of HTTP/1.1, as of a browser
SCRIPTS = (PAGE, OBJECT, SLOW)
RATE_UNIT_S = 100  # of rates that are no whole number of arrivals per second: they have two decimals


@dataclass(frozen=True, slots=True)
class Stage(Coded):
    """A part of the trial in which the number of users (or of arrivals per second) goes to `target`, in a line."""

    target: float
    over_s: float


@dataclass(frozen=True, slots=True)
class LoadSettings(Coded):
    """The settings of a load: what a trial does to the server. With `generator: k6` there are users, who run a script
    again and again, or arrivals, each of which runs it once. The other generators keep connections busy until
    `requests` are answered."""

    generator: str
    # of users, which k6 has
    script: str  # one of SCRIPTS, or the path of a k6 script; "" without users
    script_text: str  # of a user's own
    users: tuple[Stage, ...]  # () with arrivals. The first stage has over_s 0: it says where the users begin
    arrivals: tuple[Stage, ...]  # per second; () with users. The first likewise
    think_s: float  # of a user, after each page
    limit_ms: float  # service level: how long a page may take
    warm_up_s: float  # at the beginning, that counts in no number but in series
    request_timeout_s: float
    parameters: tuple[tuple[str, str], ...]  # of the script: name, value
    thresholds: tuple[tuple[str, float], ...]  # key of a metric, highest value
    # of connections, which the others have
    connections: int  # all open before the clock starts
    streams: int  # requests under way at once on each connection
    requests: int  # 0 with wrk, which goes on for a time
    lasts_s: float  # of wrk; 0 with the others
    most_bytes: int  # of all answers together: of large objects fewer requests are made

    @property
    def has_users(self) -> bool:
        """Return whether it has users; else so many connections are kept busy."""
        return bool(self.users or self.arrivals)

    @property
    def open_model(self) -> bool:
        """Return whether requests come when they are due, however slow the answers are."""
        return bool(self.arrivals)

    @property
    def first_point_ms(self) -> float:
        """Return from when on points of a series count. Each is of the second before it, so that at the end of the
        warm-up is of the warm-up."""
        return math.nextafter(1000 * self.warm_up_s, math.inf)

    @property
    def duration_s(self) -> float:
        """Return how long it takes, where that is known before."""
        return self.lasts_s or sum(stage.over_s for stage in self.users or self.arrivals)

    def dimensions(self) -> dict[str, str]:
        """Return what cells may differ in, by the names of experiment/dimensions.py: what stays the same through the
        trial."""
        targets = {stage.target for stage in self.users or self.arrivals}
        if not targets:
            return {"connections": str(self.connections)}
        return {"users" if self.users else "arrivals": f"{targets.pop():g}"} if len(targets) == 1 else {}

    @property
    def connections_at_first(self) -> int:
        """Return how many may be opened before the first of them speaks."""
        stages = self.users or self.arrivals
        return round(stages[0].target * CONNECTIONS_OF_A_USER) if stages else self.connections

    @property
    def most_users(self) -> float:
        return max((stage.target for stage in self.users), default=0)
