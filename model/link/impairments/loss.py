"""Packets that are lost: each by itself, or in bursts."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from model.errors import InputError
from model.link.impairments.impairment import Chance, Impairment, Words
from model.link.kinds import DIRECTIONS
from model.link.results import Result, chance
from model.settings.kinds import Kind
from model.settings.setting import Setting
from model.units import PPB, Ratio

if TYPE_CHECKING:
    from model.link.arrivals import Arrivals
    from model.link.direction import Direction

NONE, ALL = Ratio(0), Ratio(PPB)


class Loss(ABC):
    """How packets are lost: RandomLoss or GilbertElliott."""

    __slots__ = ()

    @property
    @abstractmethod
    def mean_loss(self) -> float:
        """The part of all packets that is lost in the long run."""

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> Loss:
        if isinstance(value, Loss):
            return value
        match = re.fullmatch(r"\s*([a-z]+)\s*\((.*)\)\s*", value, re.DOTALL) if isinstance(value, str) else None
        if match is None:
            return RandomLoss(_loss_ratio(value, key))
        model, inside = match.groups()
        if model == "random":
            return RandomLoss(_loss_ratio(inside, key))
        if model == "ge":
            return _read_ge(inside, key)
        raise InputError(f"unknown loss model {model!r}", "Write 0.1%, random(0.1%) or ge(p=1%, r=10%)", key=key)


@dataclass(frozen=True, slots=True)
class RandomLoss(Loss):
    """Every packet is lost with the same probability, whatever happened to the one before."""

    ratio: Ratio

    @property
    def mean_loss(self) -> float:
        return self.ratio.fraction

    def __str__(self) -> str:
        return str(self.ratio)


@dataclass(frozen=True, slots=True)
class GilbertElliott(Loss):
    """Losses in bursts: a good and a bad state, with p from good to bad and r from bad to good, per packet."""

    p: Ratio
    r: Ratio
    bad: Ratio = ALL
    good: Ratio = NONE

    @property
    def mean_loss(self) -> float:
        in_bad = Fraction(self.p.ppb, self.p.ppb + self.r.ppb)
        return float(in_bad * self.bad.ppb + (1 - in_bad) * self.good.ppb) / PPB

    @property
    def mean_burst(self) -> float:
        """How many packets a stay in the bad state lasts."""
        return PPB / self.r.ppb

    def __str__(self) -> str:
        return f"ge(p={self.p}, r={self.r}, bad={self.bad}, good={self.good})"


def _loss_ratio(value: object, key: str) -> Ratio:
    ratio = Ratio.parse(value, key=key)
    if ratio.ppb == PPB:
        raise InputError("100% loses every packet, so nothing could ever load", "Write less than 100%", key=key)
    return ratio


def _read_ge(inside: str, key: str) -> GilbertElliott:
    like = "Write ge(p=1%, r=10%) or ge(p=1%, r=10%, bad=100%, good=0%)"
    probabilities: dict[str, Ratio] = {}
    for part in inside.split(","):
        name, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals or name not in ("p", "r", "bad", "good"):
            raise InputError(f"{part.strip()!r} is not a parameter of ge(...)", like, key=key)
        if name in probabilities:
            raise InputError(f"{name} is given twice in ge(...)", like, key=key)
        probabilities[name] = Ratio.parse(text, key=key)
    for name, why in (("p", "no burst would ever begin"), ("r", "the first burst would never end")):
        if not probabilities.get(name):
            state = "0%" if name in probabilities else "missing"
            raise InputError(f"{name} of ge(...) is {state}: {why}", like, key=key)
    loss = GilbertElliott(**probabilities)
    if loss.bad.ppb == loss.good.ppb == PPB:
        raise InputError("ge(...) with bad=100% and good=100% loses every packet", like, key=key)
    return loss


LOSS = Kind("LOSS", "`0.1%`, `random(0.1%)`, `ge(p=1%, r=10%)`", lambda value, key: Loss.parse(value, key=key))


@dataclass(frozen=True, slots=True)
class PacketLoss(Impairment):
    SETTINGS: ClassVar = (Setting("loss", LOSS, "0%", "packets that are lost", "ge(p=1%, r=10%)", sides=DIRECTIONS),)
    loss: Loss

    def note(self) -> str:
        if isinstance(self.loss, GilbertElliott):
            return f"{self.loss.mean_loss:.3%} on average, bursts of {self.loss.mean_burst:.4g} packets"
        return ""

    def netem(self) -> list[Words]:
        loss = self.loss
        if isinstance(loss, GilbertElliott):
            # tc's words for the last two are 1-h and 1-k: the chance to be lost in the bad and in the good state
            text = f"loss gemodel {loss.p} {loss.r} {loss.bad} {loss.good}"
            return [
                Words(text, f"loses {loss.mean_loss:.3%} of packets, in bursts of {loss.mean_burst:.4g} on average")
            ]
        return [Words(f"loss random {loss}", f"loses {loss} of packets")] if loss.mean_loss else []

    @property
    def lost(self) -> float:
        return self.loss.mean_loss

    @property
    def bunched(self) -> float:
        """How many losses come together: so many times more packets tell as much."""
        return self.loss.mean_burst * 2 if isinstance(self.loss, GilbertElliott) else 1.0

    @property
    def chance(self) -> Chance | None:
        return Chance(self.lost, self.bunched) if self.lost else None

    def measure(self, way: Direction, name: str, arrivals: Arrivals) -> list[Result]:
        """Losses, also where none are asked for; with those that other impairments cause."""
        return [chance(f"loss {name}", way.mean_loss, arrivals.lost, arrivals.sent, bunched=self.bunched)]
