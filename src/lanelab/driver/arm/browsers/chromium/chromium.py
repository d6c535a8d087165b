"""One Chromium, reached through its own DevTools."""

import re
from collections.abc import Sequence
from typing import TypedDict

from lanelab.driver.arm.browsers.chromium.devtools import START_TIMEOUT_S, DevTools, Taker
from lanelab.driver.arm.browsers.process import BrowserProcess

# The kernel counts processor time in steps of 10 ms, so a single look would prove little.
QUIET_S = 0.001
# How each process of Chromium says whether it is confined: system call filter, and a process namespace of its own.
CONFINEMENT = 'for p in "$@"; do echo "$p"; grep -E "^(Seccomp|NSpid):" "/proc/$p/status"; done'


class Process(TypedDict):
    type: str
    id: int  # as the browser's process namespace counts
    cpuTime: float


class Processes(TypedDict):
    """The answer to SystemInfo.getProcessInfo."""

    processInfo: Sequence[Process]


class Chromium(BrowserProcess):
    """A browser process and everything below it."""

    title = "Chromium"
    listening = re.compile(r"DevTools listening on ws://[^/]*:(\d+)(/\S+)")
    usual = ("/dbus/", ":dbus/", "DevTools listening")  # a bed has no message bus, which it goes on about
    starts_within_s = START_TIMEOUT_S
    look_every_s = 0.02
    _devtools: DevTools | None = None

    def _connect(self) -> None:
        self._devtools = self.another_devtools()

    def _disconnect(self) -> None:
        if self._devtools:
            self._devtools.close()

    def _ask_to_leave(self, timeout_s: float) -> None:
        self.devtools.call("Browser.close", timeout_s=timeout_s)

    @property
    def devtools(self) -> DevTools:
        if self._devtools is None:
            raise self._never_reached()
        return self._devtools

    def another_devtools(self, taker: Taker | None = None) -> DevTools:
        """Return a connection of its own, for whoever listens to events."""
        return DevTools(self._node, self.port, self.place[2], taker)

    def processes(self) -> Sequence[Process]:
        return self.devtools.ask(Processes, "SystemInfo.getProcessInfo")["processInfo"]

    def _used_s(self) -> float:
        return sum(process["cpuTime"] for process in self.processes())

    def _quiet_s(self, looked_s: float) -> float:  # noqa: ARG002 - to be asked costs it nothing that is counted
        return QUIET_S

    def sandboxed(self) -> bool:
        """Return whether every renderer really is confined, as the kernel tells."""
        renderers = [str(process["id"]) for process in self.processes() if process["type"] == "renderer"]
        if not renderers:
            return False
        lines = self._node.run(["sh", "-c", CONFINEMENT, "sh", *renderers], check=False).stdout.splitlines()
        filtered = sum(line.split() == ["Seccomp:", "2"] for line in lines)
        apart = sum(line.startswith("NSpid:") and len(line.split()) > 2 for line in lines)
        return filtered == apart == len(renderers)
