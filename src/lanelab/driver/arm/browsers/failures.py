"""What can go wrong with a browser."""

from typing import TypeVar

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import BedError, RecordError
from lanelab.driver.record.reasons import Reason

Answer = TypeVar("Answer")


class BrowserError(BedError):
    """The browser could not do what was asked; `reason` is why the trial fails."""

    def __init__(self, what: str, remedy: str = "", *, reason: Reason = Reason.BROWSER_FAILED) -> None:
        super().__init__(what, remedy)
        self.reason = reason


def read_answer(kind: type[Answer], data: object, to: str, reason: Reason = Reason.BROWSER_FAILED) -> Answer:
    """Read what a browser answered to that, as a TypedDict. Raises BrowserError."""
    try:
        return parsed(kind, data, f"the browser's answer to {to}")
    except RecordError as error:
        raise BrowserError(error.what, reason=reason) from error
