"""The Chromium processes of a bed: each start that an arm may ask for, and the life of the processes that stay."""

import contextlib
from pathlib import Path
from typing import NamedTuple, TypedDict

from lanelab.driver.arm.browsers import binaries
from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.browser_pool import KeptBrowsers, Running
from lanelab.driver.arm.browsers.chromium import flags, new_profile
from lanelab.driver.arm.browsers.chromium.chromedriver import Driver, Session
from lanelab.driver.arm.browsers.chromium.chromium import Chromium
from lanelab.driver.arm.browsers.chromium.emulation import emulate
from lanelab.driver.arm.browsers.chromium.page import ChromiumPage
from lanelab.driver.arm.browsers.chromium.repeatable import ADD_SCRIPT, Repeating
from lanelab.driver.arm.browsers.chromium.server_state import forget_all_but_sessions
from lanelab.driver.arm.browsers.driven_page import Leave
from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.arm.browsers.repeatable import script
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.browser import BrowserFacts
from lanelab.driver.site.third_parties import is_host

SETTLE_LIMIT_S = 1.5
POLITE_END_S = 5.0


class NewContext(TypedDict):
    browserContextId: str


class NewTarget(TypedDict):
    targetId: str


class Tab(NamedTuple):
    """An empty tab in a context of its own."""

    context: str
    target: str


class RunningChromium(Running):
    """A Chromium with the session that leads it."""

    def __init__(self, chromium: Chromium, session: Session, profile: str, chosen: tuple[str, ...]) -> None:
        super().__init__(chromium, profile)
        self.chromium, self.session, self.chosen = chromium, session, chosen
        self.next_tab: Tab | None = None
        self.home = session.current_window_handle


class ChromiumBrowser(KeptBrowsers[RunningChromium, ChromiumPage]):
    """Chromium and ChromeDriver."""

    polite_end_s = POLITE_END_S

    def __init__(self, node: Node, folder: Path | str) -> None:
        super().__init__(node, folder)
        self.chromium, self.chromedriver = binaries.find_chromium(node), binaries.find_chromedriver(node)
        binaries.require_match(self.chromium, self.chromedriver)
        self._driver = Driver(node, self.chromedriver.path)

    def close(self) -> None:
        super().close()
        self._driver.close()

    def _open(self, arm: BrowserSettings, around: Surroundings, url: str) -> ChromiumPage:
        if arm.early_data:
            return self._known_server(arm, around, url)
        if _own_process(arm, around):
            return self._fresh_process(arm, around)
        if arm.start == "fresh-context":
            return self._fresh_context(arm, around)
        if arm.start == "warm":
            return self._warm(arm, around, url)
        raise InputError(f"there is no start {arm.start!r}", "Write fresh-process, fresh-context or warm", key="start")

    def _open_ahead(self, arm: BrowserSettings, around: Surroundings) -> ChromiumPage | None:
        """A session leads one page at a time: where it still leads another, only the tab is made."""
        shows = None if _own_process(arm, around) else self._that_shows(_key(arm, around))
        if shows is None:
            return self._open(arm, around, "")
        if self._can_go_on(shows):
            shows.next_tab = shows.next_tab or _new_tab(shows)
        return None

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
            context, target = running.next_tab or _new_tab(running)
            running.next_tab, running.shows = None, context
            running.session.switch_to.window(target)
            page = self._page(around, running, "fresh-context", arm, lambda: None, target)

        def leave() -> None:
            if running.shows == context:
                running.shows = None
            if page.failed:  # whatever happened to it must not happen to the next trial
                self._drop(running)
                return
            try:
                running.chromium.devtools.call("Target.disposeBrowserContext", browserContextId=context)
            except LanelabError:
                self._drop(running)

        page.leave, page.let_go = leave, lambda: self._let_go(running, context)
        return page

    # --- the life of a browser

    def _process_for(self, arm: BrowserSettings, around: Surroundings) -> RunningChromium:
        """Return the kept browser with just these flags, or a new one."""
        return self._kept(_key(arm, around), lambda: self._launch(arm, around, self._profile_of(arm)))

    def _launch(self, arm: BrowserSettings, around: Surroundings, profile: str) -> RunningChromium:
        argv = flags.flags(arm, around, profile)
        chromium = Chromium(self._node, [self.chromium.path, *argv], self._environment(arm))
        try:
            session = self._driver.attach(chromium.port)
            return RunningChromium(chromium, session, profile, (*argv, *new_profile.listed()))
        except BaseException:
            chromium.kill()
            raise

    def _environment(self, arm: BrowserSettings) -> dict[str, str]:
        """Without keys it would warn in a bar over the page."""
        keys = ("GOOGLE_API_KEY", "GOOGLE_DEFAULT_CLIENT_ID", "GOOGLE_DEFAULT_CLIENT_SECRET")
        return {**super()._environment(arm), **dict.fromkeys(keys, "no")}

    def _profile_of(self, arm: BrowserSettings) -> str:
        """Return a new one; where it is to discover HTTP/3, that of somebody who has used QUIC in this network."""
        folder = self._new_profile()
        discovers = arm.protocol == "h3" and arm.h3_discovery != "forced"
        texts = new_profile.files(ADDRESSES["client"] if discovers else None)
        self._node.run(["mkdir", "-p", f"{folder}/{new_profile.FOLDER}"])
        for path, text in texts.items():
            self._node.write(f"{folder}/{path}", text.encode())
        return folder

    def _page(
        self,
        around: Surroundings,
        running: RunningChromium,
        start: str,
        arm: BrowserSettings,
        leave: Leave,
        target: str | None = None,
    ) -> ChromiumPage:
        """Make a page ready for the load: its device set, its log emptied, and the browser quiet. `start`: what really
        was new."""
        emulate(running.session, arm)
        _block(around, running)
        repeating = _repeating(around, running, target or running.home)
        if running.sandboxed is None:
            running.sandboxed = running.chromium.sandboxed()
        settled_s = running.chromium.settle(scaled(SETTLE_LIMIT_S))
        facts = BrowserFacts(
            product=self.chromium.version,
            chromedriver=self.chromedriver.version,
            program=self.chromium.path,
            user_agent=None,
            flags=running.chosen,
            start=start,
            loads_before=running.pages,
            sandbox=running.sandboxed,
            settled_s=round(settled_s, 3),
        )
        running.pages += 1
        page = ChromiumPage(
            self._node,
            running.chromium,
            running.session,
            running.profile,
            facts,
            target or running.home,
            has_keys=around.keys,
        )
        page.leave, page.repeating, page.has_netlog = leave, repeating, around.netlog
        page.slowdown = arm.cpu_slowdown
        page.begin()
        return page

    def _quit(self, running: RunningChromium) -> None:
        running.session.quit()

    def _leftover(self, running: RunningChromium) -> tuple[str, ...]:
        return running.profile, flags.keys_file(running.profile), flags.netlog_file(running.profile)

    def _start_again(self) -> None:
        """Nor must a ChromeDriver."""
        super()._start_again()
        if not self._driver.alive():
            self._driver.close()
            self._driver = Driver(self._node, self.chromedriver.path)


def _own_process(arm: BrowserSettings, around: Surroundings) -> bool:
    """Return whether its page has a process of its own. A netlog is of a browser's whole life; the record says so."""
    return arm.start == "fresh-process" or (around.netlog and arm.start == "fresh-context")


def _key(arm: BrowserSettings, around: Surroundings) -> tuple[object, ...]:
    """Return what pages must have in common to be shown by one process."""
    return arm.display, *flags.flags(arm, around, "")


def _new_tab(running: RunningChromium) -> Tab:
    devtools = running.chromium.devtools
    new = devtools.ask(NewContext, "Target.createBrowserContext", disposeOnDetach=True)
    context = new["browserContextId"]
    tab = devtools.ask(NewTarget, "Target.createTarget", url=flags.START_PAGE, browserContextId=context)
    return Tab(context, tab["targetId"])


def _visit(running: RunningChromium, around: Surroundings, url: str) -> None:
    """Load the page once without measuring it."""
    if not url:
        raise InputError("this start needs the address that is loaded beforehand", key="start")
    repeating = _repeating(around, running, running.home)
    _block(around, running)
    running.session.limit(around.timeout_s)
    running.session.get(url)
    running.session.unlimit()
    running.pages += 1
    if repeating:
        repeating.close()


def _block(around: Surroundings, running: RunningChromium) -> None:
    """Let the page and its frames have an error at once, before anything is asked of the network. What a worker asks of
    a host that is blocked as a whole finds no such name (`hosts` of the surroundings lack it); of addresses Repeating
    tells each worker."""
    if around.blocked:
        running.session.cdp("Network.enable")
        running.session.cdp("Network.setBlockedURLs", urls=[address_of(each) for each in around.blocked])


def address_of(blocked: str) -> str:
    """Return what DevTools call a host or an address, of any scheme."""
    return f"*://{blocked}/*" if is_host(blocked) else f"*://{blocked}"


def _repeating(around: Surroundings, running: RunningChromium, target: str) -> Repeating | None:
    blocked = [address_of(each) for each in around.blocked if not is_host(each)]
    if around.repeatable is None and not blocked:
        return None
    text = script(around.repeatable) if around.repeatable else ""
    if text:
        running.session.cdp(ADD_SCRIPT, source=text)
    devtools = running.chromium.another_devtools()
    try:
        return Repeating(devtools, target, text, blocked)
    except BaseException:
        devtools.close()
        raise
