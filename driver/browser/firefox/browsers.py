"""The Firefox processes of a bed: each start that an arm may ask for, and the life of the processes that stay."""

from __future__ import annotations

import base64
import contextlib
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

from driver.bed.node import Node
from driver.browser.binaries import find_firefox
from driver.browser.browser import USUAL_VIEWPORT, Browser, BrowserSettings, Repeatable, Surroundings
from driver.browser.display import Display
from driver.browser.failures import BrowserError
from driver.browser.firefox import prefs
from driver.browser.firefox.firefox import Firefox
from driver.browser.firefox.page import CONSOLE, Facts, FirefoxPage, Leave, navigate
from driver.browser.repeatable import script
from driver.timeouts import scaled
from model.errors import InputError, LanelabError
from model.reasons import Reason

SETTLE_LIMIT_S = 4.0
POLITE_END_S = 10.0
KEPT = 3  # browsers that wait for arms of fresh-context; rounds go through the arms again and again
MOST_PAGES = 100  # that a kept browser makes: one that has been used for long is another than a fresh one
KEYS_FILE = "SSLKEYLOGFILE"  # the variable that tells NSS where to write


class Running:
    """A Firefox with its profile."""

    def __init__(self, firefox: Firefox, profile: str, chosen: tuple[str, ...], keys_file: str | None) -> None:
        self.firefox, self.profile, self.chosen, self.keys_file = firefox, profile, chosen, keys_file
        self.sandboxed: bool | None = None
        self.pages = 0  # that were opened in it for loads


class FirefoxBrowser(Browser):
    """Firefox and the screen of one client node, for as long as the bed lives."""

    def __init__(self, node: Node, folder: Path | str) -> None:
        """`folder`: of the node, in memory, for profiles."""
        self._node, self._folder = node, str(folder)
        self._numbers = itertools.count(1)
        self._running: dict[tuple[object, ...], Running] = {}
        self._ending: list[threading.Thread] = []
        self._display: Display | None = None
        node.run(["mkdir", "-p", f"{self._folder}/home"])
        self.binary = find_firefox(node)

    def open(self, arm: BrowserSettings, around: Surroundings, url: str = "") -> FirefoxPage:
        try:
            return self._open(arm, around, url)
        except BrowserError as error:
            if error.reason in (Reason.TIMEOUT, Reason.NAVIGATION_FAILED):  # the warming page would not come now
                raise
            self._forget_kept()  # a kept browser that does not answer any more must not spoil what comes
            return self._open(arm, around, url)

    def close(self) -> None:
        self._forget_kept()
        self._wait_for_ends()
        if self._display:
            self._display.close()

    def _open(self, arm: BrowserSettings, around: Surroundings, url: str) -> FirefoxPage:
        self._wait_for_ends()
        if arm.start == "fresh-process":
            return self._fresh_process(arm, around)
        if arm.start == "fresh-context":
            return self._fresh_context(arm, around)
        if arm.start == "warm":
            return self._warm(arm, around, url)
        raise InputError(f"there is no start {arm.start!r}", "Write fresh-process, fresh-context or warm", key="start")

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
            user = bidi.call("browser.createUserContext")["userContext"]
            context = bidi.call("browsingContext.create", type="tab", userContext=user)["context"]
            page = self._page(arm, around, running, "fresh-context", context, lambda: None)

        def leave() -> None:
            if page.failed:  # whatever happened to it must not happen to the next trial
                self._drop(running)
                return
            try:
                bidi.call("browser.removeUserContext", userContext=user)
            except LanelabError:
                self._drop(running)

        page.leave = leave
        return page

    # --- the life of a browser

    def _process_for(self, arm: BrowserSettings, around: Surroundings) -> Running:
        """The kept browser with just these preferences and names, or a new one."""
        chosen = prefs.listed(prefs.prefs(arm, around))
        key = (arm.display, around.keys, around.authority, tuple(sorted(around.hosts.items())), around.dns, *chosen)
        running = self._running.pop(key, None)
        if running and (running.firefox.ended() or running.pages >= MOST_PAGES):
            self._end(running)
            running = None
        self._running[key] = running or self._launch(arm, around, self._new_profile())
        while len(self._running) > KEPT:
            self._end(self._running.pop(next(iter(self._running))))
        return self._running[key]

    def _launch(self, arm: BrowserSettings, around: Surroundings, profile: str) -> Running:
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
            return Running(firefox, profile, prefs.listed(chosen), keys_file)
        except BaseException:
            firefox.kill()
            raise

    def _environment(self, arm: BrowserSettings) -> dict[str, str]:
        home = f"{self._folder}/home"
        # Nothing of this user's: neither certificates nor settings.
        own = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "LANGUAGE": "en_US", "LC_ALL": "C.UTF-8"}
        own |= {"TMPDIR": home, "MOZ_CRASHREPORTER_DISABLE": "1", "MOZ_DISABLE_AUTO_SAFE_MODE": "1"}
        own["MOZ_REMOTE_SETTINGS_DEVTOOLS"] = "1"  # else the preference for the server of its settings is not heard
        if arm.display == "headful":
            self._display = self._display or Display(self._node)
            own |= {"DISPLAY": self._display.name, "GDK_BACKEND": "x11", "MOZ_ENABLE_WAYLAND": "0"}
        return own

    def _new_profile(self) -> str:
        return f"{self._folder}/{next(self._numbers):06d}"

    def _page(
        self, arm: BrowserSettings, around: Surroundings, running: Running, start: str, context: str, leave: Leave
    ) -> FirefoxPage:
        """Ready for the load: its size set, its notes empty, and the browser quiet. `start`: what really was new."""
        firefox = running.firefox
        _make_ready(firefox, context, arm, around.repeatable)
        firefox.bidi.call("session.subscribe", events=[CONSOLE], contexts=[context])
        settled_s = firefox.settle(scaled(SETTLE_LIMIT_S))
        if running.sandboxed is None:
            running.sandboxed = firefox.sandboxed()
        facts = Facts(
            self.binary.version,
            self.binary.path,
            running.chosen,
            start,
            running.sandboxed,
            settled_s,
            running.pages,
        )
        running.pages += 1
        page = FirefoxPage(self._node, firefox, context, running.keys_file, facts)
        page.leave = leave
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
        """Killed at once; its folder is cleared away beside the caller."""
        running.firefox.kill()
        thread = threading.Thread(target=self._clear, args=(running,), name="browser-end", daemon=True)
        self._ending.append(thread)
        thread.start()

    def _clear(self, running: Running) -> None:
        with contextlib.suppress(LanelabError, OSError):
            self._node.run(["rm", "-rf", running.profile, f"{running.profile}.keys"])

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


def _make_ready(firefox: Firefox, context: str, arm: BrowserSettings, repeatable: Repeatable | None) -> None:
    width, height = arm.viewport or USUAL_VIEWPORT
    size = {"width": width, "height": height}
    firefox.bidi.call("browsingContext.setViewport", context=context, viewport=size, devicePixelRatio=arm.pixel_ratio)
    if repeatable:
        firefox.bidi.call(
            "script.addPreloadScript", functionDeclaration=f"() => {{ {script(repeatable)} }}", contexts=[context]
        )


def _watched(arm: BrowserSettings, around: Surroundings) -> dict[str, object]:
    """What watch.js is told."""
    return {
        "hosts": sorted(around.hosts),
        "addresses": dict(around.hosts) if around.dns == "instant" else None,
        "authority": _without_armour(around.authority),
        "confined": True,
        "alternatives": sorted(around.hosts) if arm.protocol == "h3" and arm.h3_discovery == "forced" else [],
    }


def _without_armour(pem: str) -> str:
    """A certificate as base64 alone."""
    lines = "".join(line for line in pem.splitlines() if not line.startswith("-----"))
    return base64.b64encode(base64.b64decode(lines)).decode()
