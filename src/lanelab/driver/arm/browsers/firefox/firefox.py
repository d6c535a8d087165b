"""One Firefox with a profile of ours, reached by WebDriver BiDi."""

import json
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from lanelab.driver.arm.browsers.firefox.bidi import START_TIMEOUT_S, BiDi
from lanelab.driver.arm.browsers.process import BrowserProcess

QUIET_SHARE = 0.10  # of one processor; to be asked costs it some
CONFINEMENT = 'for p in "$@"; do grep -E "^Seccomp:" "/proc/$p/status"; done'


class Firefox(BrowserProcess):
    """A browser process and everything below it."""

    title = "Firefox"
    listening = re.compile(r"WebDriver BiDi listening on ws://[^/]*:(\d+)")
    usual = ("headless mode", "WebDriver BiDi listening", "[GFX1-]", "dbus", "JavaScript error:", "console.")
    starts_within_s = START_TIMEOUT_S
    look_every_s = 0.1
    _bidi: BiDi | None = None
    _window = ""

    def _connect(self, place: re.Match[str]) -> None:
        self._bidi = BiDi(self._node, int(place[1]))
        self._bidi.call("session.new", capabilities={"alwaysMatch": {}})
        own: dict[str, Any] = {"moz:scope": "chrome"}
        windows = self._bidi.call("browsingContext.getTree", None, **own)["contexts"]
        self._window = windows[0]["context"]

    def _disconnect(self) -> None:
        if self._bidi:
            self._bidi.close()

    def _ask_to_leave(self, timeout_s: float) -> None:
        self.bidi.call("browser.close", timeout_s)

    @property
    def bidi(self) -> BiDi:
        if self._bidi is None:
            raise self._never_reached()
        return self._bidi

    def watch(self, settings: Mapping[str, object]) -> None:
        """Have it note its requests, and find the site's names, from here on."""
        script = resources.files("lanelab.driver.arm.browsers.firefox").joinpath("watch.js").read_text()
        self.inside(f"({script[script.index('async ({ hosts') :].strip()})({json.dumps(settings)})")

    def inside(self, expression: str, timeout_s: float | None = None) -> Any:  # noqa: ANN401 - JSON
        """Return the value of an expression in the browser's own scope."""
        return self.bidi.evaluate(self._window, expression, timeout_s=timeout_s)

    def page(self) -> str:
        """Return the tab that it came with."""
        context: str = self.bidi.call("browsingContext.getTree")["contexts"][0]["context"]
        return context

    def _used_s(self) -> float:
        return float(self.inside("lanelab.processes()")["used_s"])

    def _quiet_s(self, looked_s: float) -> float:
        return QUIET_SHARE * looked_s

    def sandboxed(self) -> bool:
        """Return whether every process of pages really is confined, as the kernel tells."""
        pages = [str(each) for each in self.inside("lanelab.processes()")["pages"]]
        if not pages:
            return False
        lines = self._node.run(["sh", "-c", CONFINEMENT, "sh", *pages], check=False).stdout.splitlines()
        return len(pages) == sum(line.split() == ["Seccomp:", "2"] for line in lines)
