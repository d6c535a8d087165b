"""How often verdicts on claims are false, by simulation: of one place, of several, and of runs that look several times.
Pure, and seeded.

`lanelab bench statistics` prints the tables of docs/statistics.md; tests check what they must hold. Each figure is of
the worst case: a truth at the very edge of what a verdict says.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from lanelab.analysis.results.claims.place import judge_place
from lanelab.analysis.results.claims.rules import REFUTED, REVERSED, levels_after
from lanelab.analysis.results.claims.samples import Observed
from lanelab.analysis.results.claims.several_places import verdict_over
from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.statistics.looks import Look, looks, only_look
from lanelab.driver.base.amounts import counted
from lanelab.driver.experiment.claim import Claim, Place, Point, Quantifier
from tools.simulations.arms import NOISES, Noise, Table

Judge = Callable[[Verdict, str], bool]  # says whether a verdict is the false one that is counted

PUBLISHED, LOW, HIGH, EDGE = 0.61, 0.53, 0.69, 0.99  # -39%, margin 8pp, at_least 1%
BED_SD, TRIAL_SD = 0.005, 0.01  # of logarithms
UNLIKE = 3.0  # times as much as other beds
EQUAL = 0.05
PLACES = 5


@dataclass(frozen=True, slots=True)
class Design:
    """Of a run: each bed has so many rounds. One with beds of unlike spread is worse than it should be."""

    beds: int
    rounds: int  # on each bed
    bed_noise: Noise = NOISES["normal"]
    words: str = ""
    trial_noise: Noise = NOISES["normal"]

    @property
    def name(self) -> str:
        return f"{counted(self.beds, 'bed')} x {self.rounds} rounds{self.words}"


def _unlike(rng: random.Random) -> float:
    """Draw the noise of a bed: one of three varies far more than the others."""
    return rng.gauss(0, UNLIKE if rng.random() < 1 / 3 else 1)


def _skewed(rng: random.Random) -> float:
    """Return an exponential distribution around its mean, which is what an interval across beds is of."""
    return rng.expovariate(1) - 1


def _endless(rng: random.Random) -> float:
    """Draw the noise of a bed: on one of ten, one of the two arms times out in every round."""
    return math.copysign(math.inf, rng.random() - 0.5) if rng.random() < 0.1 else rng.gauss(0, 1)


def _skewed_base(rng: random.Random) -> float:
    """The base is exponential, the other arm steady, and the truth is a ratio of medians."""
    return -(math.log1p(rng.expovariate(10)) - math.log1p(math.log(2) / 10)) / TRIAL_SD


def _skewed_contrast(rng: random.Random) -> float:
    """Two such changes against each other: the base is exponential in both places."""
    return _skewed_base(rng) - _skewed_base(rng)


DESIGNS = (
    Design(3, 4), Design(5, 4), Design(1, 6), Design(1, 10), Design(1, 12),
    Design(3, 4, _unlike, ", unlike beds"),
    Design(3, 4, _skewed, ", skewed beds"),
    Design(5, 4, _skewed, ", skewed beds"),
    Design(8, 4, _endless, ", some beds endless"),
    *(Design(1, rounds, words=", skewed base", trial_noise=_skewed_base) for rounds in (6, 10, 30)),
    *(Design(1, rounds, words=", contrast of skewed bases", trial_noise=_skewed_contrast) for rounds in (6, 10, 30)),
)  # fmt: skip


def made_claim(quantifier: Quantifier = "one", places: int = 1, exceptions: int = 0) -> Claim:
    """Return a change that was published with its size."""
    return Claim(
        name="made", says="", source="", kind="change", of="a against b", metric="plt_ms", over=None,
        published=(PUBLISHED,), margin="8pp", because="", low=LOW, high=HIGH, side=-1, at_least=0.01, equivalent=False,
        quantifier=quantifier, exceptions=exceptions,
        places=tuple(Place(f"place {n}", (Point("", f"a{n}", f"b{n}", None),)) for n in range(places)),
    )  # fmt: skip


def equivalent(claim: Claim) -> Claim:
    return replace(claim, published=(), low=1 - EQUAL, high=1 + EQUAL, side=0, equivalent=True)


def rounds_of(effect: float, design: Design, rng: random.Random) -> list[Observed]:
    """A run's pairs, where the truth is this. What is the bed's own is left out of a run that has one: its intervals
    say nothing of other beds."""
    rounds = []
    for bed in range(design.beds):
        offset = BED_SD * design.bed_noise(rng) if design.beds > 1 else 0.0
        for number in range(design.rounds):
            log = math.log(effect) + offset + TRIAL_SD * design.trial_noise(rng)
            rounds.append(Observed(bed * design.rounds + number + 1, bed + 1, log, ()))
    return rounds


def verdict_of(
    claim: Claim, observed: Sequence[Sequence[Observed]], planned: Sequence[Look] = ()
) -> tuple[Verdict, str]:
    """Over the claim's places."""
    levels = levels_after(planned or only_look(1), max(len(each) for each in observed))
    judged = [
        judge_place(claim, place, each, levels, whole=False) for place, each in zip(claim.places, observed, strict=True)
    ]
    return verdict_over(claim, judged, levels)[:2]


def share(claim: Claim, effects: Sequence[float], design: Design, false: Judge, runs: int) -> float:
    """Return how often a run gives such a verdict, where these are the truths of the places."""
    rng = random.Random(f"{design.name}/{effects}/{claim.quantifier}")  # noqa: S311 - chance for statistics
    hits = 0
    for _ in range(runs):
        hits += false(*verdict_of(claim, [rounds_of(effect, design, rng) for effect in effects]))
    return hits / runs


def is_reproduced(verdict: Verdict, _detail: str) -> bool:
    return verdict == Verdict.REPRODUCED


def is_direction(verdict: Verdict, _detail: str) -> bool:
    return verdict == Verdict.DIRECTION_ONLY


def is_size_refuted(_verdict: Verdict, detail: str) -> bool:
    return REFUTED in detail


def is_refuted(verdict: Verdict, _detail: str) -> bool:
    return verdict == Verdict.NOT_REPRODUCED


def is_reversed(verdict: Verdict, detail: str) -> bool:
    return verdict == Verdict.NOT_REPRODUCED and REVERSED in detail


# --- tables


def of_one_place(design: Design, runs: int) -> list[float]:
    """In the order of the table's heads."""
    plain, alike = made_claim(), equivalent(made_claim())
    return [
        share(plain, [HIGH], design, is_reproduced, runs),
        share(plain, [EDGE], design, is_direction, runs),
        share(plain, [1.01], design, is_reversed, runs),
        share(plain, [HIGH], design, is_size_refuted, runs),
        share(alike, [1 + EQUAL], design, is_reproduced, runs),
        share(alike, [1 + EQUAL], design, is_refuted, runs),
    ]


QUANTIFIED: Sequence[tuple[Quantifier, int, int, int]] = (
    # (quantifier, its exceptions, places that hold where the claim just fails, places that fail where it just holds)
    ("every", 0, PLACES - 1, 0),
    ("all but", 1, PLACES - 2, 1),
    ("any", 0, 0, PLACES - 1),
)


def of_several(row: tuple[Quantifier, int, int, int], design: Design, runs: int) -> list[float]:
    """Return how often a claim that just fails is reproduced, and how often one that just holds is not."""
    quantifier, exceptions, holding, failing = row
    claim = equivalent(made_claim(quantifier, PLACES, exceptions))
    just_false = [1.0] * holding + [1 + EQUAL] * (PLACES - holding)
    just_true = [1.2] * failing + [1 + EQUAL] * (PLACES - failing)
    return [
        share(claim, just_false, design, is_reproduced, runs),
        share(claim, just_true, design, is_refuted, runs),
    ]


def at_any_look(claim: Claim, effect: float, design: Design, planned: Sequence[Look], false: Judge, runs: int) -> float:
    """Return how often one look or more gives such a verdict: as if a run ended as soon as it has it."""
    rng, hits = random.Random(f"{design.name}/{effect}/looks"), 0  # noqa: S311
    for _ in range(runs):
        rounds = rounds_of(effect, design, rng)
        hits += any(false(*verdict_of(claim, [rounds[: look.trials]], planned)) for look in planned)
    return hits / runs


def at_every_round(claim: Claim, effect: float, design: Design, false: Judge, runs: int) -> float:
    """Return what must not be done: a look after each round from the sixth on, each with all of the 5%."""
    rng, hits = random.Random(f"{design.name}/{effect}/rounds"), 0  # noqa: S311
    for _ in range(runs):
        rounds = rounds_of(effect, design, rng)
        hits += any(false(*verdict_of(claim, [rounds[:number]])) for number in range(6, len(rounds) + 1))
    return hits / runs


def of_looks(design: Design, runs: int) -> list[float]:
    planned = looks(8, 30)
    return [
        at_any_look(made_claim(), HIGH, design, planned, is_reproduced, runs),
        at_any_look(made_claim(), EDGE, design, planned, is_direction, runs),
        at_any_look(equivalent(made_claim()), 1 + EQUAL, design, planned, is_refuted, runs),
    ]


def tables(runs: int) -> Iterator[Table]:
    """Those of docs/statistics.md#claims."""
    yield Table("Claims: how often a verdict is false, at its worst", [
        "run", "edge of the region is reproduced", "no effect has a direction", "no effect is reversed",
        "magnitude of the edge is refuted", "edge of equivalence is reproduced",
        "edge of equivalence is not reproduced",
    ], [(design.name, of_one_place(design, runs)) for design in DESIGNS])  # fmt: skip
    designs = DESIGNS[:2] + DESIGNS[3:4]
    yield Table(f"Claims about {PLACES} places: one that just fails is reproduced, one that just holds is not", [
        "for", *(f"{design.name}: {what}" for design in designs for what in ("reproduced", "not reproduced")),
    ], [(f"{row[0]} {row[1] or ''}".strip(), [one for design in designs for one in of_several(row, design, runs)])
        for row in QUANTIFIED])  # fmt: skip
    yield Table("Claims with until: {max: 30}: at least one of the looks is false", [
        "run", "edge of the region is reproduced", "no effect has a direction", "edge of equivalence is not reproduced",
    ], [(words, of_looks(design, max(100, runs // 2))) for words, design in (
        ("1 bed", Design(1, 30)), ("beds of 2 rounds", Design(15, 2)))])  # fmt: skip
