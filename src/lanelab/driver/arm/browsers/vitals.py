"""How a page is asked for its vitals after the load, and clicked; or at both ends of each step of a journey: the same
for each browser that can evaluate a script in a world of its own and move a mouse. What it tells is made into evidence
elsewhere."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import NotRequired, Protocol, TypedDict

from lanelab.driver.arm.browsers.failures import BrowserError, read_answer
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.record.reasons import Reason

WORLD = "lanelab-vitals"
ANSWERS_WITHIN_S = 5.0  # that a click was shown


@dataclass(frozen=True, slots=True)
class VitalsAsked:
    after_ms: float  # the load event: until then the page is watched
    click: str | None  # the selector of what is clicked then


class Aim(TypedDict):
    """The place to click; or why that cannot be: a `problem`, or the browser leaves interactions `untold`."""

    problem: NotRequired[str]
    untold: NotRequired[bool]
    x: NotRequired[float]
    y: NotRequired[float]
    element: NotRequired[str]
    matched: NotRequired[int]


class Vitals(TypedDict):
    """The answers of vitals.js, to be read by whoever makes evidence of them."""

    read: object
    clicked: NotRequired[Aim]
    events: NotRequired[Sequence[object]]


class Begun(TypedDict):
    """The document that was there when a step began, and when that was by its clock."""

    origin: float
    at_ms: float


class StepEnd(TypedDict):
    """The part of a step's answer that is read here."""

    same: bool  # it ended in the very document in which it began


class Heard(TypedDict):
    """The answer of a page about its interactions since somebody listened."""

    inputs: int | None  # keys pressed and pointers lifted; None: the browser does not count them
    unnumbered: int  # events of keys and pointers that took 16 ms or more, and of which it names no interaction
    events: Sequence[object]  # that the browser told of them: of quick ones it tells none


class StepTold(TypedDict):
    """The answers of vitals.js of one step of a journey. `heard` is there where somebody listened from the step's
    begin on, and None where the browser does not tell which events are one interaction."""

    step: str
    read: object
    heard: NotRequired[Heard | None]


class Hand(Protocol):
    """What a browser has to be able to do."""

    def evaluate(self, expression: str) -> object:
        """Return the value, or what its promise becomes, in the world of that page that is ours. Raises
        BrowserError."""

    def click(self, x: float, y: float) -> None:
        """Move the mouse there, press and release it: input as a user's. Raises BrowserError."""


def ask(hand: Hand, request: VitalsAsked) -> Vitals:
    """Return what vitals.js tells: `read`, and of a click `clicked` and `events`. Raises BrowserError."""
    _equip(hand)
    answers: Vitals = {"read": hand.evaluate(f"lanelab_vitals.read({json.dumps(request.after_ms)})")}
    if request.click is None:
        return answers
    aimed = read_answer(Aim, hand.evaluate(f"lanelab_vitals.aim({json.dumps(request.click)})"), "lanelab_vitals.aim")
    if "problem" in aimed:
        raise _failed(f"the selector {request.click!r} {aimed['problem']}")
    answers["clicked"] = aimed
    if not aimed.get("untold"):
        hand.click(aimed["x"], aimed["y"])
        answers["events"] = _events(hand, request.click)
    return answers


def begin_step(hand: Hand, *, hears: bool) -> Begun:
    """Say that a step begins in the page that is there. `hears`: from here on it listens to interactions. Raises
    BrowserError."""
    _equip(hand)
    return read_answer(Begun, hand.evaluate(f"lanelab_vitals.begin({json.dumps(hears)})"), "lanelab_vitals.begin")


def end_step(hand: Hand, step: str, begun: Begun | None, after_ms: float, *, by_load: bool) -> tuple[StepTold, bool]:
    """Return what is known of a step that has ended in the page that is there, and whether that page was there when it
    began. `begun`: what `begin_step` told; None: there was no page. `by_load`: it ended with its load event. Raises
    BrowserError."""
    _equip(hand)
    arguments = ", ".join(json.dumps(each) for each in (begun, after_ms, by_load))
    read = hand.evaluate(f"lanelab_vitals.end({arguments})")
    return {"step": step, "read": read}, read_answer(StepEnd, read, "lanelab_vitals.end")["same"]


def interactions(hand: Hand, after_ms: float) -> Heard | None:
    """Return what that page said of interactions since `begin_step`; None: the browser does not tell which events are
    one. `after_ms`: so long ago the step ended. Raises BrowserError."""
    answer = hand.evaluate(f"lanelab_vitals.interactions({json.dumps(after_ms)})")
    return None if answer is None else read_answer(Heard, answer, "lanelab_vitals.interactions")


def is_selector(hand: Hand, text: str) -> bool:
    """Return whether the browser takes this text for a CSS selector. Raises BrowserError."""
    tried = f"document.createDocumentFragment().querySelector({json.dumps(text)})"
    return bool(hand.evaluate(f"(() => {{ try {{ {tried}; return true; }} catch {{ return false; }} }})()"))


def _equip(hand: Hand) -> None:
    hand.evaluate(
        resources.files("lanelab.driver.arm.browsers").joinpath("vitals.js").read_text().rstrip().removesuffix(";")
    )


def _events(hand: Hand, click: str) -> Sequence[object]:
    try:
        answer = hand.evaluate(f"lanelab_vitals.answer({scaled(ANSWERS_WITHIN_S) * 1000})")
    except BrowserError as error:
        if error.reason is not Reason.BROWSER_FAILED:
            raise
        raise _failed(f"the click on {click!r} left the page: {error.what}") from error
    events = read_answer(list[object], answer, "lanelab_vitals.answer")
    if not events:
        raise _failed(f"the browser told of no interaction after the click on {click!r}")
    return events


def _failed(what: str) -> BrowserError:
    remedy = "Name an element that is to be seen on each of the experiment's sites"
    return BrowserError(what, remedy, reason=Reason.INTERACTION_FAILED)
