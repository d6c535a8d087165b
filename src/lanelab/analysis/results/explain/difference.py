"""Why one arm is faster than another: by how much in which part, and what may have caused it. Pure.

Of each part the difference is Hodges and Lehmann's estimate over the rounds that both arms have, as for the load times
themselves. Such estimates need not add up exactly: what is left over is given as the rest.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from lanelab.analysis.results.comparisons import alpha_of
from lanelab.analysis.results.explain import third_parties
from lanelab.analysis.results.explain.load_time_parts import LEAST_MS, LEAST_SHARE, WORDS, MadeOf, took_ms, with_parts
from lanelab.analysis.results.model import Cell, Names, Run
from lanelab.analysis.results.numbers import difference, kilobytes, listed, seconds
from lanelab.analysis.statistics import ENOUGH, Change, Comparison, compare
from lanelab.analysis.statistics.paired import LEAST_SO_FAR, OPEN
from lanelab.driver.base.amounts import counted
from lanelab.driver.record.evidence.parts import Part


class DifferenceJson(Names):
    """The second arm against the first, on one site and link."""

    base: str
    rounds: int
    rounds_timed_out: int
    shown: bool
    difference_ms: Change
    parts_ms: Mapping[Part, Change]
    rest_ms: float
    largest: Part
    sentences: list[str]


@dataclass(frozen=True, slots=True)
class Difference:
    """The second arm against the first, on one site and link."""

    base: MadeOf
    other: MadeOf
    rounds: int  # those whose two trials one machine made
    total: Change  # of the load time, in ms: the second minus the first
    parts: Mapping[Part, Change]
    timed_out: int = 0  # rounds in which one of the two timed out: they have no parts
    compared: Comparison | None = None  # what the run says of these two, where it compares them
    is_swapped: bool = False  # the run has the second as the base of the first
    so_far: bool = False  # the run is not finished

    @property
    def rest_ms(self) -> float:
        return self.total.value - sum(change.value for change in self.parts.values())

    @property
    def is_clear(self) -> bool:
        """Return whether the interval of the load times' difference leaves 0 out."""
        low, high = self.total.low, self.total.high
        return low is not None and high is not None and (low > 0 or high < 0)

    @property
    def is_shown(self) -> bool:
        """Say whether they differ by the run's own verdict, which counts all of its comparisons."""
        return self.is_clear if self.compared is None else self.compared.verdict.startswith(("faster", "slower"))

    @property
    def is_open(self) -> bool:
        """Say whether the run's verdict is open, since it depends on loads that broke and were tried again."""
        return self.compared is not None and self.compared.verdict == OPEN

    @property
    def largest(self) -> Part:
        """The part that changes most in the direction of the whole."""
        sign = 1 if self.total.value >= 0 else -1
        return max(self.parts, key=lambda part: sign * self.parts[part].value)

    def sentences(self) -> list[str]:
        return [self._verdict(), *self._estimates(), *self._left_out(), self._parts(), *causes(self)]

    def to_json(self) -> DifferenceJson:
        cell = self.other.cell
        return {
            **cell.names, "base": self.base.cell.arm.name,
            "rounds": self.rounds, "rounds_timed_out": self.timed_out, "shown": self.is_shown,
            "difference_ms": self.total,
            "parts_ms": {part: self.parts[part] for part in Part},
            "rest_ms": round(self.rest_ms, 3), "largest": self.largest, "sentences": self.sentences(),
        }  # fmt: skip

    def _verdict(self) -> str:
        """Return what may be said, by the run's own verdict where it has one."""
        cell, base = self.other.cell, self.base.cell.arm.name
        where, arm = f"{cell.site}, {cell.link.label}", cell.arm.name
        if self.rounds < LEAST_SO_FAR:
            return f"{where}: too few rounds to compare {arm} with {base} ({self.rounds})."
        if self.is_open:
            return f"{where}: whether {arm} was faster than {base} is open, since loads broke and were tried again."
        if not self.is_shown:
            return f"{where}: no difference shown between {arm} and {base}."
        if self.rounds < ENOUGH:
            rounds = f"in all {self.rounds} rounds, which are too few to be sure"
            return f"{where}: {arm} was {self._way} than {base} {rounds}."
        return f"{where}: {arm} was {self._way} than {base}{' so far' if self.so_far else ''}."

    @property
    def _way(self) -> str:
        if self.compared is None:
            return "faster" if self.total.value < 0 else "slower"
        return "faster" if self.compared.verdict.startswith("faster") != self.is_swapped else "slower"

    def _estimates(self) -> Iterator[str]:
        """Yield the difference within a round and the medians. Medians are of all loads, so the two need not agree."""
        arm, base, total = self.other.cell.arm.name, self.base.cell.arm.name, self.total
        by = _longer(total.value, base)
        medians = f"Medians of all loads: {arm} {seconds(self.other.plt_ms)}, {base} {seconds(self.base.plt_ms)}."
        if total.low is None or total.high is None:
            yield f"In the only round {arm} took {by}. {medians}"
            return
        interval = f"{total.name} {difference(total.low)} to {difference(total.high)} ms"
        yield f"Within a round {arm} took {by} ({interval}, {counted(self.rounds, 'round')}). {medians}"
        if self.rounds >= ENOUGH and self.is_clear and not self.is_shown and not self.is_open:
            yield "The interval is of this comparison alone; the verdict counts all comparisons of the run."
        if total.value * (self.other.plt_ms - self.base.plt_ms) < 0:
            yield "The medians go the other way: they are of all loads, the difference is of loads in the same round."

    def _left_out(self) -> Iterator[str]:
        if self.timed_out:
            rounds = counted(self.timed_out, "round")
            yield f"Left out: {rounds} in which a page load timed out. In the run's comparisons they count as slower."

    def _parts(self) -> str:
        least = max(LEAST_MS, LEAST_SHARE * self.base.plt_ms)
        large = [part for part in self.parts if abs(self.parts[part].value) >= least]
        large.sort(key=lambda part: -abs(self.parts[part].value))
        if not large:
            return f"No part differs by {seconds(least)} or more."
        words = [f"{WORDS[part]} {_with_interval(self.parts[part])}" for part in large]
        left = self.total.value - sum(self.parts[part].value for part in large)
        if abs(left) >= LEAST_MS:
            words.append(f"the rest {difference(left)} ms")
        return f"By part: {listed(words)}."


def _longer(ms: float, base: str) -> str:
    amount = difference(abs(ms)).lstrip("+")
    return f"as long as {base}" if amount == "0.0" else f"{amount} ms {'less' if ms < 0 else 'more'} than {base}"


def _with_interval(change: Change) -> str:
    if change.low is None or change.high is None:
        return f"{difference(change.value)} ms"
    return f"{difference(change.value)} ms ({difference(change.low)} to {difference(change.high)})"


def explain_difference(
    run: Run, base: MadeOf, other: MadeOf, compared: Comparison | None = None, *, is_swapped: bool = False
) -> Difference | None:
    """Explain a difference; None where no round has both."""
    trials, outcomes = run.by_cell(), run.outcomes()
    alpha = alpha_of(run, (base.cell, other.cell), outcomes)
    first, second = (
        {trial.round: trial for trial in with_parts(trials[side.cell.number])} for side in (base, other)
    )  # fmt: skip
    rounds = sorted(first.keys() & second.keys())

    machines = (
        {number: trial.machine for number, trial in first.items()},
        {number: trial.machine for number, trial in second.items()},
    )

    def changed(part: Part | None) -> Change | None:
        comparison = compare(
            {each: took_ms(first[each], part) for each in rounds},
            {each: took_ms(second[each], part) for each in rounds},
            alpha=alpha,
            machines=machines,
        )
        return comparison.difference if comparison else None

    total, parts = changed(None), {part: changed(part) for part in Part}
    known = {part: change for part, change in parts.items() if change}
    if not total or len(known) != len(parts):
        return None
    late = (outcomes[side.cell.number].items() for side in (base, other))
    timed_out = {number for values in late for number, value in values if math.isinf(value)}
    so_far = not run.is_finished
    return Difference(base, other, total.n, total, known, len(timed_out), compared, is_swapped, so_far)


def causes(difference: Difference) -> Iterator[str]:
    """Yield what the arms do differently on the wire, where that can be counted."""
    yield from _third_parties(difference)
    yield from _connections(difference)
    yield from _tls(difference)
    yield from _bytes(difference)
    yield from _losses(difference)


def _fact(difference: Difference, name: str) -> tuple[float, float] | None:
    base, other = difference.base.facts.get(name), difference.other.facts.get(name)
    return None if base is None or other is None else (base, other)


def _names(difference: Difference) -> tuple[str, str]:
    """Return the second arm, which is the subject, and the first."""
    return difference.other.cell.arm.name, difference.base.cell.arm.name


def _third_parties(difference: Difference) -> Iterator[str]:
    """Yield what only one of the two asks of third parties."""
    base, other = (each.cell.arm for each in (difference.base, difference.other))
    for arm, against in ((other, base), (base, other)):
        others = list(third_parties.sentences(against.settings))
        only = [each for each in third_parties.sentences(arm.settings) if each not in others]
        yield from (f"{arm.name}: {each[0].lower()}{each[1:]}" for each in only)


def _connections(difference: Difference) -> Iterator[str]:
    opened = _fact(difference, "connections_used") or _fact(difference, "connections")
    if opened is None or round(opened[0]) == round(opened[1]):
        return
    before, after = (round(each) for each in opened)
    (arm, base), fewer = _names(difference), before > after
    handshakes = counted(abs(before - after), f"{'fewer' if fewer else 'more'} handshake")
    each = "which takes" if abs(before - after) == 1 else "each of which takes"
    words = (
        f"{arm} opens {counted(after, 'connection')}, {base} {before}: {handshakes}, {each} "
        f"{difference.base.round_trip_words} before the first request"
    )
    per_host = difference.base.cell.arm.settings.get("connections_per_host")
    at_once = f"; up to {per_host} take place at the same time" if per_host and max(before, after) > 6 else ""
    yield f"{words}{at_once}."
    if difference.base.over_quic or difference.other.over_quic:
        return
    slow, window = difference.parts[Part.SLOW_START].value, difference.base.initial_window
    if slow + difference.parts[Part.REDUCED_WINDOW].value >= LEAST_MS and fewer:
        first = difference.base.first_flight
        yield (
            f"{counted(after, 'connection')} may start with {after * first} packets in flight, {before} connections "
            f"with {before * first}. These windows grow by slow start, and a loss shrinks its connection's window."
        )
    elif abs(slow) >= LEAST_MS and fewer == (slow < 0):
        each = "Each connection saved would have begun" if fewer else "Each further connection begins"
        yield f"{each} with a congestion window of {window} packets, which doubles once per round trip (slow start)."


def _tls(difference: Difference) -> Iterator[str]:
    base, other = (str(each.cell.arm.settings.get("tls", "off")) for each in (difference.base, difference.other))
    if base == other or "off" not in (base, other):
        return
    if (difference.base if other == "off" else difference.other).over_quic:  # whose one round trip has TLS in it
        return
    arm, version = _names(difference)[base != "off"], other if base == "off" else base
    least = "one more round trip" if version == "1.3" else "one or two more round trips"
    yield f"{arm} uses TLS {version}: each new connection takes {least} before its first request."


def _bytes(difference: Difference) -> Iterator[str]:
    carried, rate = _fact(difference, "bytes_down"), difference.base.link.down.rate
    if carried is None or rate is None:
        return
    more = carried[1] - carried[0]
    takes = more * 8000 / rate.bps
    if abs(takes) >= max(LEAST_MS, LEAST_SHARE * difference.base.plt_ms):
        which, costs = ("more", "takes") if more > 0 else ("less", "saves")
        words = f"{_names(difference)[0]} receives {kilobytes(abs(more))} kB {which}"
        yield f"{words}, which {costs} {seconds(abs(takes))} at {rate}."


def _losses(difference: Difference) -> Iterator[str]:
    again = _fact(difference, "retransmissions")
    if again and round(again[0]) != round(again[1]):
        arm, base = _names(difference)
        yield f"Packets sent again: {arm} {round(again[1])}, {base} {round(again[0])}."


def explain_links(cells: list[MadeOf]) -> Iterator[str]:
    """Yield which parts grow from one link to the next. All cells are of one arm."""
    for base, other in pairwise(cells):
        total = other.plt_ms - base.plt_ms
        grown = {part: other.parts[part] - base.parts[part] for part in Part}
        large = sorted((part for part in grown if abs(grown[part]) >= LEAST_MS), key=lambda part: -abs(grown[part]))[:4]
        words = listed(f"{WORDS[part]} {difference(grown[part])} ms" for part in large) or "no part by a millisecond"
        grows = f"{'grows' if total >= 0 else 'falls'} by {difference(abs(total)).lstrip('+')} ms"
        yield (
            f"From {_where(base.cell)} to {_where(other.cell)} the median of {other.cell.arm.name} {grows}: {words}."
        )


def _where(cell: Cell) -> str:
    return cell.link.label
