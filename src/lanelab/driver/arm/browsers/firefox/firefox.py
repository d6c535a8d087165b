"""One Firefox with a profile of ours, reached by WebDriver BiDi."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TypedDict

from lanelab.driver.arm.browsers.failures import read_answer
from lanelab.driver.arm.browsers.firefox.bidi import START_TIMEOUT_S, BiDi
from lanelab.driver.arm.browsers.process import BrowserProcess

QUIET_SHARE = 0.10  # of one processor; to be asked costs it some
CONFINEMENT = 'for p in "$@"; do grep -E "^Seccomp:" "/proc/$p/status"; done'


class Context(TypedDict):
    context: str


class Tree(TypedDict):
    """The answer to browsingContext.getTree: windows or tabs."""

    contexts: Sequence[Context]


class Processes(TypedDict):
    """The answer of lanelab.processes, in watch.js: processor time of all, and the numbers of those of pages."""

    used_s: float
    pages: Sequence[int]


class Firefox(BrowserProcess):
    """A browser process and everything below it."""

    title = "Firefox"
    listening = re.compile(r"WebDriver BiDi listening on ws://[^/]*:(\d+)")
    usual = ("headless mode", "WebDriver BiDi listening", "[GFX1-]", "dbus", "JavaScript error:", "console.")
    starts_within_s = START_TIMEOUT_S
    look_every_s = 0.1
    _bidi: BiDi | None = None
    _window = ""

    def _connect(self) -> None:
        self._bidi = BiDi(self._node, self.port)
        self._bidi.call("session.new", capabilities={"alwaysMatch": {}})
        capabilities: dict[str, object] = {"moz:scope": "chrome"}
        windows = self._bidi.ask(Tree, "browsingContext.getTree", None, **capabilities)
        self._window = windows["contexts"][0]["context"]

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

    def inside(self, expression: str, timeout_s: float | None = None) -> object:
        """Return the value of an expression in the browser's own scope."""
        return self.bidi.evaluate(self._window, expression, timeout_s=timeout_s)

    def page(self) -> str:
        """Return the tab that it came with."""
        return self.bidi.ask(Tree, "browsingContext.getTree")["contexts"][0]["context"]

    def _processes(self) -> Processes:
        return read_answer(Processes, self.inside("lanelab.processes()"), "lanelab.processes")

    def _used_s(self) -> float:
        return self._processes()["used_s"]

    def _quiet_s(self, looked_s: float) -> float:
        return QUIET_SHARE * looked_s

    def sandboxed(self) -> bool:
        """Return whether every process of pages really is confined, as the kernel tells."""
        pages = [str(each) for each in self._processes()["pages"]]
        if not pages:
            return False
        lines = self._node.run(["sh", "-c", CONFINEMENT, "sh", *pages], check=False).stdout.splitlines()
        return len(pages) == sum(line.split() == ["Seccomp:", "2"] for line in lines)
