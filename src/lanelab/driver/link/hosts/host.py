"""Every setting of a host's TCP: a field each, with its row, its words and how it is read back. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NotRequired, TypedDict

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import FLAG, Kind, choice, count, whole_milliseconds
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.units import Duration, Size
from lanelab.driver.link.hosts.setting import OfKernel, OfRoute, difference, text_of
from lanelab.driver.link.impairments.impairment import Words
from lanelab.driver.link.kinds import HOSTS, MAX_WINDOW, MIN_WINDOW, NAME, packets_in_words
from lanelab.driver.link.link_values import WrittenLink

MINIMUM_RTO = Duration.parse("200ms")  # Linux' own
SHORTEST_RTO, LONGEST_RTO = Duration.parse("1ms"), Duration.parse("60s")
SMALLEST_WINDOW, LARGEST_WINDOW = Size.parse("8KiB"), Size.parse("64MB")
SMALLEST_BUFFER, FIRST_BUFFER = 4096, 131_072  # bytes: as kernels have them
FIRST_WINDOW_BYTES = 60_000  # that a kernel offers, at least, before it knows a connection
MOST_OFFERED = (1 << 16) - 1  # bytes, in a SYN or its answer: a first window has 16 bits
MOST_FIRST = MOST_OFFERED // 1460  # packets of so many bytes, of which Linux offers no more in any case
ECN = {"off": "0", "accept": "2", "ask": "1"}  # value -> what the kernel says
FORGETS = "net.ipv4.tcp_no_metrics_save"  # what connections learnt of the path
NO_PROBES, PROBES = ("0", "1", "2"), ("3", "4")  # values of tcp_early_retrans


def _window(value: object, key: str) -> Size | None:
    if str(value) == "kernel":
        return None
    size = Size.parse(value, key=key)
    if not SMALLEST_WINDOW <= size <= LARGEST_WINDOW:
        what = f"a receive window of {size} is of no use"
        raise InputError(what, f"Write {SMALLEST_WINDOW} to {LARGEST_WINDOW}, or kernel", key=key)
    return size


def _first_window(value: object, key: str) -> int | None:
    packets: int | None = None if str(value) == "kernel" else _FEW_PACKETS.parse(value, key)
    return packets


_PACKETS = count("PACKETS", "packets", MIN_WINDOW, MAX_WINDOW)
_FEW_PACKETS = count("PACKETS", "packets", MIN_WINDOW, MOST_FIRST)
_FIRST_WINDOW = Kind(
    "PACKETS",
    f"packets, {MIN_WINDOW} to {MOST_FIRST}; `kernel`",
    _first_window,
    {"anyOf": [{"const": "kernel"}, _FEW_PACKETS.schema]},
    numeric=True,
)
_RTO = whole_milliseconds(SHORTEST_RTO, LONGEST_RTO, "no kernel takes {time} for that", numeric=True)
_RECEIVE_WINDOW = Kind("SIZE", "`kB`, `MB`, `KiB`; `kernel`", _window, numeric=True)


def _buffer(size: Size | None) -> str | None:
    """Return the least, the first and the most of a connection's buffer."""
    return None if size is None else f"{SMALLEST_BUFFER} {min(FIRST_BUFFER, size.bytes)} {size.bytes}"


def _size(shown: str) -> Size | str:
    """The size that gives this buffer; a buffer that no size gives is shown as it is."""
    size = Size(int(shown.rsplit(maxsplit=1)[-1]))
    return size if _buffer(size) == shown else shown


def _route(**fields: Any) -> Mapping[str, OfRoute]:  # noqa: ANN401 - OfRoute's fields
    return {"setting": OfRoute(**fields)}


def _switch(row: Setting, name: str, on: tuple[str, ...], off: tuple[str, ...], means: str) -> Mapping[str, OfKernel]:
    """Return a setting of the kernel that is usually on. `on`, `off`: what the kernel says then, first what is
    written."""
    return {
        "setting": OfKernel(
            row, name, lambda value: on[0] if value else off[0], lambda shown: shown in on, lambda _: means, on[0]
        )
    }


def _row(name: str, kind: Kind, default: str, help_: str, example: str, *aliases: str) -> Setting:
    return Setting(name, kind, default, help_, example, sides=HOSTS, aliases=aliases)


@dataclass(frozen=True, slots=True)
class Host:
    # fmt: off
    congestion_control: str = field(metadata=_route(
        row=_row("congestion_control", NAME, "cubic", "TCP congestion control", "bbr", "cc"),
        word="congctl", shown_as="congestion", writes=str, reads=str,
        means=lambda name: f"uses {name}",
    ))
    initial_window: int = field(metadata=_route(
        row=_row("initial_window", _PACKETS, "10", "TCP initial congestion window", "3", "iw"),
        word="initcwnd", writes=str, reads=lambda shown: shown and int(shown),
        means=lambda packets: f"begins with {packets_in_words(packets)}",
    ))
    delayed_ack: bool = field(metadata=_route(
        row=_row("delayed_ack", FLAG, "true", "whether TCP acknowledges every second segment, or later, instead of "
                 "each one", "false", "quickack"),
        word="quickack", writes=lambda delays: None if delays else "1", reads=lambda shown: shown != "1",
        means=lambda _: "acknowledges each segment at once",
    ))
    timestamps: bool = field(metadata=_switch(
        _row("timestamps", FLAG, "true", "whether TCP offers timestamps. A connection has them where both hosts do",
             "false", "tcp_timestamps"),
        "net.ipv4.tcp_timestamps", ("1", "2"), ("0",), "offers no timestamps",
    ))
    tail_loss_probe: bool = field(metadata=_switch(
        _row("tail_loss_probe", FLAG, "true", "whether TCP sends its last segment again after two round trips without "
             "an answer, before the retransmission timeout", "false", "tlp"),
        "net.ipv4.tcp_early_retrans", PROBES, NO_PROBES,
        "waits for its retransmission timeout before it repeats a tail",
    ))
    ecn: str = field(metadata={"setting": OfKernel(
        _row("ecn", choice("NAME", *ECN), "accept", "whether TCP has its packets marked instead of dropped where a "
             "queue stands: `ask` for it, `accept` it where the other side asks, or neither", "ask", "tcp_ecn"),
        "net.ipv4.tcp_ecn", lambda word: ECN[word],
        lambda shown: next((word for word, value in ECN.items() if value == shown), shown),
        lambda word: f"{'asks for' if word == 'ask' else 'refuses'} marks instead of drops (ECN)", ECN["accept"],
    )})
    sack: bool = field(metadata=_switch(
        _row("sack", FLAG, "true", "whether TCP says which segments it has beyond a gap. A connection has it where "
             "both hosts do", "false", "tcp_sack"),
        "net.ipv4.tcp_sack", ("1",), ("0",), "does not say which segments it has beyond a gap",
    ))
    slow_start_after_idle: bool = field(metadata=_switch(
        _row("slow_start_after_idle", FLAG, "true", "whether TCP begins again with its initial window when it was idle "
             "for longer than its retransmission timeout", "false", "tcp_slow_start_after_idle", "ssai"),
        "net.ipv4.tcp_slow_start_after_idle", ("1",), ("0",), "keeps its congestion window when it was idle",
    ))
    saved_metrics: bool = field(metadata={"setting": OfKernel(
        _row("saved_metrics", FLAG, "false", "whether TCP remembers for later connections of the same page load what "
             "earlier ones learnt of the path. Between loads it has to forget, which only virtual machines and "
             "machines over ssh can", "true", "tcp_no_metrics_save"),
        FORGETS, lambda saves: "0" if saves else None, lambda shown: shown == "0",
        lambda _: "remembers what connections of the same page load learnt of the path",
    )})
    minimum_rto: Duration = field(metadata=_route(
        row=_row("minimum_rto", _RTO, str(MINIMUM_RTO), "how long TCP waits for an acknowledgement, at least, before "
                 "it sends again", "50ms", "rto_min", "rto"),
        word="rto_min", writes=lambda time: None if time == MINIMUM_RTO else f"{time.ns // 1_000_000}ms",
        reads=lambda shown: Duration(int(shown) * 1_000_000) if shown else MINIMUM_RTO,
        means=lambda time: f"waits {time} or more for an acknowledgement before it sends again",
    ))
    receive_window: Size | None = field(metadata={"setting": OfKernel(  # None: as the kernel has it
        _row("receive_window", _RECEIVE_WINDOW, "kernel", "how much TCP takes ahead of the program: the memory for it, "
             "of which it offers up to three quarters as its window", "64KiB", "rwnd", "receive_buffer", "tcp_rmem"),
        "net.ipv4.tcp_rmem", _buffer, _size, lambda size: f"takes up to {size} ahead of the program",
    )})
    initial_receive_window: int | None = field(metadata=_route(  # None: as the kernel has it
        row=_row("initial_receive_window", _FIRST_WINDOW, "kernel", "how many full segments TCP offers to take when a "
                 "connection begins: the most that the other side can send before it hears more. The kernel offers "
                 "about 64 KB", "4", "initrwnd", "irw"),
        word="initrwnd", writes=lambda packets: packets and str(packets), reads=lambda shown: shown and int(shown),
        means=lambda packets: f"offers to take {packets_in_words(packets)} when a connection begins",
    ))
    # fmt: on

    def texts(self) -> dict[str, str | None]:
        """Return each setting as a user would write it."""
        return {each.row.name: text_of(value) for each, value in self._values()}

    def route(self) -> Words:
        """Return what its routes say, and what that means."""
        route = ((each, value) for each, value in self._values() if isinstance(each, OfRoute))
        words = [words for each, value in route if (words := each.words(value))]
        *several, last = (each.meaning for each in words)
        return Words(" ".join(each.text for each in words), f"TCP on this route {', '.join(several)} and {last}")

    def kernel(self) -> list[Words]:
        """Return each `name=value` that is not as a new namespace has it."""
        kernel = ((each, value) for each, value in self._values() if isinstance(each, OfKernel))
        return [words for each, value in kernel if (words := each.words(value))]

    def first_window(self, segment_bytes: int) -> int:
        """Return how many full segments it takes, at least, before it knows a connection. A kernel offers half of its
        buffer, or more."""
        window = self.receive_window
        packets = min(FIRST_WINDOW_BYTES, window.bytes // 2 if window else FIRST_WINDOW_BYTES) // segment_bytes
        return min(packets, self.initial_receive_window or packets)

    def first_flight(self, receiver: "Host") -> int:
        """Return how many packets it sends at first at most. What the receiver offers to take may end a flight before
        its own window does: what is left of it comes a round trip later."""
        return min(self.initial_window, receiver.initial_receive_window or self.initial_window)

    def own_files(self) -> frozenset[str]:
        """Return what it decides of what kernels have of their own, as paths below /proc/sys."""
        return frozenset(
            each.name.replace(".", "/")
            for each, value in self._values()
            if isinstance(each, OfKernel) and not each.usual and each.writes(value) is not None
        )

    def route_differences(self, metrics: Mapping[str, str]) -> Iterator[str]:
        """Yield in what a route is not as it should be; `metrics` as `ip -j route show` names them."""
        for each, target in self._values():
            if isinstance(each, OfRoute) and (wrong := difference(each, each.shown(metrics), target)):
                yield wrong

    def kernel_differences(self, kernel: Mapping[str, str]) -> Iterator[str]:
        """Yield in what a kernel is not as it should be; `kernel` has each of USUAL_KERNEL and KERNELS_OWN."""
        for each, target in self._values():
            if isinstance(each, OfKernel) and each.writes(target) is not None:
                shown = " ".join(kernel.get(each.name, "").split())
                wrong = difference(each, each.reads(shown) if shown else "unknown", target)
                if wrong:
                    yield wrong

    def _values(self) -> Iterator[tuple[OfRoute | OfKernel, Any]]:
        return ((each.metadata["setting"], getattr(self, each.name)) for each in fields(self))


KINDS: tuple[OfRoute | OfKernel, ...] = tuple(each.metadata["setting"] for each in fields(Host))
HOST_SETTINGS = tuple(each.row for each in KINDS)
# The kernel's settings that every link decides, with the values of a new namespace; and those of kernels' own.
USUAL_KERNEL: Mapping[str, str] = {each.name: each.usual for each in KINDS if isinstance(each, OfKernel) and each.usual}
KERNELS_OWN = tuple(each.name for each in KINDS if isinstance(each, OfKernel) and not each.usual)


class Route(TypedDict):
    """A route in `ip -j route show`."""

    dst: str
    dev: NotRequired[str]
    metrics: NotRequired[Sequence[Mapping[str, object]]]


def shown_metrics(routes: Iterable[Route]) -> dict[str, str]:
    """Return what `ip -j route show` has of these routes, by name."""
    return {name: str(value) for each in routes for more in each.get("metrics", []) for name, value in more.items()}


def read_host(written: WrittenLink, side: str) -> Host:
    return Host(**{setting.name: written.value(setting.name, side) for setting in HOST_SETTINGS})
