"""What a student wrote, as a number or a direction, and the claim that it makes. Pure."""

import math
import re
from dataclasses import dataclass, replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written, scalar
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.claim_numbers import read_percent, read_value, units_of
from lanelab.driver.lab.description import DIRECTION, Question
from lanelab.driver.lab.text import Say, in_english
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


def read_answer(question: Question, text: str, say: Say = in_english) -> Answer:
    """Return the answer that is written there. InputError says what is wrong with it, with `say`."""
    return _Reader(question, " ".join(text.split()), say).answer()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one text. A student knows the question, and not the names of what is measured."""

    question: Question
    text: str
    say: Say

    def answer(self) -> Answer:
        question, say = self.question, self.say
        if not self.text or len(self.text) > LONGEST:
            what = say("there is no answer") if not self.text else say("it is too long")
            raise self._error(what, say("Write one number, or a word"))
        if question.answer == DIRECTION:
            return self._direction()
        text = _COMMA.sub(".", self.text.replace("\N{MINUS SIGN}", "-"))
        if "," in text:
            raise self._error(say("{text!r} may be read in two ways", text=text), say("Write it without a comma"))
        if question.claim and not _NUMBER.match(text):
            raise self._error(
                say("{text!r} is no number", text=text), say("Write one like 12 {unit}", unit=question.unit).rstrip()
            )
        if question.is_change:
            return self._change(text if text.endswith("%") else f"{text}%")
        return self._value(text, question.metric) if question.metric is not None else self._plain(text)

    def _error(self, what: str, remedy: str) -> InputError:
        return InputError(what, remedy, key=self.question.name)

    def _written(self, text: str) -> Written:
        return Written("", self.question.name, 1, scalar(text))

    def _direction(self) -> Answer:
        text, say = self.text.lower(), self.say
        word = _OTHERS.get(text, text)
        if word not in DIRECTIONS:
            remedy = near_miss(text, DIRECTIONS) + say("Write lower, higher or same")
            raise self._error(say("{text!r} is no direction", text=text), remedy)
        return Answer(self.question, word, None, word)

    def _change(self, text: str) -> Answer:
        say = self.say
        try:
            return Answer(self.question, text, read_percent(self._written(text)))
        except InputError:
            raise self._no_such(text, say("Write it in percent, like -20%, and above -100%")) from None

    def _value(self, text: str, metric: Metric) -> Answer:
        """Read what a run measures."""
        say = self.say
        if text.startswith("-"):
            raise self._error(say("it is below 0"), say("Write a number of 0 or more"))
        try:
            value = read_value(self._written(text), metric)
        except InputError:
            raise self._no_such(text, self._with_unit(" / ".join(filter(None, units_of(metric))))) from None
        return Answer(self.question, text if not text[-1].isdigit() else f"{text} {self.question.unit}".rstrip(), value)

    def _plain(self, text: str) -> Answer:
        """Read a number that no run measures. Seconds count where milliseconds are asked for."""
        unit, match = self.question.unit, _PLAIN.fullmatch(text)
        scale = {"": 1.0, unit: 1.0, **({"s": 1000.0} if unit == "ms" else {})}
        if not match or match[2] not in scale:
            raise self._no_such(text, self._with_unit(unit))
        return Answer(self.question, f"{match[1]} {match[2] or unit}".rstrip(), float(match[1]) * scale[match[2]])

    def _no_such(self, text: str, remedy: str) -> InputError:
        say = self.say
        return self._error(say("{text!r} is no such number", text=text), remedy)

    def _with_unit(self, unit: str) -> str:
        say = self.say
        return say("Write a number, in {unit}", unit=unit) if unit else say("Write a number")


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
