"""What every load generator is to the workload. To add one, add a file beside this one and name it in registry.py."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.load import LoadReport
from lanelab.driver.record.evidence.spoken import Datagrams
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.series import Series
from lanelab.driver.trial.load_settings import LoadSettings


@dataclass(frozen=True, slots=True)
class Target:
    """Says what is asked for, and where. All paths are on the client node."""

    settings: LoadSettings
    arm: Arm
    urls: tuple[str, ...]  # what a page needs, the page itself first; of another script: what is asked for, in turn
    body_sizes: tuple[int | None, ...]  # of the answers, in the same order; None: only the server knows
    address: str  # every host of the URLs is there
    port: int
    authority: str  # file with the certificate that servers' certificates are signed with; "" without TLS
    folder: str  # for the generator alone, in memory; it is its working folder
    program: str
    seed: int
    script: bytes  # of a user's own; b"" where lanelab's are used


@dataclass(frozen=True, slots=True)
class Invocation:
    """The command that starts a generator."""

    argv: list[str]
    environment: Mapping[str, str]
    files: Mapping[str, bytes]  # in its folder, put there before
    script_check: list[str] = field(default_factory=list)  # says whether a user's script can run; [] without one


@dataclass(frozen=True, slots=True)
class Output:
    """The output that a generator left."""

    status: int | None  # None: it was ended because its time was over
    stdout: str
    stderr: str
    files: Mapping[str, bytes]  # those of `results` that are there


@dataclass(frozen=True, slots=True)
class Results:
    """The results that its output says."""

    report: LoadReport | None  # None: it did not come to one
    series: Mapping[str, Series]  # by the names of driver/record/load_series.py; also where there is no report
    problem: str = ""  # why there is none, in its own words
    began: float | None = None  # CLOCK_MONOTONIC in s, where it says when the load began; None: when it was started
    datagrams: Datagrams | None = None  # that came for it; None: over TCP there are none, or it does not tell
    reason: Reason = Reason.GENERATOR_FAILED  # of the trial's failure, where there is no report


OF_USERS = frozenset(("script", "users", "arrivals", "duration", "think", "limit", "warm_up", "parameters"))
OF_CONNECTIONS = frozenset(("connections", "streams", "requests", "most"))


class Generator(Protocol):
    """One program that loads servers. What has a value here is so with most."""

    # The keys of `workload` that it understands, of those that not all do.
    keys: frozenset[str] = OF_CONNECTIONS
    has_users: bool = False  # who run a script, or arrive; else so many connections are kept busy
    usual_s: float = 0.0  # how long it goes on, where nobody says; 0: until its requests are answered
    threads: int = 1  # processors that it can use at most: it has one thread, or is told to use one

    @property
    def name(self) -> str: ...

    @property
    def program(self) -> str:
        """Return what it is called on the client; or, where lanelab builds it, as driver/run/built_programs.py calls
        it."""

    @property
    def built(self) -> bool:
        """Return whether lanelab builds it."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What the client must have installed, in the words of playbooks/vars/packages.yml (`for`)."""

    @property
    def results(self) -> tuple[str, ...]:
        """The files that it writes into its folder, and of which partial ones are of use too."""

    @property
    def process(self) -> str:
        """Return what the kernel calls it, for the recorder `machine`."""

    def check(self, settings: LoadSettings, arm: Arm) -> None:
        """Raises InputError where it cannot do this."""

    def invocation(self, target: Target) -> Invocation:
        """Return how the generator is started."""

    def read(self, target: Target, output: Output) -> Results:
        """Read the results from the output. Raises RecordError where the output is not what it should be."""
