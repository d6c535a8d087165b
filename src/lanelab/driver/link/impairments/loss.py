"""Packets that are lost: each by itself, or in bursts."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, near_miss
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.units import PPB, Ratio
from lanelab.driver.link.arrivals import losses
from lanelab.driver.link.impairments.impairment import Chance, Impairment, Way, Words
from lanelab.driver.link.kinds import DIRECTIONS
from lanelab.driver.link.results import Result, bursts, chance, not_measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanelab.driver.link.arrivals import Arrivals

NONE, ALL = Ratio(0), Ratio(PPB)
LONGEST_BURST = 1000  # packets on average
SELDOM = 500  # in parts per billion: the chance that a burst begins is held to a thousandth of itself
PARTS = ("rate", "burst")
_LIKE_BURSTS = "{rate: 1%, burst: 4}, or bursts(1%, 4)"


class Loss(ABC):
    """A way in which packets are lost: RandomLoss or GilbertElliott."""

    __slots__ = ()

    @property
    @abstractmethod
    def mean_loss(self) -> float:
        """The part of all packets that is lost in the long run."""

    @property
    @abstractmethod
    def followed(self) -> float:
        """The part of lost packets behind which the next one is lost too."""

    @property
    def bunched(self) -> float:
        """Return how much more the number of losses varies than if each packet were lost by itself (its variance)."""
        return 1.0

    @property
    def pairs_bunched(self) -> float:
        """Return the same ratio for the number of lost packets that are followed by another."""
        return 1.0

    @classmethod
    def parse(cls, value: object, *, key: str = "") -> "Loss":
        if isinstance(value, Loss):
            return value
        parts = _parts_in(value)
        if parts is not None:
            return _of_parts(parts, key)
        match = re.fullmatch(r"\s*([a-z]+)\s*\((.*)\)\s*", value, re.DOTALL) if isinstance(value, str) else None
        model, inside = match.groups() if match else ("random", value)
        if model not in _MODELS:
            remedy = "Write 0.1%, random(0.1%), bursts(1%, 4) or ge(p=1%, r=10%)"
            raise InputError(f"unknown loss model {model!r}", remedy, key=key)
        return _MODELS[model](inside, key)


@dataclass(frozen=True, slots=True)
class RandomLoss(Loss):
    """Every packet is lost with the same probability, whatever happened to the one before."""

    ratio: Ratio

    @property
    def mean_loss(self) -> float:
        return self.ratio.fraction

    @property
    def followed(self) -> float:
        return self.mean_loss

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
    def _chain(self) -> tuple[float, float, float, float, float]:
        """p, r, what is lost in the bad and in the good state, and the part of packets in the bad state."""
        p, r = self.p.fraction, self.r.fraction
        return p, r, self.bad.fraction, self.good.fraction, p / (p + r)

    @property
    def followed(self) -> float:
        p, r, bad, good, in_bad = self._chain
        behind_bad, behind_good = (1 - r) * bad + r * good, p * bad + (1 - p) * good
        return (in_bad * bad * behind_bad + (1 - in_bad) * good * behind_good) / self.mean_loss

    @property
    def bunched(self) -> float:
        """The sum of what the losses of two packets have in common: it fades with their distance by 1-p-r a packet."""
        p, r, bad, good, in_bad = self._chain
        fades = 1 - p - r
        alone = self.mean_loss * (1 - self.mean_loss)
        if not alone:
            return 1.0
        common = (bad - good) ** 2 * in_bad * (1 - in_bad) * fades / (1 - fades)
        return max(1.0, 1 + 2 * common / alone)

    @property
    def pairs_bunched(self) -> float:
        """1 where a burst loses every packet and nothing is lost between bursts: then each loss decides anew whether
        the next is lost. W is 1-c for a lost packet whose next is lost, -c for another lost one, 0 for one that
        arrives; this is the variance of its sum, over what it would be."""
        p, r, bad, good, in_bad = self._chain
        states, lost, after = (in_bad, 1 - in_bad), (bad, good), ((1 - r, r), (p, 1 - p))
        c, m = self.followed, self.mean_loss
        behind = [sum(after[s][t] * lost[t] for t in (0, 1)) for s in (0, 1)]
        two = c * m
        three = sum(states[s] * lost[s] * after[s][t] * lost[t] * behind[t] for s in (0, 1) for t in (0, 1))
        alone = c * m * (1 - c)
        if not alone:  # the next one never is lost, or always
            return 1.0
        beside = (1 - c) * three - c * (1 - c) * two
        # from the second neighbour on: what W tells of the next packet's state, and a state of its own W
        shared = sum(states[s] * lost[s] * after[s][0] * (lost[0] - c) for s in (0, 1))
        tells = lost[0] * (behind[0] - c) - lost[1] * (behind[1] - c)
        far = shared * tells * (1 - p - r) / (p + r)
        return max(1.0, (alone + 2 * beside + 2 * far) / alone)

    @property
    def mean_burst(self) -> float:
        """Return how many packets a stay in the bad state lasts."""
        return PPB / self.r.ppb

    def __str__(self) -> str:
        return f"ge(p={self.p}, r={self.r}, bad={self.bad}, good={self.good})"


@dataclass(frozen=True, slots=True)
class Bursts(GilbertElliott):
    """Losses in bursts by what comes of them, the mean loss and how many packets are lost one after the other on
    average. The bad state loses all, the good one none."""

    rate: Ratio = NONE
    burst: str = "1"  # packets, a decimal number in one form

    @classmethod
    def of(cls, rate: Ratio, burst: object, key: str) -> "Bursts":
        """Raises InputError where there is no such loss."""
        text = str(burst).strip()
        if isinstance(burst, bool) or not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,6})?", text):
            what = f"{text[:30]!r} is no length of a burst"
            raise InputError(what, f"Write packets, as in {_LIKE_BURSTS}", key=key)
        length = Fraction(text)
        if not 1 <= length <= LONGEST_BURST:
            what = f"a burst of {text} packets cannot be"
            raise InputError(what, f"Write 1 to {LONGEST_BURST}, the mean length of a burst", key=key)
        if not rate.ppb:
            raise InputError("bursts of which none is lost are no bursts", "Write 0%, or a rate above it", key=key)
        if rate.ppb == PPB or Fraction(rate.ppb, PPB - rate.ppb) > length:
            most = Ratio(int(PPB * length / (length + 1)))
            what = f"a loss of {rate} cannot come in bursts of {text}: at least one packet arrives between two bursts"
            raise InputError(what, f"Write longer bursts, or {most} at most", key=key)
        p = round(Fraction(rate.ppb, PPB - rate.ppb) / length * PPB)
        if p < SELDOM:
            what = f"a loss of {rate} in bursts of {text} begins too seldom to be emulated exactly"
            raise InputError(what, "Write a higher rate or shorter bursts", key=key)
        whole = text.rstrip("0").rstrip(".") if "." in text else text
        return cls(Ratio(p), Ratio(round(PPB / length)), ALL, NONE, rate, whole.lstrip("0"))

    def __str__(self) -> str:
        return f"bursts({self.rate}, {self.burst})"


def _read_bursts(inside: str, key: str) -> Bursts:
    rate, comma, burst = inside.partition(",")
    if not comma:
        raise InputError("bursts(...) has a rate and a length", f"Write {_LIKE_BURSTS}", key=key)
    return Bursts.of(_loss_ratio(rate.strip(), key), burst, key)


def _parts_in(value: object) -> Mapping[object, object] | None:
    """Return a mapping, also as a command line has it; None: the value is none."""
    if isinstance(value, Mapping):
        return value
    match = re.fullmatch(r"\s*\{(.*)\}\s*", value) if isinstance(value, str) else None
    if match is None:
        return None
    return {name.strip(): part.strip() for name, _, part in (each.partition(":") for each in match[1].split(","))}


def _of_parts(parts: Mapping[object, object], key: str) -> Bursts:
    names = {str(name): value for name, value in parts.items()}
    for name in names:
        if name not in PARTS:
            near = near_miss(name, PARTS)
            raise InputError(f"losses in bursts have no {name!r}", f"{near}Write {_LIKE_BURSTS}", key=key)
    for name in PARTS:
        if name not in names:
            raise InputError(f"losses in bursts lack their {name}", f"Write {_LIKE_BURSTS}", key=key)
    return Bursts.of(_loss_ratio(names["rate"], key), names["burst"], key)


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


_MODELS: Mapping[str, Callable[[Any, str], Loss]] = {
    "random": lambda inside, key: RandomLoss(_loss_ratio(inside, key)),
    "ge": _read_ge,
    "bursts": _read_bursts,
}
_PARTS_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"rate": {"type": "string"}, "burst": {"type": "number", "minimum": 1, "maximum": LONGEST_BURST}},
    "required": list(PARTS),
    "additionalProperties": False,
}
LOSS = Kind(
    "LOSS",
    "`0.1%`, `{rate: 1%, burst: 4}` or the same as `bursts(1%, 4)`, `ge(p=1%, r=10%)`",
    lambda value, key: Loss.parse(value, key=key),
    {"anyOf": [{"type": "string"}, _PARTS_SCHEMA]},
    numeric=True,  # those that are random
)


@dataclass(frozen=True, slots=True)
class PacketLoss(Impairment):
    SETTINGS: ClassVar = (
        Setting("loss", LOSS, "0%", "packets that are lost", "{rate: 1%, burst: 4}", sides=DIRECTIONS),
    )
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
        """Return how many losses come together: so many times more packets tell as much."""
        return self.loss.bunched

    @property
    def chance(self) -> Chance | None:
        return Chance(self.lost, self.bunched) if self.lost else None

    def measure(self, way: Way, name: str, trains: "Sequence[Arrivals]") -> list[Result]:
        """Return losses, also where none are asked for, with those that other impairments cause; and whether they come
        one by one or in bursts."""
        lost, sent = sum(train.lost for train in trains), sum(train.sent for train in trains)
        results = [chance(f"loss {name}", way.mean_loss, lost, sent, bunched=self.bunched)]
        if self.lost:
            results.append(self._bursts(f"loss bursts {name}", way, trains))
        return results

    def _bursts(self, name: str, way: Way, trains: "Sequence[Arrivals]") -> Result:
        others = way.mean_loss - self.lost  # of other impairments, each by itself
        share = self.loss.followed * self.lost / way.mean_loss + others
        dropped = sum(train.dropped_here for train in trains)
        if dropped:
            return not_measured(name, "packets", 1 / (1 - share), f"the receiver itself dropped {dropped} packets")
        return bursts(name, share, losses(trains), alone=way.mean_loss, bunched=self.loss.pairs_bunched)
