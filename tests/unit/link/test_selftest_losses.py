"""Size and power of what a self-test says of losses, by simulation: with the packets that it sends, a right link passes
and one whose losses come in another pattern does not. Seeded; the tolerances are those of so many repetitions."""

import math
import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.link import GilbertElliott, Link
from lanelab.driver.link.arrivals import Arrivals, losses
from lanelab.driver.link.chances import ALPHA, likely
from lanelab.driver.link.impairments.loss import PacketLoss
from lanelab.driver.link.results import bursts
from lanelab.driver.link.selftest.plan import chance_train

REPEATED, WRONG_REPEATED = 200, 60
Lost = Callable[[random.Random, int], list[bool]]


def alone(share: float) -> Lost:
    """Each packet by itself."""
    return lambda rng, count: [rng.random() < share for _ in range(count)]


def in_threes(share: float, length: int = 3) -> Lost:
    """Bursts of one length, with so many lost in all."""

    def lost(rng: random.Random, count: int) -> list[bool]:
        made: list[bool] = []
        while len(made) < count:
            made += [True] * length if rng.random() < share / length / (1 - share) else [False]
        return made[:count]

    return lost


def gilbert(p: float, r: float, bad: float = 1.0, good: float = 0.0) -> Lost:
    """As netem does it: a packet is lost by the state that it finds, and then the state may change."""

    def lost(rng: random.Random, count: int) -> list[bool]:
        made, is_bad = [], rng.random() < p / (p + r)
        for _ in range(count):
            made.append(rng.random() < (bad if is_bad else good))
            is_bad = rng.random() >= r if is_bad else rng.random() < p
        return made

    return lost


def verdicts(link: Link, lost: Lost, rng: random.Random, *, thorough: bool = False) -> dict[str, str]:
    """What one attempt says."""
    train = chance_train(link.down, thorough=thorough)
    arrived = tuple((n, n, n) for n, is_lost in enumerate(lost(rng, train.count)) if not is_lost)
    trains = [Arrivals(train.count, arrived, 0)]
    return {r.name: r.verdict for each in link.down.impairments for r in each.measure(link.down, "down", trains)}


def most(share: float, repeated: int) -> int:
    """So many events or fewer come in all but one of 100,000 cases."""
    return round(likely(repeated, share, 2e-5)[1] * repeated)


RIGHT = [
    ("0.5%", alone(0.005)),
    ("2%", alone(0.02)),
    ("ge(p=1%, r=10%)", gilbert(0.01, 0.1)),
    ("ge(p=1%, r=10%, bad=50%)", gilbert(0.01, 0.1, 0.5)),
    ("ge(p=1%, r=30%, bad=80%, good=1%)", gilbert(0.01, 0.3, 0.8, 0.01)),
]
WRONG = [
    ("2%", in_threes(0.02, 10)),
    ("2%", in_threes(0.02, 2)),
    ("0.5%", in_threes(0.005, 2)),
    ("ge(p=1%, r=10%)", alone(1 / 11)),
    ("ge(p=1%, r=10%)", gilbert(0.02, 0.2)),
    ("ge(p=1%, r=10%, bad=50%)", alone(0.5 / 11)),
]


def link_with(loss: str) -> Link:
    return Link.parse({"rtt": "40ms", "rate": "10mbit", "loss": loss})


@pytest.mark.parametrize(("loss", "lost"), RIGHT, ids=[loss for loss, _ in RIGHT])
def test_a_right_link_is_refused_once_in_a_thousand_attempts_by_each_property(loss: str, lost: Lost) -> None:
    rng, link = random.Random(11), link_with(loss)
    found = [verdicts(link, lost, rng) for _ in range(REPEATED)]
    for name in ("loss down", "loss bursts down"):
        assert {each[name] for each in found} <= {"ok", "out"}
        assert sum(each[name] == "out" for each in found) <= most(2 * ALPHA, REPEATED)


@pytest.mark.parametrize(("loss", "lost"), WRONG, ids=range(len(WRONG)))
def test_a_link_whose_losses_come_otherwise_is_refused(loss: str, lost: Lost) -> None:
    """Though as many are lost as asked for."""
    rng, link = random.Random(12), link_with(loss)
    passed = sum("out" not in verdicts(link, lost, rng).values() for _ in range(WRONG_REPEATED))
    assert passed <= most(0.01, WRONG_REPEATED)


def test_with_ten_times_the_packets_nothing_passes() -> None:
    rng = random.Random(13)
    for loss, lost in WRONG[:1] + WRONG[3:4]:
        link = link_with(loss)
        assert all("out" in verdicts(link, lost, rng, thorough=True).values() for _ in range(5))


def test_too_few_losses_tell_nothing_of_bursts() -> None:
    one = bursts("bursts", 0.02, losses([train(100, {7})]), alone=0.02)
    assert (one.verdict, one.note) == ("not measured", "1 packet lost: two are needed at least")
    apart = bursts("bursts", 0.02, losses([train(100, {7, 60})]), alone=0.02)
    assert apart.verdict == "not measured"
    together = bursts("bursts", 0.02, losses([train(1000, {7, 8, 9, 300, 301, 302})]), alone=0.02)
    assert (together.verdict, round(together.achieved or 0, 6)) == ("out", 3)


def train(sent: int, lost: set[int], dropped_here: int = 0) -> Arrivals:
    return Arrivals(sent, tuple((n, n, n) for n in range(sent) if n not in lost), dropped_here)


def test_losses_are_read_run_by_run() -> None:
    assert losses([train(10, {0, 1, 4, 9})]) == (4, 3, 2)
    assert losses([train(10, set())]) == (0, 0, 0)
    assert losses([train(5, {1}), train(5, {1, 2, 3})]) == (4, 2, 3)
    assert losses([train(3, {0, 1, 2})]) == (3, 1, 3)


def test_bursts_of_one_are_told_from_losses_that_follow_each_other() -> None:
    way = link_with("bursts(20%, 1)").down

    def verdict(lost: set[int]) -> str:
        loss = way.impairment(PacketLoss)
        return next(one.verdict for one in loss.measure(way, "down", [train(2000, lost)]) if "bursts" in one.name)

    assert verdict(set(range(0, 2000, 5))) == "ok"
    rng = random.Random(4)
    assert verdict({each for each in range(2000) if rng.random() < 0.2}) == "out"


def test_what_the_receiver_itself_dropped_is_no_burst_of_the_link() -> None:
    way = link_with("2%").down
    results = {r.name: r for each in way.impairments for r in each.measure(way, "down", [train(2000, {1, 2, 3}, 3)])}
    assert results["loss bursts down"].verdict == "not measured"
    assert "the receiver itself dropped 3 packets" in results["loss bursts down"].note


@pytest.mark.parametrize(
    ("p", "r", "bad", "good"), [(0.01, 0.1, 1, 0), (0.05, 0.2, 0.5, 0), (0.02, 0.3, 0.8, 0.01), (0.7, 0.6, 1, 0)]
)
def test_a_models_moments_are_those_of_its_losses(p: float, r: float, bad: float, good: float) -> None:
    text = f"ge(p={p * 100:g}%, r={r * 100:g}%, bad={bad * 100:g}%, good={good * 100:g}%)"
    loss = GilbertElliott.parse(text)
    count, rng = 2000, random.Random(14)
    counts, followed = [], []
    for _ in range(150):
        found = gilbert(p, r, bad, good)(rng, count)
        counts.append(sum(found))
        followed.append(sum(a and b for a, b in pairwise(found)))
    mean = sum(counts) / 150
    assert mean / count == pytest.approx(loss.mean_loss, rel=0.08)
    assert sum(followed) / sum(counts) == pytest.approx(loss.followed, rel=0.05)
    variance = sum((each - mean) ** 2 for each in counts) / 149
    alone_variance = count * loss.mean_loss * (1 - loss.mean_loss)
    assert variance / alone_variance < loss.bunched * 1.5
    if loss.bunched > 1:
        assert variance / alone_variance > loss.bunched / 1.5


@given(st.integers(1, 400), st.floats(0.001, 0.999))
def test_what_is_likely_leaves_out_no_more_than_it_says(tries: int, share: float) -> None:
    low, high = likely(tries, share)
    chances = [math.comb(tries, k) * share**k * (1 - share) ** (tries - k) for k in range(tries + 1)]
    below, above = sum(chances[: round(low * tries)]), sum(chances[round(high * tries) + 1 :])
    assert below <= ALPHA / 2 * 1.0001
    assert above <= ALPHA / 2 * 1.0001
    assert below + chances[round(low * tries)] > ALPHA / 2 * 0.9999 or low == high
    assert above + chances[round(high * tries)] > ALPHA / 2 * 0.9999 or low == high
