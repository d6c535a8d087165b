"""What ChromeDriver says -> the name of the failure."""

from __future__ import annotations

import pytest

from driver.browser.chromium.chromedriver import reason_of
from driver.browser.failures import BROWSER_CRASHED, BROWSER_FAILED, NAVIGATION_FAILED, TIMEOUT


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("timeout: Timed out receiving message from renderer: 0.413", TIMEOUT),
        ("unknown error: net::ERR_CONNECTION_REFUSED", NAVIGATION_FAILED),
        ("unknown error: net::ERR_TIMED_OUT", NAVIGATION_FAILED),
        ("tab crashed", BROWSER_CRASHED),
        ("invalid session id: session deleted as the browser has closed the connection", BROWSER_CRASHED),
        ("disconnected: not connected to DevTools", BROWSER_CRASHED),
        ("javascript error: x is not defined", BROWSER_FAILED),
        ("", BROWSER_FAILED),
    ],
)
def test_reason(said: str, reason: str) -> None:
    assert reason_of(said) == reason
