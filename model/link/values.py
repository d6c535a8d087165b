"""Values made of several: how packets are lost, and how much may wait."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from model.errors import InputError
from model.units import LONGEST, NS_PER_S, PPB, Duration, Rate, Ratio, Size

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


@dataclass(frozen=True, slots=True)
class Queue:
    """How much may wait before the bottleneck, as written; a Direction holds what it comes to."""

    amount: Fraction
    unit: Literal["packets", "bytes", "seconds", "bdp"]

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> Queue:
        like = "Write packets (100p), bytes (64kB), time (50ms) or a multiple of the bandwidth-delay product (1.5bdp)"
        if isinstance(value, Queue):
            return value
        text = str(value).strip()
        match = _QUEUE.fullmatch(text) if len(text) <= LONGEST else None
        number, unit = (Fraction(match["number"]), (match["unit"] or "").lower()) if match else (Fraction(1), "bytes")
        if number == 0:
            raise InputError("a queue of zero drops every packet that has to wait", like, key=key)
        if unit in ("p", "packet", "packets"):
            if number.denominator != 1:
                raise InputError(f"{text} is not a whole number of packets", like, key=key)
            return cls(number, "packets")
        if unit == "bdp":
            return cls(number, "bdp")
        if unit in ("ns", "us", "µs", "μs", "ms", "s"):
            return cls(Fraction(Duration.parse(text, key=key).ns, NS_PER_S), "seconds")
        if not unit:
            raise InputError(f"{text} has no unit", like, key=key)
        return cls(Fraction(Size.parse(value, key=key).bytes), "bytes")

    def resolve(self, rate: Rate, rtt: Duration) -> tuple[int | None, int | None]:
        """Packets or bytes: exactly one of the two."""
        if self.unit == "packets":
            return int(self.amount), None
        factor = {
            "bytes": Fraction(1),
            "seconds": Fraction(rate.bps, 8),
            "bdp": Fraction(rate.bps * rtt.ns, 8 * NS_PER_S),
        }[self.unit]
        return None, math.ceil(self.amount * factor)


_QUEUE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(?P<unit>[a-zµμ]+)?", re.IGNORECASE)
