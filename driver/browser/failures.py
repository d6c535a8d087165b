"""What can go wrong with a browser, by the names that a trial's verdict uses."""

from __future__ import annotations

from model.errors import BedError

TIMEOUT = "timeout"
NAVIGATION_FAILED = "navigation-failed"
BROWSER_CRASHED = "browser-crashed"
BROWSER_FAILED = "browser-failed"


class BrowserError(BedError):
    """The browser could not do what was asked; `reason` is the name of the failure in the trial's record."""

    def __init__(self, what: str, remedy: str = "", *, reason: str = BROWSER_FAILED) -> None:
        super().__init__(what, remedy)
        self.reason = reason


# What ChromeDriver's messages contain when the page's process, or the whole browser, is gone.
_CRASHED = (
    "tab crashed",
    "page crash",
    "session deleted as the browser has closed",
    "not connected to devtools",
    "chrome not reachable",
    "invalid session id",
    "unable to receive message from renderer",
    "no such window",
    "web view not found",
    "disconnected",
)


def reason_of(message: str) -> str:
    """The failure's name for what ChromeDriver said."""
    said = message.lower()
    if "net::err_" in said:
        return NAVIGATION_FAILED
    if any(words in said for words in _CRASHED):
        return BROWSER_CRASHED
    if "timeout" in said or "timed out" in said:
        return TIMEOUT
    return BROWSER_FAILED
