"""One way through the router: a direction of the link, made from what the user wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from model.errors import InputError
from model.link.bottleneck import MAX_HELD, NO_AQM, Aqm, Discipline, read_aqm, read_queue
from model.link.impairments import IMPAIRMENTS
from model.link.impairments.impairment import Chance, Impairment
from model.link.impairments.jitter import Jitter
from model.link.impairments.loss import Loss, PacketLoss
from model.link.written import WrittenLink
from model.units import Duration, Rate, Ratio, Size

Kind = TypeVar("Kind", bound=Impairment)


@dataclass(frozen=True, slots=True)
class Direction:
    """One way through the router. Where there is no rate there is no bottleneck, and no queue."""

    delay: Duration
    rate: Rate | None
    queue_packets: int | None
    queue_bytes: int | None
    discipline: Discipline
    aqm: Aqm
    impairments: tuple[Impairment, ...]  # one of each kind, in the order of IMPAIRMENTS

    @property
    def queue(self) -> str | None:
        """The queue as a user would write it."""
        if self.queue_packets is not None:
            return f"{self.queue_packets}p"
        return None if self.queue_bytes is None else str(Size(self.queue_bytes))

    def impairment(self, kind: type[Kind]) -> Kind:
        return next(each for each in self.impairments if isinstance(each, kind))

    @property
    def loss(self) -> Loss:
        return self.impairment(PacketLoss).loss

    @property
    def jitter(self) -> Duration:
        return self.impairment(Jitter).jitter

    @property
    def jitter_reorders(self) -> bool:
        return self.impairment(Jitter).jitter_reorders

    @property
    def mean_loss(self) -> float:
        """The part of all packets that is lost in the long run."""
        return sum(each.lost for each in self.impairments)

    @property
    def copies(self) -> Ratio:
        """The packets that are sent once more."""
        return Ratio(sum(each.copies.ppb for each in self.impairments))

    @property
    def extra_delay(self) -> Duration:
        """The most by which a packet is later, or earlier, than the delay."""
        return Duration(sum(each.extra_delay.ns for each in self.impairments))

    @property
    def skips_delay(self) -> bool:
        """Whether some packets arrive without the delay."""
        return any(each.skips_delay for each in self.impairments)

    @property
    def chances(self) -> list[Chance]:
        """What happens to a packet by chance."""
        return [chance for each in self.impairments if (chance := each.chance)]

    @property
    def deviation_ms(self) -> float:
        """The standard deviation of the delay."""
        return float(sum(each.deviation_ms**2 for each in self.impairments) ** 0.5)

    def texts(self) -> dict[str, str | None]:
        """Each setting as a user would write it; None where it means nothing."""
        return {
            "delay": str(self.delay),
            "rate": str(self.rate or "unlimited"),
            "queue": self.queue,
            "discipline": self.discipline if self.rate else None,
            **self.aqm.texts(),
            **{name: text for each in self.impairments for name, text in each.texts().items()},
        }


def read_direction(written: WrittenLink, side: str, delay: Duration, rtt: Duration, mtu: int) -> Direction:
    rate = written.value("rate", side)
    impairments = tuple(kind.read(written, side, delay) for kind in IMPAIRMENTS)
    if rate and rate.carries(delay) > MAX_HELD:
        what = f"{rate} over a delay of {delay} is {rate.carries(delay)} on its way, more than {MAX_HELD} in the router"
        raise InputError(what, "Write a lower rate or a shorter delay", key=written.key("rate", side))
    packets, held = read_queue(written, side, rtt, mtu)
    discipline: Discipline = written.value("discipline", side)
    aqm = read_aqm(written, side, discipline) if rate else NO_AQM
    return Direction(delay, rate, packets, held, discipline, aqm, impairments)
