"""The page that is recorded: how long its browser may take to answer."""

from types import SimpleNamespace
from typing import Any, cast

from lanelab.driver.arm.browsers.chromium.chromium import Chromium
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.collect.recording.page import ANSWER_WITHIN_S, Page, View

ANSWERS = {
    "Target.getTargets": {"targetInfos": [{"targetId": "1", "type": "page"}]},
    "Target.attachToTarget": {"sessionId": "s"},
    "Page.captureScreenshot": {"data": ""},
    "Runtime.evaluate": {"result": {"value": "A page"}},
}


class FakeDevTools:
    def __init__(self) -> None:
        self.limits: dict[str, float | None] = {}

    def call(self, method: str, _session: str = "", timeout_s: float | None = None, **_: object) -> Any:
        self.limits[method] = timeout_s
        return ANSWERS.get(method, {})

    def ask(self, _kind: type, method: str, session: str = "", timeout_s: float | None = None, **_: object) -> Any:
        return self.call(method, session, timeout_s)


def test_each_answer_has_the_time_of_a_recording() -> None:
    devtools = FakeDevTools()
    browser = SimpleNamespace(another_devtools=lambda _taker: devtools)
    page = Page(cast("Chromium", browser), View((800, 600), 1.0, touch=True))
    page.screenshot()
    assert page.title() == "A page"
    assert {"Browser.setDownloadBehavior", "Network.enable", *ANSWERS} <= devtools.limits.keys()
    assert set(devtools.limits.values()) == {scaled(ANSWER_WITHIN_S)}
