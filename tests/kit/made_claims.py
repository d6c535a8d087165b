"""Runs of two arms over three round trips, made in memory, and claims about them."""

import datetime
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lanelab.analysis.results.model import Arm, Cell, Failure, LinkCase, Plan, Run, Trial
from lanelab.analysis.statistics.looks import Look, only_look
from lanelab.driver.experiment.claim import Claim, ClaimKind, Place, Point, Quantifier, digest_of
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Reason

BEGAN = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)
RTTS = (20, 40, 60)
ARMS = (Arm(1, "a", {}), Arm(2, "b", {}))
LATE = float("inf")  # a load that timed out
Loads = Callable[[str, int, int], float]  # of an arm, a round trip and a round: the page load time
Measures = Callable[[str, int, int], Mapping[str, float]]
Breaks = Callable[[str, int, int], bool]


def made_run(
    loads: Loads, *, rounds: int = 12, beds: int = 1, claims: Sequence[Claim] = (), measures: Measures | None = None,
    order: str = "interleaved", looks: Sequence[Look] = (), bed_of: Callable[[str, int], int] | None = None,
    breaks: Breaks = lambda _arm, _rtt, _number: False,
) -> Run:  # fmt: skip
    """`bed_of`: of an arm and a round; None: rounds are divided over the beds. `breaks`: whether a load broke before
    the one that counts."""
    links = [LinkCase(n, f"{rtt}ms", Link.parse({"rtt": f"{rtt}ms"}).to_mapping()) for n, rtt in enumerate(RTTS, 1)]
    cells = [
        Cell(2 * at + arm.number, f"{arm.name}{rtt}", "page", links[at], arm)
        for at, rtt in enumerate(RTTS) for arm in ARMS
    ]  # fmt: skip
    trials: list[Trial] = []
    for number in range(1, rounds + 1):
        for cell in cells:
            rtt = int(cell.id[1:])
            load, bed = loads(cell.arm.name, rtt, number), (number - 1) * beds // rounds + 1
            if broken := breaks(cell.arm.name, rtt, number):
                trials.append(Trial(
                    len(trials) + 1, 1, bed, cell, number, 1, BEGAN + datetime.timedelta(seconds=len(trials)), 1.0,
                    False, {}, None, (Failure(Reason.FAILED_OBJECT, "net::ERR_QUIC_PROTOCOL_ERROR"),),
                ))  # fmt: skip
            late = load == LATE
            own = {"plt_ms": load, **(measures(cell.arm.name, rtt, number) if measures else {})}
            trials.append(Trial(
                len(trials) + 1, 1, bed_of(cell.arm.name, number) if bed_of else bed, cell, number, 1 + broken,
                BEGAN + datetime.timedelta(seconds=len(trials)), 1.0, not late, {} if late else own,
                None if late else load, (Failure(Reason.TIMEOUT, ""),) if late else (),
            ))  # fmt: skip
    return Run(
        Path("run"), "page_load", "made", "", "finished", "", "", {}, (), tuple(links), ARMS, tuple(cells),
        tuple(trials), (), (), Plan(order, tuple(looks) or only_look(rounds), 60.0), tuple(claims),
        digest_of(claims),
    )  # fmt: skip


def noise(sd: float, seed: int = 5) -> Callable[[str, int, int], float]:
    """A factor for each trial, always the same."""
    rng, found = random.Random(seed), dict[tuple[str, int, int], float]()

    def of(arm: str, rtt: int, number: int) -> float:
        return found.setdefault((arm, rtt, number), rng.lognormvariate(0, sd))

    return of


def with_effect(kind: ClaimKind, effect: float, sd: float = 0.005, seed: int = 5) -> Loads:
    """Loads whose truth is this effect of a claim of that kind, as `made_claim` makes it."""
    factor = noise(sd, seed)

    def of(arm: str, rtt: int, number: int) -> float:
        if arm == "a":
            power = 0.0
        elif kind == "trend":
            power = (rtt - RTTS[0]) / (RTTS[-1] - RTTS[0])
        elif kind in ("spike", "contrast"):
            power = float(rtt == RTTS[1])
        else:
            power = 1.0
        return 1000 * math.pow(effect, power) * factor(arm, rtt, number)

    return of


def point(rtt: int, *, base: bool = False) -> Point:
    return Point(f"page, {rtt}ms", f"b{rtt}", f"a{rtt}" if base else None, float(rtt))


def places(kind: ClaimKind, number: int = 1) -> tuple[Place, ...]:
    if kind == "contrast":
        return (Place("page, 40ms against 20ms", tuple(point(rtt, base=True) for rtt in (RTTS[1], RTTS[0]))),)
    if kind in ("trend", "spike"):
        return (Place("page", tuple(point(rtt, base=kind == "trend") for rtt in RTTS)),)
    return tuple(Place(f"page, {rtt}ms", (point(rtt, base=kind == "change"),)) for rtt in RTTS[:number])


def made_claim(
    kind: ClaimKind = "change", *, low: float | None = 0.53, high: float | None = 0.69, side: int = -1,
    published: tuple[float, ...] = (0.61,), metric: str = "plt_ms", equivalent: bool = False, name: str = "made",
    quantifier: Quantifier = "one", exceptions: int = 0, at: Sequence[Place] = (),
) -> Claim:  # fmt: skip
    """-39%, margin 8pp. Of a value it is 610 ms, margin 80 ms."""
    scale = 1000 if kind == "value" and metric == "plt_ms" else 1
    return Claim(
        name=name, says="", source="", kind=kind, of="b against a", metric=metric, over="rtt",
        published=tuple(scale * value for value in published), margin="8pp", because="",
        low=None if low is None else scale * low, high=None if high is None else scale * high,
        side=0 if kind == "value" else side, at_least=0.01, equivalent=equivalent, quantifier=quantifier,
        exceptions=exceptions, places=tuple(at) or places(kind),
    )  # fmt: skip
