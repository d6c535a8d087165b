"""What a link decides of its hosts' kernels, beside what their routes carry: `net.ipv4.…`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lanelab.driver.base.units import Size
from lanelab.driver.link import Host
from lanelab.driver.link.impairments.impairment import Words

TIMESTAMPS, TAIL_LOSS_PROBE = "net.ipv4.tcp_timestamps", "net.ipv4.tcp_early_retrans"
ECN, SACK = "net.ipv4.tcp_ecn", "net.ipv4.tcp_sack"
SLOW_START_AFTER_IDLE = "net.ipv4.tcp_slow_start_after_idle"
# With the values of a new namespace. Everything else is the user's.
KERNEL: Mapping[str, str] = {
    TIMESTAMPS: "1", TAIL_LOSS_PROBE: "3", ECN: "2", SACK: "1", SLOW_START_AFTER_IDLE: "1",
}  # fmt: skip
# Not every kernel lets itself be told to forget, and each has buffers of its own: these are changed where a link asks
# for it, and put back behind it.
FORGETS, RECEIVE_BUFFER = "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_rmem"
KEPT = (FORGETS, RECEIVE_BUFFER)
# The field of evidence that has it -> the kernel's name.
TOLD: Mapping[str, str] = {
    "ecn": ECN, "sack": SACK, "slow_start_after_idle": SLOW_START_AFTER_IDLE, "forgets": FORGETS,
    "receive_buffer": RECEIVE_BUFFER,
}  # fmt: skip
ECN_VALUES = {"off": "0", "ask": "1", "accept": "2"}
PROBING = ("3", "4")  # values of tcp_early_retrans
SMALLEST_BUFFER, FIRST_BUFFER = 4096, 131_072  # bytes: as kernels have them


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What one file of the kernel is to say, and what that means."""

    name: str
    value: str
    meaning: str


def receive_buffer(size: Size) -> str:
    """The least, the first and the most of a connection's buffer."""
    return f"{SMALLEST_BUFFER} {min(FIRST_BUFFER, size.bytes)} {size.bytes}"


def kernel_lines(settings: Host) -> list[Words]:
    """What no route can carry and namespaces have of their own, where it is not as a new namespace has it."""
    return [Words(f"{each.name}={each.value}", each.meaning) for each in _wanted(settings)]


def _wanted(settings: Host) -> Iterator[_Wanted]:
    if not settings.timestamps:
        yield _Wanted(TIMESTAMPS, "0", "TCP offers no timestamps")
    if not settings.tail_loss_probe:
        yield _Wanted(TAIL_LOSS_PROBE, "0", "TCP waits for its retransmission timeout before it repeats a tail")
    if settings.ecn != "accept":
        does = "asks for marks instead of drops (ECN)" if settings.ecn == "ask" else "refuses marks instead of drops"
        yield _Wanted(ECN, ECN_VALUES[settings.ecn], f"TCP {does}")
    if not settings.sack:
        yield _Wanted(SACK, "0", "TCP does not say which segments it has beyond a gap")
    if not settings.slow_start_after_idle:
        yield _Wanted(SLOW_START_AFTER_IDLE, "0", "TCP keeps its congestion window when it was idle")
    if settings.saved_metrics:
        yield _Wanted(FORGETS, "0", "TCP remembers what connections of the same page load learnt of the path")
    if settings.receive_window is not None:
        value = receive_buffer(settings.receive_window)
        yield _Wanted(RECEIVE_BUFFER, value, f"TCP takes up to {settings.receive_window} ahead of the program")


def own_files(settings: Host) -> frozenset[str]:
    """What a link decides only where it is asked for it, as paths below /proc/sys."""
    return frozenset(each.name.replace(".", "/") for each in _wanted(settings) if each.name in KEPT)


def kernel_differences(asked: Host, found: Mapping[str, str]) -> Iterator[str]:
    """In what a kernel is not set to what a link says. `found`: each of KERNEL and KEPT."""
    told = {name: " ".join(value.split()) for name, value in found.items()}
    for what, wanted, is_on in (
        ("use of timestamps", asked.timestamps, told.get(TIMESTAMPS) != "0"),
        ("tail loss probe", asked.tail_loss_probe, told.get(TAIL_LOSS_PROBE) in PROBING),
        ("use of SACK", asked.sack, told.get(SACK) == "1"),
        ("slow start after idle", asked.slow_start_after_idle, told.get(SLOW_START_AFTER_IDLE) == "1"),
    ):
        if is_on != wanted:
            yield f"{what} is {_state(is_on)} instead of {_state(wanted)}"
    if told.get(ECN) != ECN_VALUES[asked.ecn]:
        is_ = next((word for word, value in ECN_VALUES.items() if value == told.get(ECN)), told.get(ECN))
        yield f"ecn is {is_} instead of {asked.ecn}"
    if asked.saved_metrics and told.get(FORGETS) != "0":
        yield "memory of earlier connections is off instead of on"
    if asked.receive_window is not None and told.get(RECEIVE_BUFFER) != receive_buffer(asked.receive_window):
        yield f"receive buffer is {told.get(RECEIVE_BUFFER)} instead of {receive_buffer(asked.receive_window)}"


def _state(is_on: bool) -> str:
    return "on" if is_on else "off"
