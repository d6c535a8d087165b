"""A world of our own in a page of Firefox, beside that of its scripts, and a mouse."""

from lanelab.driver.arm.browsers.firefox.bidi import BiDi
from lanelab.driver.arm.browsers.vitals import WORLD

MOUSE = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}


class OwnWorld:
    """Made when it is first asked: nothing of it is there during a load."""

    def __init__(self, bidi: BiDi, context: str) -> None:
        self._bidi, self._context = bidi, context

    def evaluate(self, expression: str) -> object:
        text = f"(async () => {{ const value = await ({expression}); return JSON.stringify(value ?? null); }})()"
        return self._bidi.evaluate(self._context, text, WORLD)

    def click(self, x: float, y: float) -> None:
        actions = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._bidi.call("input.performActions", context=self._context, actions=[{**MOUSE, "actions": actions}])
