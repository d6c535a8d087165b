"""What the gateway's cost is made of: when requests begin after the page, and how soon the next one follows an answer.

Chromium writes HTTP/2, which it speaks to the gateway, as a task after the one that makes requests: the first ones
leave later than natively. The gateway sends the next request the moment that a connection is free, which Chromium takes
longer for. The two have opposite signs. docs/reference/gateway.md has the reasoning. Pure.
"""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from lanelab.analysis.results.layout.data import Fields, key
from lanelab.analysis.results.numbers import difference, milliseconds
from lanelab.analysis.statistics import ALPHA, Change
from lanelab.analysis.statistics.signed_rank import signed_rank

LAG, LAG_6, TURNAROUND = "start_lag_ms", "start_lag_6_ms", "turnaround_ms"
SHOWN = {LAG: "1st request", LAG_6: "6th request", TURNAROUND: "turnaround"}


def _both(medians: Mapping[str, tuple[float, float]]) -> Fields:
    return {name: {"native": native, "gateway": gateway} for name, (native, gateway) in medians.items()}


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a pair of arms, from the rounds that have all of it in both."""

    # of each measure that both have: natively, through the gateway
    medians: Mapping[str, tuple[float, float]] = field(metadata=key("medians_ms", _both))
    together: Change = field(metadata=key("together_ms"))  # what the terms make of the difference in load time
    left: Change = field(metadata=key("left_ms"))  # what they leave of it

    @property
    def agree(self) -> bool | None:
        """Return whether the difference may be just these two terms. None: there are too few rounds to tell."""
        if self.left.low is None or self.left.high is None:
            return None
        return self.left.low <= 0 <= self.left.high

    ALSO: ClassVar = ("agree",)

    def sentence(self) -> str:
        measured = ", ".join(
            f"{SHOWN[name]} {milliseconds(gateway)} ms (natively {milliseconds(native)})"
            for name, (native, gateway) in self.medians.items()
        )
        verdict = {True: "the two terms explain it", False: "the two terms do not explain it", None: "one round"}
        return (
            f"After the page, and after an answer: {measured}. Together they make {_change(self.together)} and leave "
            f"{_change(self.left)}: {verdict[self.agree]}."
        )


def terms(
    native: Mapping[int, Mapping[str, float]],
    gateway: Mapping[int, Mapping[str, float]],
    alpha: float = ALPHA,
    looks: int = 1,
) -> Terms | None:
    """Return the terms from all measures of the two arms' trials, by round. None where no round has the terms in
    both. With several looks at a run, `alpha` is what this one may spend."""
    rounds = {}
    for number in sorted(native.keys() & gateway.keys()):
        both = native[number], gateway[number]
        lag = next((name for name in (LAG_6, LAG) if all(name in each for each in both)), None)
        turns = {TURNAROUND in each for each in both}
        if lag is None or len(turns) > 1 or not all("plt_ms" in each for each in both):
            continue  # what only one of the two has can be set off against nothing
        one, two = (_modelled(each, lag) for each in both)
        if one is not None and two is not None:
            rounds[number] = one, two
    if not rounds:
        return None
    known = [name for name in SHOWN if all(name in each[number] for number in rounds for each in (native, gateway))]
    medians = {name: (_median(native, name, rounds), _median(gateway, name, rounds)) for name in known}
    together = {number: two - one for number, (one, two) in rounds.items()}
    left = [gateway[number]["plt_ms"] - native[number]["plt_ms"] - change for number, change in together.items()]
    of_terms, of_rest = (
        Change.of(signed_rank([each], alpha)).of_looks(looks, alpha) for each in (list(together.values()), left)
    )
    return Terms(medians, of_terms, of_rest)


def _modelled(measures: Mapping[str, float], lag: str) -> float | None:
    """Return what the two terms add to this load. From the sixth request on all connections are at work; then each of
    them turns round once for every further request. None: it is not known how many connections that were."""
    if TURNAROUND not in measures:
        return measures[lag]
    connections, requests = measures.get("connections_used"), measures.get("requests")
    if not connections or requests is None:
        return None
    return measures[lag] + max((requests - 1) / connections - 1, 0) * measures[TURNAROUND]


def _median(trials: Mapping[int, Mapping[str, float]], name: str, rounds: Mapping[int, object]) -> float:
    return statistics.median(trials[number][name] for number in rounds)


def _change(change: Change) -> str:
    return f"{difference(change.value)} ms{between(change, difference)}"


def between(change: Change, words: Callable[[float], str]) -> str:
    """Return its interval, to be put behind its value; nothing where there is none."""
    if change.low is None or change.high is None:
        return ""
    return f" ({change.name} {words(change.low)} to {words(change.high)})"
