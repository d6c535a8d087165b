"""What ChromeDriver says -> the name of the failure."""

import pytest

from lanelab.driver.arm.browsers.chromium.chromedriver import reason_of
from lanelab.driver.record.reasons import Reason


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("timeout: Timed out receiving message from renderer: 0.413", Reason.TIMEOUT),
        ("unknown error: net::ERR_CONNECTION_REFUSED", Reason.NAVIGATION_FAILED),
        ("unknown error: net::ERR_TIMED_OUT", Reason.NAVIGATION_FAILED),
        ("tab crashed", Reason.BROWSER_CRASHED),
        ("invalid session id: session deleted as the browser has closed the connection", Reason.BROWSER_CRASHED),
        ("disconnected: not connected to DevTools", Reason.BROWSER_CRASHED),
        ("javascript error: x is not defined", Reason.BROWSER_FAILED),
        ("", Reason.BROWSER_FAILED),
    ],
)
def test_reason(said: str, reason: Reason) -> None:
    assert reason_of(said) == reason
