"""The error of the emulation, and losses: on links that are simulated packet by packet, so that both are known."""

import random
from collections.abc import Collection, Mapping, Sequence

import pytest

from lanelab.driver.link import Link
from lanelab.driver.trial.packets.crossing import Crossing, Passage
from lanelab.driver.trial.packets.emulation import emulation_error, queue_drops, runs_lost
from lanelab.driver.trial.packets.link_evidence import link_evidence
from lanelab.driver.trial.packets.losses import losses_down
from lanelab.driver.trial.packets.timeline import ACK, Packet, Stream, Timeline
from tests.kit.simulated_link import MS, Load

BASE = {"rtt": "20ms", "rate": "10mbit", "queue": "1000p"}


def link(**settings: str) -> Link:
    return Link.parse({**BASE, **settings})


@pytest.mark.parametrize("settings", [
    {}, {"rate": "1mbit"}, {"rate": "100mbit", "rtt": "1ms"}, {"queue": "20p"}, {"queue": "5p", "rate": "2mbit"},
    {"rate_down": "8mbit", "rate_up": "100kbit"}, {"delay_down": "90ms", "delay_up": "5ms", "rtt": "95ms"},
], ids=str)  # fmt: skip
def test_a_perfect_link_has_no_error(settings: Mapping[str, str]) -> None:
    """With drops of the queue too: what it drops never was in it."""
    load = Load(link(**settings))
    error = emulation_error(load.client, load.server, load.link)
    assert (error.median_ms, error.worst_99_ms) == (0, 0)
    assert (error.down.idle_ms, error.up.idle_ms) == (0, 0)
    assert load.dropped[False] * 0.95 <= error.down.lost <= load.dropped[False]  # the last may be under way
    assert error.up.lost == load.dropped[True] == 0
    assert error.down.overflowed == error.down.lost
    assert error.down.strange == error.up.strange == error.down.passed_full == 0
    assert error.down.packets > 500
    assert (load.dropped[False] > 0) == (settings.get("queue") is not None)


def test_what_is_late_is_the_error() -> None:
    """Each tenth packet down by 7 ms, all up by 1 ms."""
    load = Load(link(rate="100mbit"), late=lambda number, up: 1 * MS if up else 7 * MS * (number % 10 == 0))
    error = emulation_error(load.client, load.server, load.link)
    assert error.up.median_ms == pytest.approx(1, abs=0.01)
    assert error.up.idle_ms == pytest.approx(1, abs=0.01)
    assert error.down.idle_ms == 0
    assert error.down.worst_99_ms == pytest.approx(7, abs=0.2)
    assert error.worst_99_ms == pytest.approx(7, abs=0.2)


def test_another_queue_shows_as_drops_that_should_not_be() -> None:
    load = Load(link(), made=link(queue="20p"))
    error = emulation_error(load.client, load.server, load.link)
    assert error.down.lost > 900
    assert error.down.overflowed < 0.2 * error.down.lost  # what it takes for lost behind the queue fills it in the end
    load = Load(link(queue="20p"), made=link(queue="1000p"))
    assert emulation_error(load.client, load.server, load.link).down.passed_full > 20


def test_what_is_not_modelled_is_not_told() -> None:
    load = Load(link())
    error = emulation_error(load.client, load.server, link(discipline="fq_codel"))
    assert error.median_ms is None
    assert error.down.worst_99_ms is None
    assert error.not_told is not None
    assert "fq_codel" in error.not_told


def test_the_end_of_a_capture_is_no_loss() -> None:
    load = Load(link(), sizes=(300_000,))
    for stream in load.client.streams:
        del stream.packets[-9:]  # the client's capture ended before the server's
    assert emulation_error(load.client, load.server, load.link).down.lost == 0


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("both", [True, False])
def test_losses_are_counted(share: float, both: bool) -> None:
    rng = random.Random(11)
    thrown = {True: 0, False: 0}

    def lost(_number: int, up: bool) -> bool:
        away = rng.random() < share
        thrown[up] += away
        return away

    load = Load(link(), sizes=(900_000, 900_000), lost=lost)
    seen = link_evidence(load.client, load.server if both else None, load.link)
    if both:
        assert 0.8 * thrown[False] <= seen.losses_down.lost <= thrown[False]  # the last may be under way
        assert 0.8 * thrown[True] <= seen.losses_up.lost <= thrown[True]
    else:  # what is lost again when it is sent again, and the last of an answer, does not show
        assert seen.losses_down.told == pytest.approx(1_800_000 / 1448, rel=0.02)
        assert seen.losses_down.lost == pytest.approx(share * seen.losses_down.told, rel=0.35, abs=1)
    assert seen.losses_down.overflowed == 0 or not both  # for the client alone it may have been full


def in_a_row(sizes: Sequence[int], lost: Collection[int], again: Mapping[int, Sequence[int]]) -> Timeline:
    """A server's packets of these sizes, a millisecond apart, as its client saw them. `again`: of each that was lost
    the sizes in which it came later."""
    starts = [1 + sum(sizes[:number]) for number in range(len(sizes))]
    came = [(number, starts[number], size) for number, size in enumerate(sizes) if number not in lost]
    late = 100
    for number, pieces in again.items():
        for place, size in enumerate(pieces):
            came.append((late, starts[number] + sum(pieces[:place]), size))
            late += 1
    packets = [
        Packet(number, at * MS, False, 66 + size, seq, 1, size, ACK, 500, number, (at, 0), None, sacks=False)
        for number, (at, seq, size) in enumerate(came, 1)
    ]
    return Timeline([Stream(("10.10.1.2", 40_000), ("10.10.2.2", 443), packets)], [])


@pytest.mark.parametrize(
    ("sizes", "lost"),
    [((1448, 1448, 300, 200, 1448), (2, 3)), ((1448, 300, 1448, 300, 1448), (1, 2, 3)), ((1448,) * 5, (1, 2, 3))],
)
def test_short_packets_that_are_lost_together_count_one_by_one(sizes: Sequence[int], lost: Collection[int]) -> None:
    """As the ends of answers over one connection are. Bytes alone would tell fewer."""
    client = in_a_row(sizes, lost, {number: [sizes[number]] for number in lost})
    seen = losses_down(client, link(), lambda _: 20 * MS)
    assert (seen.told, seen.lost) == (len(sizes) - 1, len(lost))


def test_of_a_gap_that_is_never_filled_its_bytes_tell() -> None:
    seen = losses_down(in_a_row((1448,) * 6, (1, 2), {}), link(), lambda _: 20 * MS)
    assert seen.lost == 2


def test_what_comes_again_twice_was_lost_once() -> None:
    client = in_a_row((1448,) * 4, (1,), {1: [1448]})
    packets = client.streams[0].packets
    packets.append(packets[-1]._replace(number=99, at_ns=packets[-1].at_ns + MS, ip_id=99))
    assert losses_down(client, link(), lambda _: 20 * MS).lost == 1


@pytest.mark.parametrize(
    ("lost", "runs"), [((), 0), ((4,), 1), ((4, 5, 6), 1), ((0, 2, 4), 3), ((0, 1, 7, 8, 90), 3), ((5, 98, 99), 1)]
)
def test_losses_are_counted_in_runs(lost: tuple[int, ...], runs: int) -> None:
    """What became of the last packets nobody knows: the capture ended."""
    wait = 5 * MS
    passages = [Passage(n * wait, None if n in lost else n * wait + 20 * MS, 1514) for n in range(100)]
    crossed = Crossing(passages, 0, 97 * wait + 100 * MS)
    assert runs_lost(crossed, link(), up=False) == runs


PASSED = Link.parse({**BASE, "reorder": "1%"}), Link.parse({**BASE, "jitter": "2ms", "jitter_reorders": "true"})


@pytest.mark.parametrize("lost_of_ten", [1, 3])
def test_a_short_load_loses_as_many_as_a_long_one(lost_of_ten: int) -> None:
    """All of it is within the last moments of its capture. Each tenth packet is lost, or three of ten."""
    passages = [
        Passage(n * 2 * MS, None if n % 10 < lost_of_ten else n * 2 * MS + 12 * MS, 1000) for n in range(41, 90)
    ]
    last = passages[-1].arrived_ns
    assert last is not None
    seen = queue_drops(Crossing(passages, 0, last), link(), up=False)
    assert (seen.told, seen.lost) == (48, sum(each.arrived_ns is None for each in passages))
    assert seen.overflowed == 0


@pytest.mark.parametrize("asked", [*PASSED, link(discipline="fq_codel")], ids=["reorder", "jitter", "fq_codel"])
def test_where_packets_pass_each_other_a_later_one_proves_no_loss(asked: Link) -> None:
    """Then only what should have come long before the end tells, whether it came or not."""
    passages = [Passage(n * 5 * MS, None if n % 5 == 2 else n * 5 * MS + 11 * MS, 1000) for n in range(60)]
    seen = queue_drops(Crossing(passages, 0, 59 * 5 * MS + 11 * MS), asked, up=False)
    # The delay is 10 ms, so 40 left early enough: from 0 to 195 ms.
    assert (seen.told, seen.lost) == (40, 8)


def test_what_nothing_followed_tells_no_loss() -> None:
    passages = [Passage(n * MS, n * MS + 11 * MS if n < 30 else None, 1000) for n in range(40)]
    seen = queue_drops(Crossing(passages, 0, 29 * MS + 11 * MS), link(), up=False)
    assert (seen.told, seen.lost) == (29, 0)


def test_drops_of_a_full_queue_are_known_by_the_client_alone() -> None:
    load = Load(link(queue="20p"), sizes=(600_000, 600_000))
    seen = link_evidence(load.client, None, load.link)
    assert seen.losses_down.lost > 10
    assert seen.losses_down.overflowed == seen.losses_down.lost
    assert seen.losses_up.lost == 0
