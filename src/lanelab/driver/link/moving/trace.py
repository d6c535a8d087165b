"""A trace: values that hold one after the other, and begin again at the end. Pure."""

import hashlib
import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind
from lanelab.driver.base.units import Duration, Rate
from lanelab.driver.link.kinds import MAX_RATE, MIN_RATE

What = Literal["rate", "delay"]
MOST_STEPS = 20_000
SHORTEST_STEP = Duration.parse("20ms")  # a change takes the router 0.6 ms, and is 1.3 ms late; docs/moving-links.md
SHORTEST, LONGEST = Duration.parse("1s"), Duration.parse("3600s")
MOST_DELAY = Duration.parse("10s")
LONGEST_NAME = 40
_INLINE = re.compile(r"trace\((?P<name>[^;()]+); (?P<length>[0-9]+)us; (?P<steps>[0-9]+:[0-9]+(?: [0-9]+:[0-9]+)*)\)")
NAME_PATTERN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")


@dataclass(frozen=True, slots=True)
class Trace:
    """Rates in bits per second, or delays in microseconds; times in microseconds from the beginning."""

    what: What
    name: str
    steps: tuple[tuple[int, int], ...]  # (from when, what holds from then on)
    length_us: int
    _sums: tuple[int, ...] = field(default=(), init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        total, sums = 0, []
        for begins, ends, value in self.spans():
            sums.append(total)
            total += (ends - begins) * value
        object.__setattr__(self, "_sums", (*sums, total))

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Yield (from, to, value) of one round."""
        ends = [*(at for at, _ in self.steps[1:]), self.length_us]
        yield from ((at, end, value) for (at, value), end in zip(self.steps, ends, strict=True))

    def at(self, us: float) -> int:
        """Return the value at that time."""
        return self.steps[self._index(us % self.length_us)][1]

    def _index(self, us: float) -> int:
        return max(0, bisect_right(self.steps, (us, float("inf"))) - 1)

    def total(self, us: float) -> float:
        """Value times microseconds, from the beginning until then."""
        if us <= 0:
            return 0.0
        rounds, rest = divmod(us, self.length_us)
        index = self._index(rest)
        begins, value = self.steps[index]
        return rounds * self._sums[-1] + self._sums[index] + (rest - begins) * value

    def until(self, total: float) -> float:
        """Return the first time in us at which `total` reaches this."""
        if total <= 0:
            return 0.0
        rounds, rest = divmod(total, self._sums[-1])
        if not rest:
            rounds, rest = rounds - 1, self._sums[-1]
        index = max(0, bisect_left(self._sums, rest) - 1)
        begins, value = self.steps[index]
        return rounds * self.length_us + begins + (rest - self._sums[index]) / max(value, 1)

    @property
    def mean(self) -> int:
        return self._sums[-1] // self.length_us

    @property
    def least(self) -> int:
        return min(value for _, value in self.steps)

    @property
    def most(self) -> int:
        return max(value for _, value in self.steps)

    @property
    def standstill_us(self) -> int:
        """Return how long nothing passes altogether, in one round."""
        return sum(end - begin for begin, end, value in self.spans() if not value)

    @property
    def digest(self) -> str:
        """Return the digest of its content, whatever it is called."""
        return hashlib.sha256(self._content().encode()).hexdigest()[:12]

    def _content(self) -> str:
        return f"{self.length_us}us; " + " ".join(f"{at}:{value}" for at, value in self.steps)

    def __str__(self) -> str:
        """All of it: it parses back to an equal trace, with no file."""
        return f"trace({self.name}; {self._content()})"

    def note(self) -> str:
        """Describe the trace in a few words."""
        length = f"{self.length_us / 1e6:g} s, {len(self.steps)} steps"
        if self.what == "delay":
            return f"{self.least / 1000:g} to {self.most / 1000:g} ms, mean {self.mean / 1000:.4g} ms, {length}"
        still = f", nothing for {self.standstill_us / 1e6:g} s" if self.standstill_us else ""
        return f"{self.least / 1e6:.4g} to {self.most / 1e6:.4g} Mbit/s, mean {self.mean / 1e6:.4g}, {length}{still}"


def shortened(text: str) -> str:
    """Return a setting as people are to read it: of a trace the name, and the digest of its content."""
    match = _INLINE.fullmatch(text)
    if not match:
        return text
    return f"{match['name']} ({hashlib.sha256(text.partition('; ')[2].removesuffix(')').encode()).hexdigest()[:12]})"


def trace_of(
    what: What, name: str, steps: list[tuple[int, int]], length_us: int, *, key: str = "", place: str = ""
) -> Trace:
    """Return a trace whose steps can be followed; equal neighbours become one step. Errors name `key` and `place`."""
    try:
        return _checked_trace(what, name, steps, length_us)
    except InputError as error:
        error.key, error.place = key, place
        raise


def _checked_trace(what: What, name: str, steps: list[tuple[int, int]], length_us: int) -> Trace:
    if not NAME_PATTERN.fullmatch(name):
        raise InputError(f"{name!r} is no name of a trace", "Use letters, digits, '.', '-' and '_'")
    if not SHORTEST.ns <= length_us * 1000 <= LONGEST.ns:
        raise InputError(f"the trace lasts {length_us / 1e6:g} s", f"A trace lasts from {SHORTEST} to {LONGEST}")
    merged: list[tuple[int, int]] = []
    for at, value in steps:
        if not merged or merged[-1][1] != value:
            merged.append((at, value))
    if len(merged) > MOST_STEPS:
        raise InputError(f"the trace has {len(merged)} steps, more than {MOST_STEPS}", "Make them longer")
    trace = Trace(what, name, tuple(merged), length_us)
    short = min(end - begin for begin, end, _ in trace.spans())
    if short * 1000 < SHORTEST_STEP.ns:
        what_is = f"a step of the trace lasts {short / 1000:g} ms; the router follows steps of {SHORTEST_STEP} or more"
        raise InputError(what_is, "Make the steps longer (of a file of Mahimahi's: choose a longer step)")
    _check_values(trace)
    return trace


def _check_values(trace: Trace) -> None:
    for at, value in trace.steps:
        where = f"at {at / 1e6:g} s"
        if trace.what == "delay" and value * 1000 > MOST_DELAY.ns:
            raise InputError(f"a delay of {value / 1e6:g} s {where} is more than {MOST_DELAY}", "Write less")
        if trace.what == "rate" and value and not MIN_RATE <= Rate(value) <= MAX_RATE:
            what = f"a rate of {Rate(value)} {where} is not between {MIN_RATE} and {MAX_RATE}"
            raise InputError(what, "Write one that is, or 0 for an outage")
    if trace.what == "rate" and Rate(trace.mean) < MIN_RATE:
        raise InputError(f"the trace lets nothing through, or less than {MIN_RATE} on average", "Take another")


def _parse(what: What, value: object, key: str) -> Trace:
    if isinstance(value, Trace):
        return value
    match = _INLINE.fullmatch(str(value))
    if not match:
        shown = str(value)[:60]
        what_is = f"{shown!r} is no trace that was read from a file"
        raise InputError(what_is, "Name a file, or a trace of: lanelab link trace list", key=key)
    pairs = [each.partition(":") for each in match["steps"].split(" ")]
    steps = [(int(at), int(number)) for at, _, number in pairs]
    if steps[0][0] or any(after[0] <= before[0] for before, after in itertools.pairwise(steps)):
        raise InputError("the steps of this trace are not in order from 0 on", "Name its file again", key=key)
    if int(match["length"]) <= steps[-1][0]:
        raise InputError("this trace ends before its last step", "Name its file again", key=key)
    return trace_of(what, match["name"], steps, int(match["length"]), key=key)


_SCHEMA: JsonObject = {"type": "string"}
_WRITTEN = "a CSV file, a file of Mahimahi's, or a name of `lanelab link trace list`"
RATE_TRACE = Kind("FILE", _WRITTEN, lambda value, key: _parse("rate", value, key), _SCHEMA)
DELAY_TRACE = Kind("FILE", _WRITTEN, lambda value, key: _parse("delay", value, key), _SCHEMA)
