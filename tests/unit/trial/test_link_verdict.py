"""A trial on the right link counts, whatever the link does; one on another link is refused by name."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.link import LinkEvidence
from lanelab.driver.record.reasons import Flag, FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.emulation import emulation_error
from lanelab.driver.trial.packets.link_evidence import link_evidence
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.judges.link import LinkVerdict
from lanelab.driver.trial.page_load.link_rate import PUNCTUAL, caught_up_us, excess
from tests.kit.asked_trials import MACHINE
from tests.kit.records import record
from tests.kit.simulated_link import MS, Load

TRIAL = TrialRecord.from_json(record(Arm.parse("http", {})) | {"recordings": {"machine": MACHINE.to_json()}})
STARVED = (Flag(FlagName.ROUTER_WAITED, "for a third of the time"),)
DATA = Path(__file__).parents[2] / "data"
BASE = {"rtt": "20ms", "rate": "10mbit", "queue": "1000p"}


def verdict(load: Load, judged_as: Link, *, both: bool = True, flags: tuple[Flag, ...] = ()) -> LinkVerdict:
    assert TRIAL.page_load is not None
    server = load.server if both else None
    evidence = replace(
        TRIAL.page_load,
        link=link_evidence(load.client, server, judged_as),
        emulation=emulation_error(load.client, load.server, judged_as) if both else None,
    )
    return LinkVerdict(replace(TRIAL, flags=flags), evidence, judged_as)


def reasons(load: Load, judged_as: Link | None = None, *, both: bool = True) -> list[Reason]:
    found = list(verdict(load, judged_as or load.link, both=both).failures())
    assert len({each.reason for each in found}) == len(found)
    return [each.reason for each in found]


def link(**settings: str) -> Link:
    return Link.parse({**BASE, **settings})


RIGHT: tuple[Mapping[str, str], ...] = (
    {},
    {"rtt": "1ms", "rate": "100mbit"},
    {"rtt": "300ms", "rate": "5mbit"},
    {"rtt": "0ms"},
    {"rate_down": "8mbit", "rate_up": "384kbit"},
    {"rtt": "100ms", "rate": "1mbit", "queue": "30p"},
    {"rtt": "20ms", "rate": "500kbit"},  # a frame is on the link for longer than a round trip
    {"rtt": "40ms", "rate": "384kbit"},
    {"delay_down": "60ms", "delay_up": "10ms", "rtt": "70ms"},
    {"mtu": "576"},
    {"initial_window": "1"},
    {"initial_window": "40"},
    {"rtt": "100ms", "initial_window_server": "3"},
)


@pytest.mark.parametrize("settings", RIGHT, ids=str)
@pytest.mark.parametrize("both", [True, False])
def test_the_right_link_is_never_refused(settings: Mapping[str, str], both: bool) -> None:
    load = Load(link(**settings))
    assert reasons(load, both=both) == []
    assert list(verdict(load, load.link, both=both).flags()) == []


WRONG: tuple[tuple[Mapping[str, str], Mapping[str, str], tuple[Reason, ...]], ...] = (
    # made, judged as
    ({"rtt": "100ms"}, {"rtt": "20ms"}, (Reason.LINK_RTT, Reason.LINK_DELAY)),
    ({"rtt": "100ms"}, {"rtt": "150ms"}, (Reason.LINK_RTT, Reason.LINK_DELAY)),
    ({"rtt": "20ms"}, {"rtt": "35ms"}, (Reason.LINK_RTT, Reason.LINK_DELAY)),
    ({"rtt": "35ms"}, {"rtt": "20ms"}, (Reason.LINK_RTT, Reason.LINK_DELAY)),
    ({}, {"rate": "9.6mbit"}, (Reason.LINK_RATE,)),
    ({}, {"rate": "20mbit"}, (Reason.LINK_RATE,)),
    ({"rate": "9.6mbit"}, {}, (Reason.LINK_RATE,)),
    ({"rate": "5mbit"}, {}, (Reason.LINK_RATE,)),
    ({"mtu": "1400"}, {}, (Reason.LINK_MTU,)),
    ({}, {"mtu": "1400"}, (Reason.LINK_MTU,)),
    ({"initial_window": "20"}, {}, (Reason.INITIAL_WINDOW,)),
    ({"rtt": "100ms", "initial_window": "4"}, {"rtt": "100ms"}, (Reason.INITIAL_WINDOW,)),
    ({"rate_down": "1mbit", "rate_up": "8mbit"}, {"rate_down": "8mbit", "rate_up": "1mbit"}, (Reason.LINK_RATE,)),
)


@pytest.mark.parametrize(
    ("made", "judged_as", "found"),
    WRONG,
    ids=lambda value: " ".join(f"{each}" for each in (value.items() if isinstance(value, Mapping) else value)),
)
def test_another_link_is_refused_by_the_clients_capture_alone(
    made: Mapping[str, str], judged_as: Mapping[str, str], found: tuple[Reason, ...]
) -> None:
    load = Load(link(**made))
    assert set(reasons(load, link(**judged_as), both=False)) == set(found) - {Reason.LINK_DELAY}
    assert set(reasons(load, link(**judged_as))) >= set(found)


def test_a_delay_on_one_side_only_is_found_where_both_ends_are_captured() -> None:
    asked, made = link(rtt="40ms"), link(rtt="40ms", delay_down="40ms", delay_up="0ms")
    load = Load(made)
    assert reasons(load, asked, both=False) == []
    (failure,) = verdict(load, asked).failures()
    assert failure.reason == Reason.LINK_DELAY
    assert "to the client" in failure.detail
    assert "to the server" in failure.detail


def test_a_rate_up_that_is_too_high_shows_in_large_requests() -> None:
    asked, made = link(rate_up="200kbit"), link()
    assert reasons(Load(made, request=1200), asked, both=False) == [Reason.LINK_RATE]


def test_a_busy_machine_is_no_wrong_link() -> None:
    """Packets that are late by up to 30 ms, one after the other, but never all for long."""
    rng = random.Random(5)
    until, late = 0, 0

    def stalls(number: int, _up: bool) -> int:
        nonlocal until, late
        if number >= until:
            until, late = number + rng.randrange(5, 25), rng.choice((0, 0, 0, rng.randrange(30)))
        return late * MS

    load = Load(link(), late=stalls)
    found = verdict(load, load.link, flags=STARVED)
    assert list(found.failures()) == []
    assert FlagName.EMULATION_LATE in {flag.name for flag in found.flags()}
    assert set(reasons(load, link(rate="9mbit"))) == {Reason.LINK_RATE}


@pytest.mark.parametrize(("late_ms", "starved", "refused", "flagged"), [
    (1, False, False, False), (1, True, False, False),
    (3, False, True, True), (3, True, False, True),
    (20, False, True, False), (20, True, True, False),
])  # fmt: skip
def test_a_starved_machine_is_named(late_ms: int, starved: bool, refused: bool, flagged: bool) -> None:
    load = Load(link(), late=lambda _number, up: 0 if up else late_ms * MS)
    found = verdict(load, load.link, both=False, flags=STARVED if starved else ())
    failures = list(found.failures())
    assert [each.reason for each in failures] == [Reason.LINK_RTT] * refused
    assert all(("router-waited" in each.detail) == starved for each in failures)
    assert (FlagName.LINK_LATE in {flag.name for flag in found.flags()}) == flagged


def test_the_queue_of_cross_traffic_is_no_wrong_link_and_a_link_that_is_too_quick_is() -> None:
    crossed = link(rate="10mbit", cross="2 cubic down")
    late = Load(link(rate="10mbit"), late=lambda _number, up: 0 if up else 250 * MS)
    assert reasons(late)
    assert reasons(late, crossed) == []
    assert not list(verdict(late, crossed).flags())
    assert reasons(Load(link(rate="10mbit", rtt="10ms")), crossed)


def stalls(seed: int, mean_ms: float = 80, apart_ms: float = 160) -> list[tuple[int, int]]:
    """A router that has no processor for some time, now and then."""
    rng, at, found = random.Random(seed), 0.0, []
    while at < 5000:
        at += rng.expovariate(1 / apart_ms)
        length = rng.expovariate(1 / mean_ms)
        found.append((int(at * MS), int((at + length) * MS)))
        at += length
    return found


@pytest.mark.parametrize("rtt", ["20ms", "100ms"])
@pytest.mark.parametrize("seed", range(2))
def test_a_router_that_stood_still_and_caught_up_is_flagged_and_not_refused(rtt: str, seed: int) -> None:
    late, sizes = stalls(seed), (300_000,) * 6
    load = Load(link(rtt=rtt), sizes, apart_ns=60 * MS, stalls=late)
    found = verdict(load, load.link, both=False, flags=STARVED)
    assert list(found.failures()) == []
    unwatched = replace(found, record=replace(found.record, flags=(), recordings={}))
    refused = Reason.LINK_RATE in {failure.reason for failure in unwatched.failures()}
    assert not refused or FlagName.LINK_LATE in {flag.name for flag in found.flags()}
    for made in ("12mbit", "20mbit"):
        fast = Load(link(rtt=rtt, rate=made), sizes, apart_ns=60 * MS, stalls=late)
        for both in (False, True):
            wrong = verdict(fast, load.link, both=both, flags=STARVED)
            assert Reason.LINK_RATE in {failure.reason for failure in wrong.failures()}, (made, both)


def test_one_long_stall_needs_a_witness() -> None:
    load = Load(link(), stalls=[(300 * MS, 500 * MS)])
    starved, unwatched, calm = (
        verdict(load, load.link, both=both, flags=flags) for both, flags in ((True, STARVED), (True, ()), (False, ()))
    )
    assert list(starved.failures()) == []
    (flag,) = [each for each in starved.flags() if each.name == FlagName.LINK_LATE]
    assert "to the client, packets that were late came at once: " in flag.detail
    unwatched = replace(unwatched, record=replace(unwatched.record, recordings={}))
    for found in (unwatched, calm):
        assert [failure.reason for failure in found.failures()] == [Reason.LINK_RATE]


@pytest.mark.parametrize(("until_ms", "plt_ms", "refused"), [
    (500, 5000, False), (500, 3000, True), (700, 5000, True), (700, 9000, False), (1300, 9000, True),
])  # fmt: skip
def test_silences_excuse_a_small_share_of_a_load(until_ms: int, plt_ms: int, refused: bool) -> None:
    """Of a router that had no processor from 300 ms on, by the machine's flags."""
    load = Load(link(), stalls=[(300 * MS, until_ms * MS)])
    found = verdict(load, load.link, flags=STARVED)
    browser = found.evidence.browser
    assert browser is not None
    browser = replace(browser, times=replace(browser.times, plt_ms=float(plt_ms)))
    found = replace(found, evidence=replace(found.evidence, browser=browser))
    assert (Reason.LINK_RATE in {failure.reason for failure in found.failures()}) == refused


@pytest.mark.parametrize(("made", "refused"), [("20p", False), ("22p", False), ("40p", True), ("1000p", True)])
def test_a_queue_that_is_too_long_is_found_by_what_came_through_it(made: str, refused: bool) -> None:
    load = Load(link(queue=made), (400_000,) * 4)
    assert reasons(load, link(queue="20p")) == [Reason.LINK_QUEUE] * refused
    assert Reason.LINK_QUEUE not in reasons(load, link(queue="20p"), both=False)  # one end does not tell


def test_a_slow_server_excuses_no_link() -> None:
    """Only what the machine recorder saw does."""
    load = Load(link(), late=lambda _number, up: 0 if up else 3 * MS)
    slow = (Flag(FlagName.SERVER_SLOW, "an answer took 300 ms"), Flag(FlagName.EMULATION_LATE, "of another judgement"))
    (failure,) = verdict(load, load.link, both=False, flags=slow).failures()
    assert failure.reason == Reason.LINK_RTT
    assert "starved" not in failure.detail


def test_larger_frames_than_the_mtu_are_offloads() -> None:
    load = Load(link())
    stream = load.client.streams[0]
    stream.packets[-1] = stream.packets[-1]._replace(frame_bytes=4410)
    (failure,) = verdict(load, load.link, both=False).failures()
    assert failure.reason == Reason.LINK_MTU
    assert "4410" in failure.detail


def test_the_evidence_reads_back_as_it_was_written() -> None:
    load = Load(link())
    seen = link_evidence(load.client, load.server, load.link)
    assert LinkEvidence.from_json(seen.to_json()) == seen
    assert seen.window_down.least == 10
    assert seen.down.spacing == pytest.approx(800, rel=0.001)


def late_by_tens_of_us(seed: int) -> Callable[[int, bool], int]:
    """As a router of a busy machine sends: each packet a little late, by itself."""
    rng = random.Random(seed)
    return lambda _number, _up: int(rng.expovariate(1 / 90_000))


@pytest.mark.parametrize("rate", ["20mbit", "50mbit", "100mbit"])
def test_a_spacing_that_spreads_widely_refuses_no_right_link(rate: str) -> None:
    loads = [Load(link(rate=rate), late=late_by_tens_of_us(seed)) for seed in range(25)]
    assert [found for load in loads if (found := reasons(load, both=False))] == []


def test_a_rate_that_is_far_too_low_shows_for_all_that() -> None:
    for seed in range(25):
        load = Load(link(rate="17mbit"), late=late_by_tens_of_us(seed))
        assert reasons(load, link(rate="20mbit"), both=False) == [Reason.LINK_RATE], seed


def test_what_is_sent_again_counts_for_no_round_trip() -> None:
    """A lost SYN: the answer to the second one is no answer to the first."""
    lost_first = Load(link(), sizes=(50_000,), lost=lambda number, _up: number == 1)
    assert reasons(lost_first, both=False) == []


def test_a_capture_of_nothing_tells_nothing() -> None:
    seen = link_evidence(Timeline(), None, link())
    assert seen.round_trips == ()
    assert seen.down.frames == 0


def test_the_record_says_that_nothing_was_proven(tmp_path: Path) -> None:
    """With captures off there is no evidence of the link, and no failure."""
    assert tmp_path.is_dir()
    assert TRIAL.page_load is not None
    found = LinkVerdict(TRIAL, replace(TRIAL.page_load, link=None), link())
    assert list(found.failures()) == []
    assert list(found.flags()) == []


def test_a_real_load_on_a_starved_machine() -> None:
    """Beside eight other programs the router stood still for 64 and 27 ms; then 81 kB came in 12 ms."""
    seen = LinkEvidence.from_json(json.loads((DATA / "link_of_a_starved_load.json").read_text()))
    gained = excess(seen.down, 10_000_000, PUNCTUAL, 0)
    assert gained is not None
    size, took_us, early_us = gained
    assert size * 8 / 10 - took_us == pytest.approx(early_us)  # what is said of it adds up, at 10 bits per us
    assert TRIAL.page_load is not None
    found = LinkVerdict(replace(TRIAL, flags=STARVED), replace(TRIAL.page_load, link=seen), link())
    assert list(found.failures()) == []
    (flag,) = found.flags()
    assert flag.name == FlagName.LINK_LATE
    assert "to the client, packets that were late came at once: 69,068 bytes of frames took 13.6 ms" in flag.detail
    assert caught_up_us(seen.down, link().down, 1500) == 0  # no silence is needed to excuse it
    for rate in ("9.6mbit", "8mbit", "5mbit"):
        wrong = replace(found, link=link(rate=rate))
        assert Reason.LINK_RATE in {failure.reason for failure in wrong.failures()}, rate


@pytest.mark.parametrize(("took_us", "waited_s", "frames", "refused"), [
    (55_945, 0.016126, 2, False),  # as it was measured: the router waited for 13% of a load of two round trips
    (55_945, 0.002, 2, True),
    (65_000, 0.016126, 2, True),
    (55_945, 0.016126, 90, True),  # the quickest of many
])  # fmt: skip
def test_a_lone_round_trip_may_be_as_late_as_the_router_waited(
    took_us: int, waited_s: float, frames: int, refused: bool
) -> None:
    assert TRIAL.page_load is not None
    use = replace(MACHINE.machines[0], seconds=0.123292, wait_s={"router": waited_s})
    trial = replace(TRIAL, recordings={"machine": replace(MACHINE, machines=(use,))})
    seen = json.loads((DATA / "link_of_a_starved_load.json").read_text())
    alone = {"up_bytes": 74, "down_bytes": 74, "us": took_us}
    nothing = {"frames": frames, "blocks": [], "spacing": None, "spaced": 1, "silences": [], "spread": None, "full": 1}
    seen = LinkEvidence.from_json({**seen, "round_trips": [alone], "down": nothing, "up": None})
    found = LinkVerdict(trial, replace(TRIAL.page_load, link=seen, emulation=None), Link.parse({"rtt": "50ms"}))
    assert (Reason.LINK_RTT in {each.reason for each in found.failures()}) == refused


def test_what_comes_before_its_time_is_refused_on_any_machine() -> None:
    """1% too fast: too little for one capture on a starved machine, plain to those of both ends."""
    load = Load(link(), stalls=stalls(0))
    found = verdict(load, link(rate="9.9mbit"), flags=STARVED)
    (failure,) = found.failures()
    assert failure.reason == Reason.LINK_RATE
    assert "before the rate should have let them" in failure.detail
    assert list(verdict(load, link(), flags=STARVED).failures()) == []
    assert list(verdict(load, link(rate="9.9mbit"), both=False, flags=STARVED).failures()) == []
