"""The Chromium processes of a bed: each start that an arm may ask for, and the life of the processes that stay."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

from driver.bed.node import Node
from driver.browser import binaries
from driver.browser.browser import Browser, BrowserSettings, Surroundings
from driver.browser.chromium import flags, known_network
from driver.browser.chromium.chromedriver import Driver, Session
from driver.browser.chromium.chromium import Chromium
from driver.browser.chromium.emulation import emulate
from driver.browser.chromium.known_server import forget_all_but_sessions
from driver.browser.chromium.page import ChromiumPage, Facts, Leave
from driver.browser.chromium.repeatable import ADD_SCRIPT, Repeating
from driver.browser.display import Display
from driver.browser.failures import BrowserError
from driver.browser.repeatable import script
from driver.shaping.addresses import ADDRESSES
from driver.timeouts import scaled
from model.errors import InputError, LanelabError
from model.reasons import Reason

SETTLE_LIMIT_S = 1.5
POLITE_END_S = 5.0
KEPT = 3  # browsers that wait for arms of fresh-context; rounds go through the arms again and again
# So many pages a kept browser makes at most: its log of TLS keys, which each trial reads whole, grows by a kilobyte
# with each connection, and a browser that has been used for long is another than a fresh one.
MOST_PAGES = 100


class Running:
    """A Chromium with the session that leads it."""

    def __init__(self, chromium: Chromium, session: Session, profile: str, argv: tuple[str, ...]) -> None:
        self.chromium, self.session, self.profile, self.argv = chromium, session, profile, argv
        self.home = session.current_window_handle
        self.sandboxed: bool | None = None
        self.pages = 0  # that were opened in it for loads


class ChromiumBrowser(Browser):
    """Chromium, ChromeDriver and the screen of one client node, for as long as the bed lives."""

    def __init__(self, node: Node, folder: Path | str) -> None:
        """`folder`: of the node, in memory, for profiles."""
        self._node, self._folder = node, str(folder)
        self._numbers = itertools.count(1)
        self._running: dict[tuple[str, ...], Running] = {}
        self._ending: list[threading.Thread] = []
        self._display: Display | None = None
        node.run(["mkdir", "-p", f"{self._folder}/home"])
        self.chromium, self.chromedriver = binaries.find_chromium(node), binaries.find_chromedriver(node)
        binaries.require_match(self.chromium, self.chromedriver)
        self._driver = Driver(node, self.chromedriver.path)

    def open(self, arm: BrowserSettings, around: Surroundings, url: str = "") -> ChromiumPage:
        try:
            return self._open(arm, around, url)
        except BrowserError as error:
            if error.reason in (Reason.TIMEOUT, Reason.NAVIGATION_FAILED):  # the warming page would not come now
                raise
            # A ChromeDriver or a kept browser that does not answer any more must not spoil what comes.
            self._start_again()
            return self._open(arm, around, url)

    def close(self) -> None:
        self._forget_kept()
        for thread in self._ending:
            thread.join(scaled(POLITE_END_S))
        self._driver.close()
        if self._display:
            self._display.close()

    def _open(self, arm: BrowserSettings, around: Surroundings, url: str) -> ChromiumPage:
        self._wait_for_ends()
        if arm.early_data:
            return self._known_server(arm, around, url)
        if arm.start == "fresh-process" or (around.netlog and arm.start == "fresh-context"):
            return self._fresh_process(arm, around)  # a netlog is of a browser's whole life; the record says so
        if arm.start == "fresh-context":
            return self._fresh_context(arm, around)
        if arm.start == "warm":
            return self._warm(arm, around, url)
        raise InputError(f"there is no start {arm.start!r}", "Write fresh-process, fresh-context or warm", key="start")

    # --- starts

    def _fresh_process(self, arm: BrowserSettings, around: Surroundings) -> ChromiumPage:
        running = self._launch(arm, around, self._profile_of(arm))
        with self._ended_on_error(running):
            return self._page(around, running, "fresh-process", arm, lambda: self._end(running))

    def _warm(self, arm: BrowserSettings, around: Surroundings, url: str) -> ChromiumPage:
        profile = self._profile_of(arm)
        first = self._launch(arm, around, profile)
        with self._ended_on_error(first):
            _visit(first, around, url)
        first.chromium.leave(scaled(POLITE_END_S))  # politely: it writes its cache's index at its end
        with contextlib.suppress(LanelabError):
            first.session.quit()
        self._node.run(["rm", "-f", flags.keys_file(profile), flags.netlog_file(profile)])
        running = self._launch(arm, around, profile)
        with self._ended_on_error(running):
            return self._page(around, running, "warm", arm, lambda: self._end(running))

    def _known_server(self, arm: BrowserSettings, around: Surroundings, url: str) -> ChromiumPage:
        """Chromium keeps TLS sessions in memory alone: the very process that is to resume one has loaded the page."""
        running = self._launch(arm, around, self._profile_of(arm))
        with self._ended_on_error(running):
            _visit(running, around, url)
            forget_all_but_sessions(running.session, cache=arm.start != "warm")
            return self._page(around, running, arm.start, arm, lambda: self._end(running))

    def _fresh_context(self, arm: BrowserSettings, around: Surroundings) -> ChromiumPage:
        running = self._process_for(arm, around)
        with self._ended_on_error(running):
            devtools = running.chromium.devtools
            context = devtools.call("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
            target = devtools.call("Target.createTarget", url=flags.START_PAGE, browserContextId=context)["targetId"]
            running.session.switch_to.window(target)
            page = self._page(around, running, "fresh-context", arm, lambda: None, target)

        def leave() -> None:
            if page.failed:  # whatever happened to it must not happen to the next trial
                self._drop(running)
                return
            try:
                running.session.close()
                running.session.switch_to.window(running.home)
                devtools.call("Target.disposeBrowserContext", browserContextId=context)
            except LanelabError:
                self._drop(running)

        page.leave = leave
        return page

    # --- the life of a browser

    def _process_for(self, arm: BrowserSettings, around: Surroundings) -> Running:
        """The kept browser with just these flags, or a new one."""
        key = (arm.display, *flags.flags(arm, around, ""))
        running = self._running.pop(key, None)
        if running and (running.chromium.ended() or running.pages >= MOST_PAGES):
            self._end(running)
            running = None
        self._running[key] = running or self._launch(arm, around, self._new_profile())
        while len(self._running) > KEPT:
            self._end(self._running.pop(next(iter(self._running))))
        return self._running[key]

    def _launch(self, arm: BrowserSettings, around: Surroundings, profile: str) -> Running:
        argv = flags.flags(arm, around, profile)
        chromium = Chromium(self._node, [self.chromium.path, *argv], self._environment(arm))
        try:
            session = self._driver.attach(chromium.port)
            return Running(chromium, session, profile, argv)
        except BaseException:
            chromium.kill()
            raise

    def _environment(self, arm: BrowserSettings) -> dict[str, str]:
        home = f"{self._folder}/home"
        # Nothing of this user's: neither certificates nor settings. Without keys it would warn in a bar over the page.
        own = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "LANGUAGE": "en_US", "LC_ALL": "C.UTF-8"}
        own["TMPDIR"] = home  # killed, it leaves what it has there
        own |= dict.fromkeys(("GOOGLE_API_KEY", "GOOGLE_DEFAULT_CLIENT_ID", "GOOGLE_DEFAULT_CLIENT_SECRET"), "no")
        if arm.display == "headful":
            self._display = self._display or Display(self._node)
            own["DISPLAY"] = self._display.name
        return own

    def _new_profile(self) -> str:
        return f"{self._folder}/{next(self._numbers):06d}"

    def _profile_of(self, arm: BrowserSettings) -> str:
        """A new one; where it is to discover HTTP/3, that of somebody who has used QUIC in this network."""
        profile = self._new_profile()
        if arm.protocol == "h3" and arm.h3_discovery != "forced":
            file = f"{profile}/{known_network.FILE}"
            self._node.run(["mkdir", "-p", file.rpartition("/")[0]])
            self._node.write(file, known_network.known_network(ADDRESSES["client"]).encode())
        return profile

    def _page(
        self,
        around: Surroundings,
        running: Running,
        start: str,
        arm: BrowserSettings,
        leave: Leave,
        target: str | None = None,
    ) -> ChromiumPage:
        """Ready for the load: its device set, its log emptied, and the browser quiet. `start`: what really was new."""
        emulate(running.session, arm)
        repeating = _repeating(around, running, target or running.home)
        if running.sandboxed is None:
            running.sandboxed = running.chromium.sandboxed()
        settled_s = running.chromium.settle(scaled(SETTLE_LIMIT_S))
        facts = Facts(
            self.chromium, self.chromedriver, running.argv, start, running.sandboxed, settled_s, running.pages
        )
        running.pages += 1
        page = ChromiumPage(
            self._node, running.chromium, running.session, running.profile, facts, target or running.home
        )
        page.leave, page.repeating = leave, repeating
        page.has_keys, page.has_netlog = around.keys, around.netlog
        page.slowdown = arm.cpu_slowdown
        page.begin()
        return page

    @contextlib.contextmanager
    def _ended_on_error(self, running: Running) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._drop(running)
            raise

    def _end(self, running: Running) -> None:
        """Killed at once; its session and its folder are cleared away beside the caller."""
        running.chromium.kill()
        thread = threading.Thread(target=self._clear, args=(running,), name="browser-end", daemon=True)
        self._ending.append(thread)
        thread.start()

    def _clear(self, running: Running) -> None:
        with contextlib.suppress(LanelabError, OSError):
            running.session.quit()
        leftover = (running.profile, flags.keys_file(running.profile), flags.netlog_file(running.profile))
        with contextlib.suppress(LanelabError, OSError):
            self._node.run(["rm", "-rf", *leftover])

    def _wait_for_ends(self) -> None:
        """Clearing away must not compete with the next trial."""
        for thread in self._ending:
            thread.join(scaled(POLITE_END_S))
        self._ending.clear()

    def _drop(self, running: Running) -> None:
        self._running = {key: other for key, other in self._running.items() if other is not running}
        self._end(running)

    def _forget_kept(self) -> None:
        for running in list(self._running.values()):
            self._drop(running)

    def _start_again(self) -> None:
        self._forget_kept()
        if not self._driver.alive():
            self._driver.close()
            self._driver = Driver(self._node, self.chromedriver.path)


def _visit(running: Running, around: Surroundings, url: str) -> None:
    """A load that is not measured."""
    if not url:
        raise InputError("this start needs the address that is loaded beforehand", key="start")
    repeating = _repeating(around, running, running.home)
    running.session.limit(around.timeout_s)
    running.session.get(url)
    running.session.unlimit()
    running.pages += 1
    if repeating:
        repeating.close()


def _repeating(around: Surroundings, running: Running, target: str) -> Repeating | None:
    if around.repeatable is None:
        return None
    text = script(around.repeatable)
    running.session.cdp(ADD_SCRIPT, source=text)
    devtools = running.chromium.another_devtools()
    try:
        return Repeating(devtools, target, text)
    except BaseException:
        devtools.close()
        raise
