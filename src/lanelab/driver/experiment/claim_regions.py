"""What counts as reproduced: `published` with its margin, `expect` and `equivalent` become a region. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.settings.source import Written
from lanelab.driver.experiment.claim import NOT, directions_of
from lanelab.driver.experiment.claim_numbers import Margin, read_margin, read_percent, read_share, read_value
from lanelab.driver.experiment.claim_places import Subject
from lanelab.driver.record.metrics import Metric

A_NUMBER = Metric("number", "a number")  # of round trips, or how well a line fits: neither is in the metric's unit


@dataclass(frozen=True, slots=True)
class Region:
    """The values that count as reproduced, and what was published."""

    published: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    side: int = 0
    equivalent: bool = False


def read_region(entry: Written, keys: Mapping[str, Written], subject: Subject, at_least: float) -> Region:
    ways = [key for key in ("published", "expect", "equivalent") if key in keys]
    if len(ways) != 1:
        what = f"it has both {' and '.join(ways)}" if ways else "it does not say what was published"
        raise entry.error(what, "Write one of published, expect and equivalent")
    if "margin" in keys and ways != ["published"]:
        raise keys["margin"].error(f"it means nothing with {ways[0]}", "Leave it out")
    if "at_least" in keys and (ways == ["equivalent"] or subject.is_absolute):
        what = "equivalent" if ways == ["equivalent"] else subject.kind
        raise keys["at_least"].error(f"it means nothing with {what}: there is no direction", "Leave it out")
    if at_least >= 1:
        raise keys["at_least"].error("no effect would be large enough", "Write a share below 100%, like 5%")
    if ways == ["equivalent"]:
        return _equivalent(keys["equivalent"], subject)
    if ways == ["expect"]:
        return _expected(keys["expect"], subject, at_least)
    if "margin" not in keys:
        raise entry.error("published has no margin", "Write how far from it still counts, before the run, like 8pp")
    region = _published_value(keys, subject) if subject.is_absolute else _published_change(keys, subject, at_least)
    if region.low == region.high and (subject.is_line or not subject.metric.whole):
        what = f"no interval of {subject.metric.words} is so narrow: a margin of 0 is for counts"
        raise keys["margin"].error(what, f"Write one like {'5%' if subject.is_absolute else '8pp'}")
    return region


def _equivalent(written: Written, subject: Subject) -> Region:
    if subject.is_absolute:
        raise written.error(f"a {subject.kind} is equivalent to nothing", "Write published and a margin")
    share = read_share(written)
    return Region(low=1 - share, high=1 + share, equivalent=True)


def _expected(written: Written, subject: Subject, at_least: float) -> Region:
    words = directions_of(subject.kind)
    word = " ".join(written.text().split())
    if subject.is_absolute:
        what = f"a {subject.kind} is neither higher nor lower than anything"
        raise written.error(what, "Write published and a margin")
    plain = word.removeprefix(NOT)
    if plain not in words:
        what = f"{word[:40]!r} is not what a {subject.kind} may be expected to be"
        raise written.error(what, f"Write {' or '.join(words)}, or {NOT}{words[0]} or {NOT}{words[1]}")
    side = 1 if plain == words[1] else -1
    if word != plain:  # what is no such direction counts, whether there is no effect or one the other way
        return Region(high=1 + at_least) if side > 0 else Region(low=1 - at_least)
    return Region(side=side, low=1 + at_least) if side > 0 else Region(side=side, high=1 - at_least)


def _published_value(keys: Mapping[str, Written], subject: Subject) -> Region:
    """A margin that reaches 0 would count every smaller value. Of a count, 0 is a value like another."""
    metric = A_NUMBER if subject.kind in ("slope", "straightness") else subject.metric
    values = _ends(keys["published"], [read_value(one, metric) for one in keys["published"].elements()])
    margin = read_margin(keys["margin"], metric, of_change=False)
    low, high = values[0], values[-1]
    reached = low - margin.amount - low * margin.share
    if reached <= 0 < low and not metric.whole:
        raise keys["margin"].error("it reaches to 0, so every smaller value would count", "Write less")
    return Region(published=values, low=max(0.0, reached), high=high + margin.amount + high * margin.share)


def _published_change(keys: Mapping[str, Written], subject: Subject, at_least: float) -> Region:
    """The margin may not reach 0: then the region would hold effects of both directions, and of none."""
    written = keys["published"]
    values = _ends(written, [1 + read_percent(one) for one in written.elements()])
    margin: Margin = read_margin(keys["margin"], subject.metric, of_change=True)
    low, high = values[0] - margin.points, values[-1] + margin.points
    if low <= 1 <= high:
        spans = values[0] <= 1 <= values[-1]
        where, words = (written, "with its margin it") if spans else (keys["margin"], "with it what was published")
        what = f"{words} reaches from {100 * (low - 1):+g}% to {100 * (high - 1):+g}%, so no effect at all would count"
        raise where.error(what, "Write less, or claim that there is no effect: equivalent: 5%")
    if low <= 0:
        raise keys["margin"].error("it reaches to -100% and below", "Write less")
    side = 1 if low > 1 else -1
    if "at_least" in keys and max(abs(value - 1) for value in values) < at_least:
        what = "what was published is less than this, so it would be no direction itself"
        raise keys["at_least"].error(what, "Write less than was published")
    return Region(published=values, low=low, high=high, side=side)


def _ends(written: Written, values: Sequence[float]) -> tuple[float, ...]:
    if len(values) > 2 or list(values) != sorted(values) or len(set(values)) < len(values):
        raise written.error("this is neither a number nor a range", "Write one, or two with the lower one first")
    return tuple(values)
