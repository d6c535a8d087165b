"""What a student wrote, as a number or a direction, and the claim that it makes. Pure."""

import math
import re
from dataclasses import dataclass, replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written, scalar
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.claim_numbers import read_percent, read_value
from lanelab.driver.lab.description import DIRECTION, Question
from lanelab.driver.record.metrics import Metric

LOWER, HIGHER, SAME = "lower", "higher", "same"
DIRECTIONS = (LOWER, HIGHER, SAME)
LONGEST = 40  # characters
_OTHERS = {"less": LOWER, "shorter": LOWER, "faster": LOWER, "more": HIGHER, "longer": HIGHER, "slower": HIGHER,
           "equal": SAME, "no": SAME, "none": SAME}  # fmt: skip
_NUMBER = re.compile(r"[+-]?\.?[0-9]")
_PLAIN = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*(.*)")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9]{1,2}(?![0-9]))")  # 1,5 is 1.5; what 1,500 is depends on who wrote it


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `value`: a change as a share, a value as it is stored; of a direction None."""

    question: Question
    words: str
    value: float | None = None
    direction: str = ""


def read_answer(question: Question, text: str, source: str = "") -> Answer:
    """Return the answer that is written there. InputError says what is wrong with it, and where."""
    written = Written(source, question.name, 1, scalar(text))
    try:
        return _read(question, written, " ".join(text.split()))
    except InputError as error:
        key = ": ".join(filter(None, (source, question.name)))
        raise InputError(error.what, error.remedy, key=key) from None


def _read(question: Question, written: Written, text: str) -> Answer:
    if not text or len(text) > LONGEST:
        raise written.error("there is no answer" if not text else "it is too long", "Write one number, or a word")
    if question.answer == DIRECTION:
        return _direction(question, written, text.lower())
    text = _COMMA.sub(".", text.replace("\N{MINUS SIGN}", "-"))
    if "," in text:
        raise written.error(f"{text!r} may be read in two ways", "Write it without a comma")
    if question.claim and not _NUMBER.match(text):
        raise written.error(f"{text!r} is no number", f"Write one like 12 {question.unit}".rstrip())
    if question.is_change:
        text = text if text.endswith("%") else f"{text}%"
        value = read_percent(replace(written, node=scalar(text)))
    elif question.metric is not None:
        value = _value(written, text, question.metric)
        text = text if not text[-1].isdigit() else f"{text} {question.unit}".rstrip()
    else:
        value, text = _plain(question, written, text)
    return Answer(question, text, value)


def _value(written: Written, text: str, metric: Metric) -> float:
    """Read what a run measures. A student knows the question, not the name of what is measured."""
    if text.startswith("-"):
        raise written.error("it is below 0", "Write a number of 0 or more")
    try:
        return read_value(replace(written, node=scalar(text)), metric)
    except InputError as error:
        raise written.error(f"{text!r} is no such number", error.remedy) from None


def _direction(question: Question, written: Written, text: str) -> Answer:
    word = _OTHERS.get(text, text)
    if word not in DIRECTIONS:
        raise written.error(f"{text!r} is no direction", f"{near_miss(text, DIRECTIONS)}Write lower, higher or same")
    return Answer(question, word, None, word)


def _plain(question: Question, written: Written, text: str) -> tuple[float, str]:
    """Read a number that no run measures. Seconds count where milliseconds are asked for."""
    match = _PLAIN.fullmatch(text)
    scale = {"": 1.0, question.unit: 1.0, **({"s": 1000.0} if question.unit == "ms" else {})}
    if not match or match[2] not in scale:
        raise written.error(
            f"{text!r} is no such number", f"Write a number {f'of {question.unit}' if question.unit else ''}".rstrip()
        )
    value = float(match[1]) * scale[match[2]]
    return value, f"{match[1]} {match[2] or question.unit}".rstrip()


def claim_of(answer: Answer) -> Claim | None:
    """Return the claim that an answer makes, which the run is judged by; None where no run measures it.

    Other than a published change, an answer with its margin may reach to both sides of no effect: it has no direction
    then."""
    question, claim = answer.question, answer.question.claim
    if claim is None:
        return None
    claim = replace(claim, says=answer.words, published=(), margin=question.margin_words, because="")
    if answer.direction:
        return _of_direction(claim, answer.direction, question.margin.share)
    if answer.value is None:
        raise TypeError("an answer without a direction has a value")
    margin = question.margin
    if question.is_change:
        value = 1 + answer.value
        low, high = value - margin.points, value + margin.points
        side = 1 if low > 1 else -1 if high < 1 else 0
        return _with(claim, value, low if low > 0 else None, high, side)
    value = answer.value
    reach = margin.amount + value * margin.share
    return _with(claim, value, max(0.0, value - reach), value + reach, 0)


def _with(claim: Claim, value: float, low: float | None, high: float, side: int) -> Claim:
    if not math.isfinite(high):
        raise TypeError("an answer is a number")
    return replace(claim, published=(value,), low=low, high=high, side=side, equivalent=False)


def _of_direction(claim: Claim, direction: str, margin: float) -> Claim:
    if direction == SAME:
        return replace(claim, low=1 - margin, high=1 + margin, side=0, equivalent=True)
    if direction == LOWER:
        return replace(claim, low=None, high=1 - margin, side=-1, at_least=margin, equivalent=False)
    return replace(claim, low=1 + margin, high=None, side=1, at_least=margin, equivalent=False)
