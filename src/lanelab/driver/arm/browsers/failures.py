"""What can go wrong with a browser."""

from lanelab.driver.base.errors import BedError
from lanelab.driver.record.reasons import Reason


class BrowserError(BedError):
    """The browser could not do what was asked; `reason` is why the trial fails."""

    def __init__(self, what: str, remedy: str = "", *, reason: Reason = Reason.BROWSER_FAILED) -> None:
        super().__init__(what, remedy)
        self.reason = reason
