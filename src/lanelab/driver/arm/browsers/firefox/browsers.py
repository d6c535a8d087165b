"""The Firefox processes of a bed: each start that an arm may ask for, and the life of the processes that stay."""

import base64
from pathlib import Path
from typing import TypedDict

from lanelab.driver.arm.browsers.binaries import find_firefox
from lanelab.driver.arm.browsers.browser import Repeatable, Surroundings
from lanelab.driver.arm.browsers.browser_pool import KeptBrowsers, Running
from lanelab.driver.arm.browsers.driven_page import Leave
from lanelab.driver.arm.browsers.fields import USUAL_VIEWPORT, BrowserSettings
from lanelab.driver.arm.browsers.firefox import prefs
from lanelab.driver.arm.browsers.firefox.firefox import Context, Firefox
from lanelab.driver.arm.browsers.firefox.page import CONSOLE, FirefoxPage, navigate
from lanelab.driver.arm.browsers.repeatable import script
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.browser import BrowserFacts

SETTLE_LIMIT_S = 4.0
POLITE_END_S = 10.0
KEYS_FILE = "SSLKEYLOGFILE"  # the variable that tells NSS where to write


class User(TypedDict):
    userContext: str


class RunningFirefox(Running):
    """A Firefox with what was chosen for it."""

    def __init__(self, firefox: Firefox, profile: str, chosen: tuple[str, ...], keys_file: str | None) -> None:
        super().__init__(firefox, profile)
        self.firefox, self.chosen, self.keys_file = firefox, chosen, keys_file


class FirefoxBrowser(KeptBrowsers[RunningFirefox, FirefoxPage]):
    """Firefox."""

    polite_end_s = POLITE_END_S

    def __init__(self, node: Node, folder: Path | str) -> None:
        super().__init__(node, folder)
        self.binary = find_firefox(node)

    def _open(self, arm: BrowserSettings, around: Surroundings, url: str) -> FirefoxPage:
        if arm.start == "fresh-process":
            return self._fresh_process(arm, around)
        if arm.start == "fresh-context":
            return self._fresh_context(arm, around)
        if arm.start == "warm":
            return self._warm(arm, around, url)
        raise InputError(f"there is no start {arm.start!r}", "Write fresh-process, fresh-context or warm", key="start")

    def _open_ahead(self, arm: BrowserSettings, around: Surroundings) -> FirefoxPage | None:
        shows = None if arm.start == "fresh-process" else self._that_shows(_key(arm, around))
        return None if shows else self._open(arm, around, "")

    # --- starts

    def _fresh_process(self, arm: BrowserSettings, around: Surroundings) -> FirefoxPage:
        running = self._launch(arm, around, self._new_profile())
        with self._ended_on_error(running):
            context = running.firefox.page()
            return self._page(arm, around, running, "fresh-process", context, lambda: self._end(running))

    def _warm(self, arm: BrowserSettings, around: Surroundings, url: str) -> FirefoxPage:
        if not url:
            raise InputError("a warm start needs the address that is loaded beforehand", key="start")
        profile = self._new_profile()
        first = self._launch(arm, around, profile)
        with self._ended_on_error(first):
            context = first.firefox.page()
            _make_ready(first.firefox, context, arm, around.repeatable)
            navigate(first.firefox, context, url, around.timeout_s)
        first.firefox.leave(scaled(POLITE_END_S))  # politely: it writes its cache's index at its end
        self._node.run(["rm", "-f", f"{profile}.keys"])
        running = self._launch(arm, around, profile)
        with self._ended_on_error(running):
            context = running.firefox.page()
            return self._page(arm, around, running, "warm", context, lambda: self._end(running))

    def _fresh_context(self, arm: BrowserSettings, around: Surroundings) -> FirefoxPage:
        running = self._process_for(arm, around)
        with self._ended_on_error(running):
            bidi = running.firefox.bidi
            user = bidi.ask(User, "browser.createUserContext")["userContext"]
            running.shows = user
            context = bidi.ask(Context, "browsingContext.create", type="tab", userContext=user)["context"]
            page = self._page(arm, around, running, "fresh-context", context, lambda: None)

        def leave() -> None:
            if running.shows == user:
                running.shows = None
            if page.failed:  # whatever happened to it must not happen to the next trial
                self._drop(running)
                return
            try:
                bidi.call("browser.removeUserContext", userContext=user)
            except LanelabError:
                self._drop(running)

        page.leave, page.let_go = leave, lambda: self._let_go(running, user)
        return page

    # --- the life of a browser

    def _process_for(self, arm: BrowserSettings, around: Surroundings) -> RunningFirefox:
        """Return the kept browser with just these preferences and names, or a new one."""
        return self._kept(_key(arm, around), lambda: self._launch(arm, around, self._new_profile()))

    def _launch(self, arm: BrowserSettings, around: Surroundings, profile: str) -> RunningFirefox:
        chosen = prefs.prefs(arm, around)
        self._node.run(["mkdir", "-p", profile])
        self._node.write(f"{profile}/user.js", prefs.user_js(chosen).encode())
        keys_file = f"{profile}.keys" if around.keys else None
        environment = self._environment(arm) | ({KEYS_FILE: keys_file} if keys_file else {})
        screen = ["--headless"] if arm.display == "headless" else []
        leading = ["--remote-debugging-port=0", "--remote-allow-system-access"]
        argv = [self.binary.path, *screen, "--no-remote", "--profile", profile, *leading, "about:blank"]
        firefox = Firefox(self._node, argv, environment)
        try:
            firefox.watch(_watched(arm, around))
            return RunningFirefox(firefox, profile, prefs.listed(chosen), keys_file)
        except BaseException:
            firefox.kill()
            raise

    def _environment(self, arm: BrowserSettings) -> dict[str, str]:
        environment = {**super()._environment(arm), "MOZ_CRASHREPORTER_DISABLE": "1", "MOZ_DISABLE_AUTO_SAFE_MODE": "1"}
        environment["MOZ_REMOTE_SETTINGS_DEVTOOLS"] = (
            "1"  # else the preference for the server of its settings is not heard
        )
        return environment | ({"GDK_BACKEND": "x11", "MOZ_ENABLE_WAYLAND": "0"} if arm.display == "headful" else {})

    def _page(
        self,
        arm: BrowserSettings,
        around: Surroundings,
        running: RunningFirefox,
        start: str,
        context: str,
        leave: Leave,
    ) -> FirefoxPage:
        """Make a page ready for the load: its size set, its notes empty, and the browser quiet. `start`: what really
        was new."""
        firefox = running.firefox
        _make_ready(firefox, context, arm, around.repeatable)
        firefox.bidi.call("session.subscribe", events=[CONSOLE], contexts=[context])
        settled_s = firefox.settle(scaled(SETTLE_LIMIT_S))
        if running.sandboxed is None:
            running.sandboxed = firefox.sandboxed()
        facts = BrowserFacts(
            product=self.binary.version,
            chromedriver="",
            program=self.binary.path,
            user_agent=None,
            flags=running.chosen,
            start=start,
            loads_before=running.pages,
            sandbox=running.sandboxed,
            settled_s=round(settled_s, 3),
        )
        running.pages += 1
        page = FirefoxPage(self._node, firefox, context, running.keys_file, facts)
        page.leave = leave
        page.begin()
        return page

    def _leftover(self, running: RunningFirefox) -> tuple[str, ...]:
        return running.profile, f"{running.profile}.keys"


def _key(arm: BrowserSettings, around: Surroundings) -> tuple[object, ...]:
    """Return what pages must have in common to be shown by one process."""
    hosts = tuple(sorted(around.hosts.items()))
    return arm.display, around.keys, around.authority, hosts, around.dns, *prefs.listed(prefs.prefs(arm, around))


def _make_ready(firefox: Firefox, context: str, arm: BrowserSettings, repeatable: Repeatable | None) -> None:
    width, height = arm.viewport or USUAL_VIEWPORT
    size = {"width": width, "height": height}
    firefox.bidi.call("browsingContext.setViewport", context=context, viewport=size, devicePixelRatio=arm.pixel_ratio)
    if repeatable:
        firefox.bidi.call(
            "script.addPreloadScript", functionDeclaration=f"() => {{ {script(repeatable)} }}", contexts=[context]
        )


def _watched(arm: BrowserSettings, around: Surroundings) -> dict[str, object]:
    """Return what watch.js is told."""
    return {
        "hosts": sorted(around.hosts),
        "addresses": dict(around.hosts) if around.dns == "instant" else None,
        "authority": _without_armour(around.authority),
        "confined": True,
        "alternatives": sorted(set(around.hosts) - around.without_h3)
        if arm.protocol == "h3" and arm.h3_discovery == "forced"
        else [],
    }


def _without_armour(pem: str) -> str:
    """Return a certificate as base64 alone."""
    lines = "".join(line for line in pem.splitlines() if not line.startswith("-----"))
    return base64.b64encode(base64.b64decode(lines)).decode()
