"""By its own capture a trial shows how far each host was: what is right counts, what is not is named."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.link import LinkEvidence
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.emulation import emulation_error
from lanelab.driver.trial.packets.link_evidence import frames_of, link_evidence, trips_by_address
from lanelab.driver.trial.packets.timeline import Timeline
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.distances import JUDGE, Distances
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.judges.link import LinkVerdict
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.asked_trials import MACHINE
from tests.kit.records import SITE, record, request
from tests.kit.simulated_link import MS, Load
from tests.unit.trial.test_link_verdict import TRIAL

HOSTS = ("www.test", "cdn.test", "far.test")
BASE = {"rtt": "10ms", "rate": "10mbit", "queue": "1000p"}


def link(distances: str = "{cdn.test: 20ms, far.test: 200ms, default: 80ms}", **settings: str) -> Link:
    return Link.parse({**BASE, "distances": distances, **settings})


def addresses(asked: Link) -> dict[str, str]:
    return origin_addresses(HOSTS, "per-origin", asked.distance_to)


def load(asked: Link, made: Link | None = None, **options: object) -> Load:
    return Load(asked, servers=tuple(addresses(asked).values()), made=made, **options)  # type: ignore[arg-type]


def wrong(one: Load, *, punctual: bool = True, at: Mapping[str, str] | None = None) -> list[str]:
    return list(Distances(one.link, one.client, punctual).wrong(addresses(one.link) if at is None else at))


def failures(one: Load) -> list[Reason]:
    assert TRIAL.page_load is not None
    evidence = replace(
        TRIAL.page_load,
        link=link_evidence(one.client, one.server, one.link),
        emulation=emulation_error(one.client, one.server, one.link),
    )
    return [each.reason for each in LinkVerdict(TRIAL, evidence, one.link).failures()]


RIGHT: tuple[Mapping[str, str], ...] = (
    {},
    {"rate": "1mbit"},
    {"rate": "50mbit", "queue": "200p"},
    {"rate_down": "8mbit", "rate_up": "384kbit"},
    {"rate": "2mbit", "queue": "60p"},
)


@pytest.mark.parametrize("settings", RIGHT, ids=str)
def test_a_load_from_hosts_at_their_distances_counts(settings: Mapping[str, str]) -> None:
    one = load(link(**settings))
    assert wrong(one) == []
    assert failures(one) == []


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ("{cdn.test: 20ms, far.test: 190ms, default: 80ms}", "far.test answered 9.9 ms sooner than 200ms away"),
        ("{cdn.test: 20ms, far.test: 210ms, default: 80ms}", "no answer of far.test was less than"),
        ("{cdn.test: 24ms, far.test: 200ms, default: 80ms}", "no answer of cdn.test was less than"),
        ("{cdn.test: 20ms, far.test: 200ms, default: 90ms}", "no answer of www.test was less than"),
        ("{cdn.test: 20ms, far.test: 200ms, default: 70ms}", "www.test answered"),
    ],
)
def test_a_host_at_another_distance_is_named(made: str, says: str) -> None:
    told = wrong(load(link(), link(made), apart_ns=300 * MS))
    assert len(told) == 1
    assert says in told[0]


def test_hosts_at_each_others_addresses_are_named() -> None:
    """The router goes by addresses alone: whoever took another one was at another distance."""
    asked = link()
    www, near, far = addresses(asked).values()
    one = Load(asked, servers=(www, near, near))
    assert wrong(one) == [f"nothing in the capture tells how far far.test ({far}) was"]


def test_a_host_without_a_packet_is_named() -> None:
    one = load(link())
    one.client.streams.pop()
    assert wrong(one) == ["nothing in the capture tells how far far.test (10.10.33.1) was"]
    assert len(wrong(Load(link(), servers=["10.10.2.2"] * 3))) == 3
    assert len(list(Distances(link(), Timeline(), True).wrong(addresses(link())))) == 3


def test_on_a_machine_that_was_starved_more_may_be_late() -> None:
    one = load(link(), link("{cdn.test: 24ms, far.test: 200ms, default: 80ms}"), apart_ns=300 * MS)
    assert wrong(one)
    assert wrong(one, punctual=False) == []


def test_a_host_whose_packets_all_met_a_queue_may_be_as_late_as_that_is_long() -> None:
    """The far host is asked while the others fill the queue; it is never sooner than it can be."""
    asked = link("{far.test: 30ms, default: 20ms}", rate="1mbit", queue="100p")
    one = load(asked, sizes=(400_000, 400_000, 3_000), apart_ns=500 * MS)
    assert wrong(one) == []
    near = load(asked, link("{far.test: 20ms, default: 20ms}", rate="1mbit", queue="100p"), sizes=(3_000,) * 3)
    assert wrong(near)


def test_rates_are_judged_as_if_all_hosts_were_equally_far() -> None:
    """What hosts send at different times may come at once: the bottleneck is before the delays."""
    one = load(link(rate="4mbit"))
    frames = frames_of(one.client, up=False, link=one.link)
    assert _least_space_ns(frames) >= 1400 * 8 * 1000 // 4
    assert _least_space_ns(frames_of(one.client, up=False)) < 1400 * 8 * 1000 // 4
    assert link_evidence(one.client, one.server, one.link).down.frames == len(frames)
    assert failures(load(link(rate="4mbit"), link(rate="5mbit"))) != []


def _least_space_ns(frames: list[tuple[int, int]]) -> int:
    """Return the shortest time from any frame to a full one."""
    return min(after - before for (before, _), (after, size) in pairwise(frames) if size > 1400)


def test_each_packet_is_compared_with_the_distance_of_its_host() -> None:
    one = load(link())
    error = emulation_error(one.client, one.server, one.link)
    assert error.median_ms == pytest.approx(0, abs=0.001)
    assert error.worst_99_ms == pytest.approx(0, abs=0.001)
    other = emulation_error(one.client, one.server, one.link.usual)
    assert other.worst_99_ms is not None
    assert other.worst_99_ms > 50


def test_windows_are_told_by_each_connections_own_round_trip() -> None:
    seen: LinkEvidence = link_evidence(*_ends(load(link())), link())
    assert seen.window_down.least <= 10
    assert seen.window_down.connections == 3
    smaller = load(link(), window=4)
    assert link_evidence(smaller.client, None, smaller.link).window_down.stopped == 4


def test_round_trips_are_known_by_address() -> None:
    one = load(link(rate="100mbit"))
    quickest = {
        address: min(trip.took_ns for trip in trips) // MS for address, trips in trips_by_address(one.client).items()
    }
    assert quickest == {"10.10.16.1": 80, "10.10.32.1": 20, "10.10.33.1": 200}


def _ends(one: Load) -> tuple[Timeline, Timeline]:
    return one.client, one.server


def test_what_is_late_on_a_starved_machine_is_said_all_the_same() -> None:
    one = load(link(), link("{cdn.test: 24ms, far.test: 200ms, default: 80ms}"), apart_ns=300 * MS)
    (late,) = Distances(one.link, one.client, punctual=False).late(addresses(one.link))
    assert "cdn.test" in late
    far = load(link(), link("{cdn.test: 90ms, far.test: 200ms, default: 80ms}"), apart_ns=300 * MS)
    assert "cdn.test" in wrong(far, punctual=False)[0]


# --- as a judge among the others


def failures_of_hosts(one: Load | None, asked_link: Link, *urls: str) -> list[str]:
    """Return what the judge says of a trial that asked for these, by this capture."""
    data = record(ARM)
    data["requests"] = [request(url, number, ARM) for number, url in enumerate(urls)]
    trial = TrialRecord.from_json(data | {"recordings": {"machine": MACHINE.to_json()}})
    assert trial.page_load is not None
    expected = Expected(ARM, SITE, asked_link, Tolerances(), {})
    case = Case(trial, trial.page_load, expected, lambda: one.client if one else None)
    return [f"{each.reason.value}: {each.detail}" for each in JUDGE.failures(case)]


ARM = Arm.parse("one address each", {"addresses": "per-origin"})
OF_SITE = Link.parse({**BASE, "distances": "{a.test: 30ms, b.test: 60ms, default: 80ms}"})
ITS_ADDRESSES = tuple(origin_addresses(SITE.hosts, "per-origin", OF_SITE.distance_to).values())


def test_each_host_that_answered_needs_its_distance_in_the_capture() -> None:
    whole = Load(OF_SITE, servers=(*ITS_ADDRESSES, ITS_ADDRESSES[0])[:3])
    assert failures_of_hosts(whole, OF_SITE, "a.test/", "b.test/x") == []
    nearer = Load(OF_SITE, servers=(*ITS_ADDRESSES, ITS_ADDRESSES[0])[:3], made=OF_SITE.at(Duration.parse("30ms")))
    (told,) = failures_of_hosts(nearer, OF_SITE, "a.test/", "b.test/x")
    assert told.startswith("link-rtt: b.test answered")
    one_host = Load(OF_SITE, servers=(ITS_ADDRESSES[0],) * 3)
    assert failures_of_hosts(one_host, OF_SITE, "a.test/") == []
    (lacks,) = failures_of_hosts(one_host, OF_SITE, "a.test/", "b.test/x")
    assert lacks.startswith("link-rtt: nothing in the capture tells how far b.test")


def test_without_a_capture_the_trial_fails() -> None:
    (told,) = failures_of_hosts(None, OF_SITE, "a.test/")
    assert told == "link-rtt: there is no whole capture of the client that would tell how far hosts were"
    assert failures_of_hosts(None, OF_SITE.usual, "a.test/") == []  # hosts that are equally far need none here
