"""One way through the router: a direction of the link, made from what the user wrote."""

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration, Rate, Ratio, Size
from lanelab.driver.link.bottleneck import MAX_HELD, NO_AQM, Aqm, Discipline, read_aqm, read_queue
from lanelab.driver.link.impairments import IMPAIRMENTS
from lanelab.driver.link.impairments.impairment import Chance, Impairment
from lanelab.driver.link.impairments.jitter import Jitter
from lanelab.driver.link.impairments.loss import Loss, PacketLoss
from lanelab.driver.link.kinds import DIRECTIONS, MAX_RATE
from lanelab.driver.link.link_values import WrittenLink
from lanelab.driver.link.moving import Outage, Radio, Trace

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
    rate_trace: Trace | None = None  # then `rate` is its mean
    delay_trace: Trace | None = None  # then `delay` is the least of it
    outage: Outage | None = None
    radio: Radio | None = None  # the link's: both directions have the same

    @property
    def rates(self) -> Trace | None:
        """The rates over time, where they change."""
        if self.outage and self.rate:
            return self.outage.trace(self.rate)
        return self.rate_trace

    @property
    def moves(self) -> bool:
        """Return whether anything changes over time."""
        return bool(self.rate_trace or self.delay_trace or self.outage or self.radio)

    @property
    def still(self) -> "Direction":
        """Return this direction as it is between trials: at its mean rate and its least delay."""
        return replace(self, rate_trace=None, delay_trace=None, outage=None, radio=None)

    @property
    def fastest(self) -> Rate | None:
        """The highest rate that there is at any time."""
        return Rate(self.rates.most) if self.rates else self.rate

    @property
    def later(self) -> Duration:
        """The most that what moves adds to the delay."""
        swing = (self.delay_trace.most - self.delay_trace.least) * 1000 if self.delay_trace else 0
        return Duration(swing + (self.radio.longest.ns if self.radio else 0))

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
        """Return whether some packets arrive without the delay."""
        return any(each.skips_delay for each in self.impairments)

    @property
    def chances(self) -> list[Chance]:
        """Return what happens to a packet by chance."""
        return [chance for each in self.impairments if (chance := each.chance)]

    @property
    def deviation_ms(self) -> float:
        """The standard deviation of the delay."""
        return float(sum(each.deviation_ms**2 for each in self.impairments) ** 0.5)

    def texts(self) -> dict[str, str | None]:
        """Return each setting as a user would write it; None where it means nothing."""
        return {
            "delay": str(self.delay),
            "rate": str(self.rate or "unlimited"),
            "queue": self.queue,
            "discipline": self.discipline if self.rate else None,
            **self.aqm.texts(),
            "rate_trace": str(self.rate_trace) if self.rate_trace else None,
            "delay_trace": str(self.delay_trace) if self.delay_trace else None,
            "outage": str(self.outage) if self.outage else None,
            **{name: text for each in self.impairments for name, text in each.texts().items()},
        }


class Delays(NamedTuple):
    """The delays of one direction: the usual one, and where distances differ the least and the most of them."""

    usual: Duration
    least: Duration
    most: Duration


def read_direction(written: WrittenLink, side: str, delays: Delays, rtt: Duration, mtu: int) -> Direction:
    rate, delay = written.value("rate", side), delays.most
    impairments = tuple(kind.read(written, side, delays.least) for kind in IMPAIRMENTS)
    if rate and rate.carries(delay) > MAX_HELD:
        what = f"{rate} over a delay of {delay} is {rate.carries(delay)} on its way, more than {MAX_HELD} in the router"
        raise InputError(what, "Write a lower rate or a shorter delay", key=written.key("rate", side))
    packets, held = read_queue(written, side, rtt, mtu)
    discipline: Discipline = written.value("discipline", side)
    aqm = read_aqm(written, side, discipline) if rate else NO_AQM
    still = Direction(delays.usual, rate, packets, held, discipline, aqm, impairments)
    return with_moving(still, written, side)


def with_moving(way: Direction, written: WrittenLink, side: str) -> Direction:
    """Return the direction with what changes over time. Settings that could not both hold are refused."""
    way = replace(
        way,
        rate_trace=written.value("rate_trace", side),
        delay_trace=written.value("delay_trace", side),
        outage=written.value("outage", side) if way.rate else None,
        radio=written.value("radio"),
    )
    key = written.key("rate_trace", side)
    if way.rate_trace and way.outage:
        remedy = "Write outages into the trace, as steps of rate 0, or leave the trace out"
        raise InputError("a trace of rates says itself when nothing passes", remedy, key=written.key("outage", side))
    if way.rates and way.rates.most > MAX_RATE.bps:
        raise InputError(f"its highest rate is above {MAX_RATE}", "Take another trace", key=key)
    if way.rate and way.moves and way.discipline == "cake":
        what = "cake keeps its rate by itself, and the queue of a link that moves may not"
        remedy = "Choose another discipline, as fq_codel"
        raise InputError(what, remedy, key=written.key("discipline", side))
    if (way.delay_trace or way.radio) and way.extra_delay:
        name = "delay_trace" if way.delay_trace else "radio"
        what = "jitter and reordering would hide the delays that change over time"
        raise InputError(what, "Leave them out, or write them into the trace", key=written.key(name, side))
    if way.fastest and way.fastest.carries(Duration(way.delay.ns + way.later.ns)) > MAX_HELD:
        what = f"{way.fastest} over a delay of {way.delay + way.later} is more than {MAX_HELD} in the router"
        raise InputError(what, "Take lower rates or shorter delays", key=key if way.rate_trace else "delay_trace")
    return way


def implied(written: WrittenLink, side: str) -> dict[str, Rate | Duration]:
    """Return what the traces of a direction say of `rate` and `delay`. Whoever writes these too has to write the
    same."""
    values: dict[str, Rate | Duration] = {}
    rates: Trace | None = written.value("rate_trace", side)
    delays: Trace | None = written.value("delay_trace", side)
    if rates:
        values["rate"] = Rate(rates.mean)
    if delays:
        values["delay"] = Duration(delays.least * 1000)
    for name, value in values.items():
        key = written.key(name, side)
        if key in written.values and written.values[key] != value:
            trace_key = written.key(f"{name}_trace", side)
            what = f"{key} and {trace_key} are both there, and the trace has {value}"
            raise InputError(what, _remedy_of_two(name, side, key, trace_key), key=key)
    return values


def _remedy_of_two(name: str, side: str, key: str, trace_key: str) -> str:
    """Where one of them is for both directions, it was most likely meant for the other one."""
    (other,) = (each for each in DIRECTIONS.words if each != side)
    one_side, traces_side = (each.endswith(f"_{side}") for each in (key, trace_key))
    if one_side and not traces_side:
        return f"{trace_key} is for both directions: write {name}_trace_{other}"
    if traces_side and not one_side:
        return f"{key} is for both directions: write {name}_{other}"
    return f"Leave one of the two out: {name} follows from the trace"
