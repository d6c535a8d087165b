"""The way there, where hosts are not equally far: a delay for each distance, and which packets it is for. Pure.

    prio ─┬─ netem: the usual delay
          └─ prio: a group of distances ─┬─ netem: a distance, for the packets of its network
                                         └─ netem …

`prio` asks one of its bands after the other for a packet, and does not mind one that has none to give yet: no distance
waits for another. (drr stops at the first class whose packet is still on its way: a near host was as slow as a far
one.) It has 16 bands at most, so there are groups. What band comes first makes no difference: there is no rate here.
"""

from collections.abc import Iterator, Sequence

from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import DISTANCES_OF_GROUP, distance_network, group_network
from lanelab.driver.link.impairments.impairment import Words

FEWEST_BANDS = 2
ALL_TO_FIRST = " ".join(["0"] * 16)
GROUPS = 0x100  # handles: of the first group; behind it those of its distances


def distance_lines(
    device: str, match: str, towards: str, usual: Words, far: Sequence[tuple[Duration, Words]]
) -> list[Words]:
    """Return whole `tc` lines. `usual` is the qdisc of hosts that have no distance of their own; `far` are the others'
    with the round trip. `match`: the address of the server in a packet, `src` or `dst`."""
    groups = [far[at : at + DISTANCES_OF_GROUP] for at in range(0, len(far), DISTANCES_OF_GROUP)]
    lines = [
        _prio(device, "root handle 1:", 1 + len(groups), "hosts are not equally far: a band for each group of them"),
        Words(f"qdisc add dev {device} parent 1:1 handle 2: {usual.text}", f"towards {towards}, {usual.meaning}"),
    ]
    for number, group in enumerate(groups):
        lines += _group(device, match, number, group)
    every = f"filter add dev {device} parent 1: protocol all pref 2 matchall flowid 1:1"
    return [*lines, Words(every, "every other packet has the usual delay")]


def _group(device: str, match: str, number: int, group: Sequence[tuple[Duration, Words]]) -> Iterator[Words]:
    handle, band = GROUPS * (number + 1), number + 2
    yield _prio(device, f"parent 1:{band:x} handle {handle:x}:", len(group), "a band for each distance")
    yield _filter(
        device, f"parent 1: protocol ip pref 1 u32 match ip {match} {group_network(number)} flowid 1:{band:x}"
    )
    for place, (trip, words) in enumerate(group, 1):
        network, flow = distance_network(number * DISTANCES_OF_GROUP + place - 1), f"{handle:x}:{place:x}"
        where = f"parent {flow} handle {handle + place:x}:"
        yield Words(f"qdisc add dev {device} {where} {words.text}", f"for hosts at {trip}, {words.meaning}")
        yield _filter(device, f"parent {handle:x}: protocol ip pref 1 u32 match ip {match} {network} flowid {flow}")


def _prio(device: str, where: str, bands: int, why: str) -> Words:
    text = f"qdisc add dev {device} {where} prio bands {max(bands, FEWEST_BANDS)} priomap {ALL_TO_FIRST}"
    return Words(text, why)


def _filter(device: str, text: str) -> Words:
    return Words(f"filter add dev {device} {text}", "the server's address tells how far it is")
