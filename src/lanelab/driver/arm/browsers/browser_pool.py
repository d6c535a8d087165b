"""The browsers of a bed: how their processes are started, kept for later loads, and ended."""

import contextlib
import itertools
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from lanelab.driver.arm.browsers.browser import Browser, Page, Surroundings
from lanelab.driver.arm.browsers.display import Display
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.reasons import Reason

KEPT = 3  # browsers that wait for arms of fresh-context; rounds go through the arms again and again
# So many pages a kept browser makes at most: a log of TLS keys, which each trial reads whole, grows by a kilobyte with
# each connection, and a browser that has been used for long is another than a fresh one.
MOST_PAGES = 100


class Life(Protocol):
    """The life of a browser's process, as far as this has to know of it."""

    def ended(self) -> bool: ...
    def kill(self) -> None: ...


class Running:
    """A browser that runs, with its profile."""

    def __init__(self, life: Life, profile: str) -> None:
        self.life, self.profile = life, profile
        self.sandboxed: bool | None = None
        self.pages = 0  # that were opened in it for loads
        self.shows: object = None  # what stands for the page that is being read


R = TypeVar("R", bound=Running)
P = TypeVar("P", bound=Page)


@dataclass(frozen=True, slots=True)
class Expected(Generic[P]):
    """A page that is being opened before its trial is prepared. None: only what it needs is."""

    arm: BrowserSettings
    around: Surroundings
    page: Future[P | None]


class KeptBrowsers(Browser, Generic[R, P]):
    """The processes of one browser program and the screen of one client node, for as long as the bed lives."""

    polite_end_s: float

    def __init__(self, node: Node, folder: Path | str) -> None:
        """Keep no browser yet. `folder` is one of the node, in memory, for profiles."""
        self._node, self._folder = node, str(folder)
        self._numbers = itertools.count(1)
        self._running: dict[tuple[object, ...], R] = {}
        self._changing = threading.RLock()  # the kept browsers, and those that end
        self._ending: list[threading.Thread] = []
        self._ahead = ThreadPoolExecutor(1, "next-page")
        self._expected: Expected[P] | None = None
        self._display: Display | None = None
        node.run(["mkdir", "-p", f"{self._folder}/home"])

    @abstractmethod
    def _open(self, arm: BrowserSettings, around: Surroundings, url: str) -> P:
        """Return a page, as the arm's start wants it."""

    @abstractmethod
    def _open_ahead(self, arm: BrowserSettings, around: Surroundings) -> P | None:
        """Return a page for an arm without a visit before. None: its browser still shows the page before."""

    @abstractmethod
    def _leftover(self, running: R) -> tuple[str, ...]:
        """Return the files of a browser that was killed."""

    def _quit(self, running: R) -> None:
        """End what leads a browser that was killed, besides its process."""

    def expect(self, arm: BrowserSettings, around: Surroundings) -> None:
        before = self._expected
        if before and (before.arm, before.around) != (arm, around):
            self._forget_expected()
            before = None
        begun = before.page if before else None
        self._expected = Expected(arm, around, self._ahead.submit(self._open_rest, begun, arm, around))

    def _open_rest(self, begun: "Future[P | None] | None", arm: BrowserSettings, around: Surroundings) -> P | None:
        """Return the page that was begun, or what can be opened now."""
        return (begun.result() if begun else None) or self._open_ahead(arm, around)

    def open(self, arm: BrowserSettings, around: Surroundings, url: str = "") -> P:
        page = self._take_expected(arm, around)
        try:
            self._wait_for_ends()
            return _begun_anew(page) if page else self._open(arm, around, url)
        except BrowserError as error:
            if error.reason in (Reason.TIMEOUT, Reason.NAVIGATION_FAILED):  # the warming page would not come now
                raise
            self._start_again()
            self._wait_for_ends()
            return self._open(arm, around, url)

    def _take_expected(self, arm: BrowserSettings, around: Surroundings) -> P | None:
        """Return the page that was expected, if it is as it is wanted now."""
        expected = self._expected
        if expected and (expected.arm, expected.around) == (arm, around):
            self._expected = None
            with contextlib.suppress(LanelabError):  # whoever opens it again says what is wrong
                return expected.page.result()
        self._forget_expected()
        return None

    def _forget_expected(self) -> None:
        expected, self._expected = self._expected, None
        with contextlib.suppress(LanelabError):
            page = expected.page.result() if expected else None
            if page:
                page.close()

    def close(self) -> None:
        self._forget_expected()
        self._ahead.shutdown()
        self._forget_kept()
        self._wait_for_ends()
        if self._display:
            self._display.close()

    # --- for starts

    def _environment(self, arm: BrowserSettings) -> dict[str, str]:
        """Return nothing of this user's: neither certificates nor settings. A browser that is killed leaves what it has
        in TMPDIR."""
        home = f"{self._folder}/home"
        environment = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"), home)
        environment |= {"LANGUAGE": "en_US", "LC_ALL": "C.UTF-8"}
        if arm.display == "headful":
            self._display = self._display or Display(self._node)
            environment["DISPLAY"] = self._display.name
        return environment

    def _new_profile(self) -> str:
        return f"{self._folder}/{next(self._numbers):06d}"

    def _kept(self, key: tuple[object, ...], launch: Callable[[], R]) -> R:
        """Return the kept browser of this key, or a new one."""
        with self._changing:
            running = self._running.pop(key, None)
            if running and not self._can_go_on(running):
                self._end(running)
                running = None
            self._running[key] = running or launch()
            while len(self._running) > KEPT:
                self._end(self._running.pop(next(iter(self._running))))
            return self._running[key]

    def _can_go_on(self, running: R) -> bool:
        return not running.life.ended() and running.pages < MOST_PAGES

    def _let_go(self, running: R, shown: object) -> None:
        """This page was read: another one may be opened in its browser. One that has shown its last page would be
        killed for that, while the server's log is still to be read."""
        if running.shows == shown and self._can_go_on(running):
            running.shows = None

    def _that_shows(self, key: tuple[object, ...]) -> R | None:
        """Return the kept browser of this key, if it shows a page."""
        with self._changing:
            running = self._running.get(key)
        return running if running and running.shows is not None else None

    @contextlib.contextmanager
    def _ended_on_error(self, running: R) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._drop(running)
            raise

    # --- ends

    def _end(self, running: R) -> None:
        """Kill it at once; what it leaves is cleared away beside the caller."""
        running.life.kill()
        thread = threading.Thread(target=self._clear, args=(running,), name="browser-end", daemon=True)
        self._ending.append(thread)
        thread.start()

    def _clear(self, running: R) -> None:
        with contextlib.suppress(LanelabError, OSError):
            self._quit(running)
        with contextlib.suppress(LanelabError, OSError):
            self._node.run(["rm", "-rf", *self._leftover(running)])

    def _wait_for_ends(self) -> None:
        """Clearing away must not compete with the next trial."""
        ending, self._ending = self._ending, []
        for thread in ending:
            thread.join(scaled(self.polite_end_s))

    def _drop(self, running: R) -> None:
        with self._changing:
            self._running = {key: other for key, other in self._running.items() if other is not running}
        self._end(running)

    def _forget_kept(self) -> None:
        for running in list(self._running.values()):
            self._drop(running)

    def _start_again(self) -> None:
        """A kept browser that does not answer any more must not spoil what comes."""
        self._forget_kept()


def _begun_anew(page: P) -> P:
    """Return it. Where it does not answer any more it is closed."""
    try:
        page.begin_anew()
    except BrowserError:
        page.close()
        raise
    return page
