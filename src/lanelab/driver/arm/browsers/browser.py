"""What lanelab asks of a browser. Each browser is one folder below this one, with an entry in registry.py.

    browser = BROWSERS["chromium"].start(client, folder)   once for each bed
    page = browser.open(settings, around, url)             everything that is not the load: before captures and clocks
    page.load(url, timeout_s)                              the load, and nothing else
    record = page.record()                                 what the browser knows of the load; failures are in it
    page.close()                                           at once; what takes time happens beside the caller

Pages are cold in the way that the arm's `start` says:
    fresh-process   a new browser process with an empty profile
    fresh-context   a new context in a browser process that stays: its own cache, cookies, sockets and TLS sessions
    warm            a repeat view: an unmeasured load in a new profile, then a new process with that profile. So the
                    HTTP cache is warm, and connections, TLS sessions and names are not, as when a user comes back
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.arm.browsers.vitals import StepTold, Vitals, VitalsAsked
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.record.evidence.browser import BrowserEvidence, Request
from lanelab.driver.record.evidence.journey import StepEvidence
from lanelab.driver.record.reasons import Failure

if TYPE_CHECKING:
    from lanelab.driver.bed.node import Node


@dataclass(frozen=True, slots=True)
class Repeatable:
    """The values that scripts get instead of time and chance."""

    seed: int
    now_ms: int  # since 1970, at the beginning of each document


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The facts of its cell that a browser needs besides the arm."""

    hosts: Mapping[str, str]  # every host name of the site -> its address
    dns: str = "instant"  # or "resolver"; "machine": every name there is, for recordings of sites that are not ours
    trusted: tuple[str, ...] = ()  # public keys that it trusts: their SHA-256 in base64
    authority: str = ""  # the certificate, in PEM, of whoever signed for them
    keys: bool = False  # log TLS keys
    without_h3: frozenset[str] = frozenset()  # hosts that do not speak HTTP/3 where an arm has it for the others
    netlog: bool = False  # log the network from the start of the process
    without_h2: bool = False  # it may not offer HTTP/2: a server would take it that is to speak HTTP/1.1
    timeout_s: float = 120.0  # of the load that a warm start makes beforehand
    blocked: tuple[str, ...] = ()  # hosts and addresses that it is not to fetch, as an arm's `block` has them
    repeatable: Repeatable | None = None  # None: scripts see the clock and chance as they are


@dataclass(frozen=True, slots=True)
class Leg:
    """One navigation of a journey."""

    name: str
    url: str
    back: bool  # by the browser's way back, which leads to that address
    think_s: float  # from the end of the load before it; of the first without a meaning


@dataclass(frozen=True, slots=True)
class ScriptAsked:
    """A user's own script that is to lead a page, and what it is given."""

    name: str
    text: str
    url: str  # of the site's entry
    pages: Mapping[str, str]  # addresses of the site's pages, by their names
    steps: tuple[str, ...]  # in order


@dataclass(frozen=True, slots=True)
class PageRecord(Coded):
    """The record that a browser gives of one load."""

    browser: BrowserEvidence
    requests: tuple[Request, ...]
    failures: tuple[Failure, ...]
    marks: Mapping[str, float]  # where the time went, in s
    steps: tuple[StepEvidence, ...] = ()  # of a journey


FLAGS_KEY = "browser_flags"  # the setting
# What recorders may ask of a page.
SCREENSHOT, TRACE, NETLOG, VITALS = "screenshot", "trace", "netlog", "vitals"


@dataclass(frozen=True, slots=True)
class Limit:
    """A setting of arms that a browser cannot follow in every value."""

    setting: str
    can: Callable[[Any], bool]  # whether it can have this value
    why: str  # "{title} ..."; `{value}` is the value that was asked for
    remedy: str
    when: tuple[str, object] | None = None  # only where another setting has this value
    of_link: bool = True  # it is about what is on the link: with a gateway that is not the browser's affair
    automatic: bool = False  # such values go through the gateway where the arm does not say how


@dataclass(frozen=True, slots=True)
class FlagForm:
    """The way in which `browser_flags` of a browser are written."""

    noun: str
    pattern: str
    like: str
    refused: Mapping[str, str]  # how those begin that a user cannot give -> why

    def check(self, flags: Sequence[str], title: str) -> None:
        """Raises InputError for what this browser does not have, or what it cannot be given."""
        for flag in flags:
            if not re.fullmatch(self.pattern, flag):
                what = f"{flag[:60]!r} is no {self.noun} of {title}"
                raise InputError(what, f"Write one like {self.like}", key=FLAGS_KEY)
            for start, reason in self.refused.items():
                if re.match(rf"{re.escape(start)}(=|\s|$)", flag, re.IGNORECASE):
                    raise InputError(f"{start} cannot be given: {reason}", "Leave it out", key=FLAGS_KEY)


class Trace(Protocol):
    """A trace that runs, in the form that Chromium and many tools have: JSON with `traceEvents`."""

    def stop(self) -> None:
        """What happens from here on is not wanted. Quick."""

    def read(self) -> bytes:
        """Return all of it, after `stop`. Raises BrowserError."""

    def close(self) -> None:
        """End it without reading."""


class Page(ABC):
    """A page that is ready to load once."""

    @abstractmethod
    def begin_anew(self) -> None:
        """It was opened while the page before was still there: what has been noted until now is not of its load, and
        its browser may have had more to do. Raises BrowserError."""

    @abstractmethod
    def load(self, url: str, timeout_s: float) -> None:
        """Go to the address and wait for the load event. Never raises BrowserError: `record` has the failure."""

    def travel(self, legs: Sequence[Leg], timeout_s: float) -> None:  # noqa: ARG002 - for those that can
        """Load one page after the other, each within that time, as `load` does."""
        raise InputError("this browser makes no journeys", "Write browser: chromium, or one page", key="pages")

    def follow(self, script: ScriptAsked, timeout_s: float) -> None:  # noqa: ARG002 - for those that can
        """Let a script lead the page, each of its steps within that time, as `load` does."""
        raise InputError("this browser follows no scripts", "Write browser: chromium", key="script")

    @abstractmethod
    def record(self) -> PageRecord:
        """Return what the browser knows of the load. Never raises BrowserError: failures are in it."""

    @abstractmethod
    def screenshot(self, target: Path) -> None:
        """Write a picture of the page, as PNG. Raises BrowserError."""

    @abstractmethod
    def keys(self, target: Path) -> bool:
        """Write the TLS keys of this load, for its captures. False: there are none."""

    @abstractmethod
    def netlog(self, target: Path) -> None:
        """Write the browser's own log of its network. This ends the browser. Raises BrowserError."""

    @abstractmethod
    def trace(self, *, screenshots: bool) -> Trace:
        """Begin to trace what the browser does. Raises BrowserError."""

    @abstractmethod
    def vitals(self, request: VitalsAsked) -> Vitals | None:
        """Return right after `load` what the browser kept of it (vitals.py), and what a click came to. None: the load
        failed. Raises BrowserError."""

    def watch_steps(self, after_ms: float) -> None:  # noqa: ARG002 - for those that can
        """Ahead of `travel` or `follow`: each step is asked for its vitals, so long after its end."""
        raise InputError("this browser makes no journeys", "Write browser: chromium, or one page", key="pages")

    def vitals_of_steps(self) -> Sequence[StepTold]:
        """Return what each step told, in order; after a failure of those before it."""
        return ()

    @abstractmethod
    def knows_selector(self, text: str) -> bool:
        """Return whether it is a CSS selector to this browser. Raises BrowserError."""

    def release(self) -> None:  # noqa: B027 - most pages have a browser of their own
        """Let the browser lead another page: nothing more will be asked of this one."""

    @abstractmethod
    def close(self) -> None:
        """End the page. What takes time goes on beside the caller."""


class Browser(ABC):
    """A browser program on the client node of a bed."""

    @abstractmethod
    def open(self, settings: BrowserSettings, around: Surroundings, url: str = "") -> Page:
        """Return a page that is ready to load. A warm start loads `url` beforehand. Raises BrowserError."""

    @abstractmethod
    def expect(self, settings: BrowserSettings, around: Surroundings) -> None:
        """Begin to open the page that `open` will be asked for, while the one before is still being read. Returns at
        once. Nothing is sent on the link meanwhile. Said again when that one was released, it does what had to wait."""

    @abstractmethod
    def close(self) -> None:
        """End everything at once."""


@dataclass(frozen=True, slots=True)
class BrowserKind:
    """A browser that lanelab knows, as far as it can be described without starting it."""

    name: str  # as arms write it
    title: str  # for people
    start: "Callable[[Node, Path], Browser]"  # (client, a folder of the client in memory)
    connections_per_host: int  # that it opens at most with HTTP/1.1, where nobody says otherwise
    flags: FlagForm
    limits: tuple[Limit, ...]  # which settings of arms it cannot follow
    gives: frozenset[str]  # what recorders may ask of its pages (`asks`): SCREENSHOT, TRACE, NETLOG, VITALS
    needs: tuple[str, ...]  # its programs, as the column `for` of playbooks/vars/packages.yml has them
    processes: tuple[str, ...]  # what the kernel calls its processes, and those that lead it
