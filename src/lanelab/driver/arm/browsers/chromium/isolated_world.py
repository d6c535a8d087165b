"""A world of our own in a page of Chromium, beside that of its scripts, and a mouse."""

from typing import TypedDict

from lanelab.driver.arm.browsers.chromium.chromedriver import Session
from lanelab.driver.arm.browsers.chromium.devtools import Evaluated, why_failed
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.vitals import WORLD

MOUSE = "Input.dispatchMouseEvent"


class Frame(TypedDict):
    id: str


class FrameTree(TypedDict):
    frame: Frame


class Frames(TypedDict):
    """The answer to Page.getFrameTree."""

    frameTree: FrameTree


class World(TypedDict):
    """The answer to Page.createIsolatedWorld."""

    executionContextId: int


class OwnWorld:
    """Made when it is first asked: nothing of it is there during a load."""

    def __init__(self, session: Session) -> None:
        self._session = session
        frame = session.ask(Frames, "Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = session.ask(World, "Page.createIsolatedWorld", frameId=frame, worldName=WORLD)
        self._context = world["executionContextId"]

    def evaluate(self, expression: str) -> object:
        answer = self._session.ask(
            Evaluated,
            "Runtime.evaluate",
            expression=expression,
            contextId=self._context,
            awaitPromise=True,
            returnByValue=True,
        )
        failed = answer.get("exceptionDetails")
        if failed:
            raise BrowserError(f"Chromium could not evaluate a script of ours: {why_failed(failed).splitlines()[0]}")
        return answer["result"].get("value")

    def click(self, x: float, y: float) -> None:
        self._session.cdp(MOUSE, type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self._session.cdp(MOUSE, type=kind, x=x, y=y, button="left", clickCount=1)
