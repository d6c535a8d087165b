"""What tc has to show where a link is as it was asked for, in the words of `tc -j qdisc show`. Pure.

tc counts rates in bytes per second and cuts off what its clock of 64 ns cannot hold, so numbers are compared with a
little room.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import NotRequired, TypedDict

from lanelab.driver.base.units import PPB, Duration, Rate, Ratio
from lanelab.driver.link import Link
from lanelab.driver.link.shaping.distances import GROUPS
from lanelab.driver.link.shaping.shaping import shape
from lanelab.driver.record.evidence.settings import QueueSettings

ROOM, LEAST_ROOM = 0.002, 3e-6
TICKED, LONGEST_TICK_US = "tupdate", 10_000.0  # what pie keeps in ticks of its kernel, which are 10 ms at most
LEAST_ROOM_US = 2.0  # of numbers that are microseconds
Values = dict[str, float]


def asked_queues(link: Link, compensation: Duration) -> list[QueueSettings]:
    """Return the queueing disciplines that make this link."""
    lines = shape(link, compensation).router_tc
    return [_expected(line.split()) for line in lines if line.startswith("qdisc add") and not line.endswith("ingress")]


class Queue(TypedDict):
    """A queue in `tc -j qdisc show`."""

    dev: str
    kind: str
    handle: str
    options: NotRequired[Mapping[str, object] | None]


def shown_queues(shown: Sequence[Queue]) -> list[QueueSettings]:
    """Return those that tc shows, without what a device has by itself (handle 0:)."""
    return [
        QueueSettings(each["dev"], _known_as(each["kind"], each["handle"]), _numbers(each.get("options") or {}))
        for each in shown
        if each["handle"] != "0:" and each["kind"] != "ingress"
    ]


def _known_as(kind: str, handle: str) -> str:
    """Return a discipline's kind; where a device has several of a kind, one for each distance, with its handle."""
    return f"{kind} {handle}" if int(handle.rstrip(":"), 16) >= GROUPS else kind


def differences(expected: Sequence[QueueSettings], shown: Sequence[QueueSettings]) -> list[str]:
    """Return in what the router's queues are not what was asked for."""
    wanted = {(each.device, each.kind): each.values for each in expected}
    present = {(each.device, each.kind): each.values for each in shown}
    lines = [f"{device} lacks {kind}" for device, kind in sorted(wanted.keys() - present.keys())]
    lines += [f"{device} has {kind}, which nobody asked for" for device, kind in sorted(present.keys() - wanted.keys())]
    for key in sorted(wanted.keys() & present.keys()):
        values, have = wanted[key], present[key]
        for name in sorted({*values, *(name for name in have if name in IMPAIRMENTS)}):
            asked_for, shows = values.get(name, 0.0), have.get(name, 0.0)
            if not _alike(name, asked_for, shows):
                what, shows, asked_for = _in_words(key[1], name, have, values)
                lines.append(f"{what} of {key[1]} on {key[0]} is {shows:g} instead of {asked_for:g}")
    return lines


def _in_words(
    kind: str, name: str, shown: Mapping[str, float], expected: Mapping[str, float]
) -> tuple[str, float, float]:
    """Return what differs, and both numbers. Of a tbf, `tc` shows its limit as the time that so many bytes wait."""
    if (kind, name) == ("tbf", "lat"):
        return "limit (bytes)", round(_tbf_limit(shown), -1), round(_tbf_limit(expected), -1)
    return name, shown.get(name, 0.0), expected.get(name, 0.0)


def _tbf_limit(values: Mapping[str, float]) -> float:
    return values.get("lat", 0.0) / 1e6 * values.get("rate", 0.0) + values.get("burst", 0.0)


def _alike(name: str, expected: float, shown: float) -> bool:
    if name in COUNTS:
        return expected == shown
    if name == TICKED and expected <= shown < expected + LONGEST_TICK_US:
        return True  # the next whole tick
    return abs(expected - shown) <= max(LEAST_ROOM_US if name in MICROSECONDS else LEAST_ROOM, ROOM * expected)


def _numbers(options: Mapping[str, object]) -> Values:
    """Flatten nested numbers, without zeros: {"delay": {"delay": 0.01, "jitter": 0.002}} -> {"delay": 0.01,
    "delay.jitter": 0.002}."""
    values: Values = {}
    for name, value in options.items():
        group = NAMES.get(name, name)
        inner = value if isinstance(value, Mapping) else {group: value}
        for part, number in inner.items():
            if isinstance(number, int | float) and number:
                values[group if part == group else f"{group}.{part}"] = float(number)
    return values


# What tc calls a group of numbers -> the word by which it takes them.
NAMES = {"loss-random": "loss"}
IMPAIRMENTS = (
    "delay", "delay.jitter", "delay.correlation", "loss", "loss.correlation", "loss-gemodel.p", "loss-gemodel.r",
    "loss-gemodel.1-h", "loss-gemodel.1-k", "duplicate", "duplicate.correlation", "reorder", "reorder.correlation",
    "corrupt", "corrupt.corrupt", "rate",
)  # fmt: skip
COUNTS = ("bands", "limit", "flows", "quantum", "memlimit", "min", "max", "alpha", "beta", "ecn")
MICROSECONDS = ("lat", "burst", "target", "interval", "tupdate", "rtt")
MARKING = ("ecn", "noecn")


def _expected(words: Sequence[str]) -> QueueSettings:
    device = words[words.index("dev") + 1]
    after = words.index("handle") + 2
    kind, rest = words[after], list(words[after + 1 :])
    return QueueSettings(device, _known_as(kind, words[after - 1]), _READ[kind](rest))


def _netem(words: list[str]) -> Values:
    values: Values = {}
    while words:
        word = words.pop(0)
        if word == "loss" and words[0] == "gemodel":
            shares = [_share(text) for text in words[1:5]]
            del words[:5]
            values |= {
                f"loss-gemodel.{name}": share for name, share in zip(("p", "r", "1-h", "1-k"), shares, strict=True)
            }
        elif word == "loss":
            values["loss"] = _share(words[1])
            del words[:2]
        elif word == "delay":
            values |= dict(zip(("delay", "delay.jitter"), (_seconds(words.pop(0)), 0.0), strict=True))
            if words and words[0].endswith("us"):
                values["delay.jitter"] = _seconds(words.pop(0))
            if words and words[0].endswith("%"):
                values["delay.correlation"] = _share(words.pop(0))
        elif word == "distribution":
            words.pop(0)
        elif word in ("duplicate", "reorder"):
            values[word] = _share(words.pop(0))
        else:
            values[word] = _number(words.pop(0))
    return values


def _tbf(words: list[str]) -> Values:
    given = _pairs(words)
    return {
        "rate": given["rate"],
        "burst": given["burst"],
        "lat": (given["limit"] - given["burst"]) / given["rate"] * 1e6,
    }


def _managed(words: list[str]) -> Values:
    """Return a discipline that manages its queue: codel, fq_codel, pie."""
    return {**_pairs([word for word in words if word not in MARKING]), "ecn": float("ecn" in words)}


def _red(words: list[str]) -> Values:
    given = _pairs([word for word in words if word not in MARKING])
    return {**{name: given[name] for name in ("limit", "min", "max")}, "ecn": float("ecn" in words)}


def _cake(words: list[str]) -> Values:
    given = dict(itertools.pairwise(words))
    return {name: _number(given[name]) for name in ("bandwidth", "memlimit", "rtt")}


def _pfifo(words: list[str]) -> Values:
    return _pairs(words)


_READ: Mapping[str, Callable[[list[str]], Values]] = {
    "netem": _netem,
    "tbf": _tbf,
    "fq_codel": _managed,
    "codel": _managed,
    "pie": _managed,
    "red": _red,
    "cake": _cake,
    "pfifo": _pfifo,
    "bfifo": _pfifo,
    "prio": lambda words: {"bands": float(words[1])},
    "htb": lambda _: {},  # its class has the rate, which the player's steps and the self-test tell
}


def _pairs(words: Sequence[str]) -> Values:
    return {name: _number(value) for name, value in zip(words[::2], words[1::2], strict=True)}


def _number(text: str) -> float:
    if text.endswith("bit"):
        return Rate.parse(text).bps / 8
    if text.endswith(("us", "ms")):
        return _seconds(text) * 1e6
    return float(text.removesuffix("b"))


def _seconds(text: str) -> float:
    return Duration.parse(text).ns / 1e9


def _share(text: str) -> float:
    return Ratio.parse(text).ppb / PPB
