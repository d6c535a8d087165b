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
