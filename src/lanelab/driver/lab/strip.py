"""What a class predicted, on one line: a dot for each, and what was measured, as SVG with words."""

from collections import Counter
from collections.abc import Sequence

from lanelab.analysis.results.claims.words import effect_words, effects_of
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.driver.lab.answers import DIRECTIONS, HIGHER, LOWER, SAME
from lanelab.driver.lab.description import DIRECTION, Question
from lanelab.driver.lab.judging import Outcome
from lanelab.driver.lab.text import Say, in_english

DIRECTION_WORDS = {LOWER: "lower (shorter, fewer)", HIGHER: "higher (longer, more)", SAME: "the same"}
WIDTH, ROW, TOP, SIDE = 640, 11, 22, 60
MOST_HIGH = 12  # dots above each other


def strip(question: Question, predicted: Sequence[tuple[str, Outcome]], say: Say = in_english) -> Html | None:
    """Return the drawing; of directions a list of how many said which. None where nobody predicted anything."""
    given = [(name, one) for name, one in predicted if one.answer]
    if not given:
        return None
    if question.answer == DIRECTION:
        counts = Counter(one.answer.direction for _, one in given if one.answer)
        return el("ul", [el("li", f"{say(DIRECTION_WORDS[word])}: {counts[word]}") for word in DIRECTIONS])
    values = [(name, one.answer.value) for name, one in given if one.answer and one.answer.value is not None]
    ends = _measured(given)
    known = [value for _, value in values] + [end for low, middle, high in ends for end in (low, middle, high)]
    if question.calculated is not None:
        known.append(question.calculated)
    return _drawn(question, values, ends, (min(known), max(known)), say)


def _measured(given: Sequence[tuple[str, Outcome]]) -> list[tuple[float, float, float]]:
    """Return the intervals of all runs, each once, in the scale of answers."""
    ends: dict[tuple[float, float, float], None] = {}
    for _, one in given:
        effects = effects_of(one.judged.places) if one.judged else []
        if len(effects) == 1:
            effect, shift = effects[0], 1.0 if one.question.is_change else 0.0
            low, high = effect.interval_95 or (effect.value, effect.value)
            ends[(low - shift, effect.value - shift, high - shift)] = None
    return list(ends)


def _drawn(
    question: Question,
    values: Sequence[tuple[str, float]],
    ends: Sequence[tuple[float, float, float]],
    span: tuple[float, float],
    say: Say,
) -> Html:
    low, high = span
    reach = (high - low) or abs(high) or 1.0

    def at(value: float) -> float:
        return round(SIDE + (WIDTH - 2 * SIDE) * (value - low) / reach, 1) if high > low else WIDTH / 2

    stacks: Counter[int] = Counter()
    dots = []
    for name, value in sorted(values, key=lambda pair: pair[1]):
        place = round(at(value) / 8)
        height = min(stacks[place], MOST_HIGH)
        stacks[place] += 1
        title = el("title", f"{name}: {_words(question, value)}")
        dots.append(el("circle", title, cx=place * 8, cy=-height * ROW - 8, r=4, fill="var(--accent)", opacity=0.75))
    tall = min(max(stacks.values(), default=0), MOST_HIGH) * ROW + TOP
    bars = [
        el("rect", x=at(first), width=max(2.0, at(last) - at(first)), y=2, height=7, fill="var(--good)", opacity=0.6)
        for first, _, last in ends
    ]
    if question.calculated is not None:
        bars.append(el("rect", x=at(question.calculated) - 1.5, width=3, y=2, height=9, fill="var(--good)"))
    labels = [
        el("text", _words(question, value), x=at(value), y=26, text_anchor="middle", fill="var(--ink)", font_size=12)
        for value in dict.fromkeys((low, high))
    ]
    axis = el("line", x1=SIDE - 10, x2=WIDTH - SIDE + 10, y1=0, y2=0, stroke="var(--muted)")
    given = sorted(value for _, value in values)
    ends_of_given = {"least": _words(question, given[0]), "most": _words(question, given[-1])}
    summary = say("{n} predictions from {least} to {most}", n=len(values), **ends_of_given)
    return el(
        "figure",
        el(
            "div",
            el(
                "svg", el("title", summary), el("g", axis, bars, dots, labels, transform=f"translate(0 {tall})"),
                viewBox=f"0 0 {WIDTH} {tall + 32}", role="img", aria_label=summary,
            ),
            class_="scroll", tabindex=0,
        ),
        el("figcaption", say("Dots: predictions. Below the line: what was measured, or worked out.")),
    )  # fmt: skip


def _words(question: Question, value: float) -> str:
    if question.claim is None:
        return f"{value:,.4g} {question.unit}".rstrip()
    return effect_words(question.claim, value + 1 if question.is_change else value)
