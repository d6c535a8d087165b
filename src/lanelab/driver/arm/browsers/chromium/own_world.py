"""A world of our own in a page of Chromium, beside that of its scripts, and a mouse."""

from typing import Any

from lanelab.driver.arm.browsers.chromium.chromedriver import Session
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.vitals import WORLD

MOUSE = "Input.dispatchMouseEvent"


class OwnWorld:
    """Made when it is first asked: nothing of it is there during a load."""

    def __init__(self, session: Session) -> None:
        self._session = session
        frame = session.cdp("Page.getFrameTree")["frameTree"]["frame"]["id"]
        made = session.cdp("Page.createIsolatedWorld", frameId=frame, worldName=WORLD)
        self._context = made["executionContextId"]

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - JSON
        answer = self._session.cdp(
            "Runtime.evaluate",
            expression=expression,
            contextId=self._context,
            awaitPromise=True,
            returnByValue=True,
        )
        failed = answer.get("exceptionDetails")
        if failed:
            said = failed.get("exception", {}).get("description") or failed.get("text", "it failed")
            raise BrowserError(f"Chromium could not evaluate a script of ours: {said.splitlines()[0]}")
        return answer["result"].get("value")

    def click(self, x: float, y: float) -> None:
        self._session.cdp(MOUSE, type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self._session.cdp(MOUSE, type=kind, x=x, y=y, button="left", clickCount=1)
