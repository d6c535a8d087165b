"""The parts of a load time, on simulated loads whose causes are known."""

from dataclasses import replace
from itertools import pairwise

import pytest

from lanelab.driver.bed.addresses import distance_network
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import BrowserEvidence
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.parts import Part, Parts
from lanelab.driver.trial.packets.quic_session import Session
from lanelab.driver.trial.packets.quic_timeline import QuicStream
from lanelab.driver.trial.packets.timeline import Packet, Stream
from lanelab.driver.trial.parts.decompose import Loaded, decompose, lags
from lanelab.driver.trial.parts.exchanges import Exchange
from lanelab.driver.trial.parts.intervals import Claim, common, divide, joined
from tests.kit.tcp_simulation import CLIENT, EPOCH, HEADERS, MS, SEGMENT, SERVER, Page, Simulation

PAGE = Page()
LAGS = {"start_lag_ms", "start_lag_6_ms", "turnaround_ms"}


def load(page: Page) -> Loaded:
    return Simulation(page).load()


def parts(page: Page) -> dict[Part, float]:
    loaded = load(page)
    decomposed = decompose(loaded)
    made = decomposed.parts
    assert made.absent is None
    measures = {part.measure: decomposed.measures[part.measure] for part in Part}
    plt_ms = browser_of(loaded).times.plt_ms
    assert sum(measures.values()) == pytest.approx(plt_ms, abs=0.01), "the parts add up"
    for before, after in pairwise(made.stretches):
        assert before.to_ms == after.from_ms
    return {part: measures[part.measure] for part in Part}


def browser_of(loaded: Loaded) -> BrowserEvidence:
    browser = loaded.evidence.browser
    assert browser is not None
    return browser


def changed(page: Page, **what: object) -> dict[Part, float]:
    """By how much each part differs, rounded to ms."""
    before, after = parts(page), parts(replace(page, **what))  # type: ignore[arg-type] # any field
    return {part: round(after[part] - before[part]) for part in Part}


def only(**expected: float) -> dict[Part, float]:
    return {part: expected.get(part.value, 0) for part in Part}


def frames_ms(page: Page) -> float:
    packets = sum(-(-size // SEGMENT) for size in page.sizes)
    return (sum(page.sizes) + packets * HEADERS) * 8000 / page.rate


def test_a_load_over_one_connection_is_what_its_causes_say() -> None:
    found = parts(PAGE)
    assert found[Part.CONNECT] == pytest.approx(100, abs=0.5)
    assert found[Part.TRANSMISSION] == pytest.approx(frames_ms(PAGE), abs=2)
    assert found[Part.WAIT] == pytest.approx(4 * 100, abs=3), "four requests, one after the other"
    assert found[Part.IDLE] == pytest.approx(4 + 20 + 5, abs=1)
    assert found[Part.SLOW_START] > 50
    assert found[Part.DNS] == found[Part.TLS] == found[Part.RECOVERY] == found[Part.MAIN_THREAD] == 0


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ({"server_ms": 50}, only(wait=4 * 50)),
        ({"dns_ms": 120}, only(dns=120)),
        ({"parse_ms": 90}, only(idle=70)),
        ({"finish_ms": 45}, only(idle=40)),
        ({"lost_syn": True}, only(recovery=1000)),
    ],
)
def test_what_is_slower_makes_its_own_part_longer(what: dict[str, object], expected: dict[Part, float]) -> None:
    found = changed(PAGE, **what)
    assert all(found[part] == pytest.approx(expected[part], abs=1) for part in Part), found


def test_tls_takes_a_round_trip_of_its_own() -> None:
    found = changed(PAGE, tls=True)
    assert found[Part.TLS] == pytest.approx(102, abs=2)
    assert found[Part.CONNECT] == 0
    assert abs(found[Part.WAIT]) <= 2


def test_an_answer_that_is_known_late_had_begun_with_its_first_packet() -> None:
    """A record of TLS that takes two flights: the second waits for acknowledgements, and not for the server."""
    page = replace(PAGE, sizes=(30_000,), record=16_384)
    assert parts(page) == pytest.approx(parts(replace(page, record=1)), abs=2)
    late = changed(page, server_ms=60)
    assert late[Part.WAIT] == 60


def test_a_larger_first_window_takes_from_slow_start_alone() -> None:
    found = changed(PAGE, window=60)
    assert found[Part.SLOW_START] == round(-parts(PAGE)[Part.SLOW_START])
    assert all(abs(found[part]) <= 1 for part in Part if part is not Part.SLOW_START), found


def test_a_slower_link_takes_longer_to_deliver() -> None:
    found = changed(replace(PAGE, window=200), rate=1_000_000)
    assert found[Part.TRANSMISSION] == pytest.approx(9 * frames_ms(PAGE), rel=0.02)
    assert abs(found[Part.CONNECT]) <= 1


def test_a_loss_within_a_flight_is_recovery_until_it_came_again() -> None:
    """Duplicate acknowledgements bring it a round trip later."""
    found = changed(replace(PAGE, sizes=(60_000,), window=40), lost=frozenset({(0, 20)}))
    assert 60 <= found[Part.RECOVERY] <= 101, found
    assert abs(found[Part.WAIT]) <= 1


def test_a_lost_tail_is_recovery_and_named_a_time_out() -> None:
    page = replace(PAGE, sizes=(14_000,), lost=frozenset({(0, 9)}))
    made = decompose(load(page)).parts
    (missed,) = [each for each in made.stretches if each.part is Part.RECOVERY]
    assert "retransmission time-out" in missed.detail
    assert missed.to_ms - missed.from_ms > 300
    assert parts(page)[Part.SLOW_START] < 1


LONG = replace(PAGE, sizes=(14_000, 300_000), window=20)


def test_what_a_loss_makes_of_the_window_is_no_slow_start() -> None:
    """The server waits for acknowledgements of few packets, round trip after round trip: without the loss it would
    not."""
    found = changed(LONG, lost=frozenset({(0, 12)}))
    assert found[Part.REDUCED_WINDOW] > 500, found
    assert found[Part.SLOW_START] <= 0
    assert parts(LONG)[Part.REDUCED_WINDOW] == 0


def test_what_was_slow_start_before_a_loss_stays_it() -> None:
    page = replace(LONG, window=4, lost=frozenset({(0, 40)}))
    made = decompose(load(page)).parts
    begins = {part: [each.from_ms for each in made.stretches if each.part is part] for part in Part}
    assert max(begins[Part.SLOW_START]) < min(begins[Part.RECOVERY]) < min(begins[Part.REDUCED_WINDOW])


def test_packets_that_came_out_of_order_reduce_no_window() -> None:
    loaded = load(PAGE)
    (stream,) = loaded.timeline.streams
    at = [number for number, packet in enumerate(stream.packets) if not packet.up and packet.payload][2]
    one, two = stream.packets[at], next(each for each in stream.packets[at + 1 :] if not each.up)
    swapped = {
        one.number: two._replace(number=one.number, at_ns=one.at_ns),
        two.number: one._replace(number=two.number, at_ns=two.at_ns),
    }
    stream.packets[:] = [swapped.get(each.number, each) for each in stream.packets]
    assert decompose(loaded).measures[Part.REDUCED_WINDOW.measure] == 0


def test_the_connection_that_ends_an_idleness_says_what_it_was() -> None:
    """New connections for each object: the load waits for their handshakes, too."""
    page = replace(PAGE, sizes=(14_000, 10_000, 10_000, 10_000), parse_ms=0)
    again, anew = parts(page), parts(replace(page, keepalive=False))
    assert again[Part.CONNECT] == pytest.approx(100, abs=1)
    assert anew[Part.CONNECT] == pytest.approx(400, abs=1)


def test_several_connections_share_the_bottleneck() -> None:
    page = replace(PAGE, connections=6, sizes=(14_000, *[50_000] * 18))
    assert parts(page)[Part.TRANSMISSION] == pytest.approx(frames_ms(page), rel=0.01)


def test_the_main_thread_takes_from_what_was_idle() -> None:
    loaded = load(replace(PAGE, parse_ms=80))
    (idle,) = (
        each for each in decompose(loaded).parts.stretches if each.part is Part.IDLE and each.to_ms - each.from_ms > 70
    )
    zero = EPOCH + 3 * MS
    busy = [
        (zero + round((idle.from_ms + 10) * MS), zero + round((idle.from_ms + 50) * MS)),
        (zero + MS, zero + 50 * MS),
    ]
    measures = decompose(replace(loaded, main_thread=busy)).measures
    before = decompose(loaded).measures
    assert measures[Part.MAIN_THREAD.measure] == pytest.approx(40, abs=0.5)
    assert before[Part.IDLE.measure] - measures[Part.IDLE.measure] == pytest.approx(40, abs=0.5)
    assert measures[Part.CONNECT.measure] == before[Part.CONNECT.measure], "what the link does comes first"


# --- start lag and turnaround


@pytest.mark.parametrize("connections", [1, 2])
def test_requests_follow_the_page_and_each_other_as_late_as_the_client_is(connections: int) -> None:
    page = replace(PAGE, sizes=(14_000, *[3_000] * 8), connections=connections, parse_ms=17)
    found = decompose(load(page), one_at_a_time=True).measures
    assert found["start_lag_ms"] == pytest.approx(17, abs=0.1)
    assert found["turnaround_ms"] == 0
    late = decompose(load(replace(page, turn_ms=3)), one_at_a_time=True).measures
    assert late["start_lag_ms"] == found["start_lag_ms"]
    assert late["turnaround_ms"] == pytest.approx(3, abs=0.01)
    rounds = 5 // connections  # the sixth request comes after so many answers
    assert late["start_lag_6_ms"] - found["start_lag_6_ms"] == pytest.approx(3 * rounds, abs=0.5)


def test_a_load_has_the_lags_that_it_has_requests_for() -> None:
    assert not LAGS & decompose(load(replace(PAGE, sizes=(14_000,))), one_at_a_time=True).measures.keys()
    few = decompose(load(replace(PAGE, sizes=(14_000, 3_000))), one_at_a_time=True).measures
    assert LAGS & few.keys() == {"start_lag_ms"}


def test_connections_that_carry_several_requests_at_once_have_no_turnaround() -> None:
    page = replace(PAGE, sizes=(14_000, *[3_000] * 8))
    assert LAGS & decompose(load(page)).measures.keys() == {"start_lag_ms", "start_lag_6_ms"}


def test_what_a_redirect_leads_to_is_the_page() -> None:
    stream = Stream((CLIENT, 40_000), (SERVER, 80))
    moments = [(0, 40, 41), (42, 80, 81), (100, 140, 141)]
    redirect, page, image = (Exchange(stream, sent * MS, first * MS, last * MS) for sent, first, last in moments)
    found = lags([replace(redirect, redirects=True), page, image], one_at_a_time=False)
    assert found == {"start_lag_ms": 19}
    assert lags([redirect, page, image], one_at_a_time=False) == {"start_lag_ms": 1}


def test_what_follows_a_page_or_a_redirect_is_no_turnaround() -> None:
    stream = Stream((CLIENT, 40_000), (SERVER, 80))
    moments = [(0, 40), (50, 90), (120, 160), (162, 200)]
    for at in (moment * MS for _, moment in moments):
        stream.packets.append(Packet(1, at, False, 1514, 0, 0, 1448, 16, 65_535, 1, None, None, False))
    redirect, *rest = (Exchange(stream, sent * MS, last * MS, last * MS) for sent, last in moments)
    assert lags([replace(redirect, redirects=True), *rest], one_at_a_time=True)["turnaround_ms"] == 2


# --- where nothing can be said


def test_clocks_that_do_not_agree_give_no_parts() -> None:
    decomposed = decompose(load(replace(PAGE, told_late_ms=60)))
    made = decomposed.parts
    assert made.stretches == ()
    assert made.absent is not None
    assert "ms apart" in made.absent
    assert decomposed.measures == {}
    assert decompose(load(replace(PAGE, told_late_ms=3))).parts.absent is None, "that much is right"


def without(loaded: Loaded, evidence: PageLoadEvidence) -> Parts:
    return decompose(replace(loaded, evidence=evidence)).parts


def test_without_the_moments_of_the_load_there_are_no_parts() -> None:
    loaded = load(PAGE)
    browser = browser_of(loaded)
    for poorer in (None, replace(browser, clock=None)):
        made = without(loaded, replace(loaded.evidence, browser=poorer))
        assert made.absent == "the browser did not say when the load began"


def test_requests_that_are_not_in_the_capture_are_noticed() -> None:
    loaded = load(PAGE)
    elsewhere = [replace(stream, client=("10.10.1.2", 1)) for stream in loaded.timeline.streams]
    made = decompose(replace(loaded, timeline=replace(loaded.timeline, streams=elsewhere))).parts
    assert made.absent == "no request was found in the capture"


# --- intervals


def test_a_moment_belongs_to_the_lowest_rank() -> None:
    pieces = divide((0, 100), [Claim(10, 60, 1, "b"), Claim(20, 30, 0), Claim(90, 120, 1)], 2, 0)
    assert [(each.begin, each.end, each.rank) for each in pieces] == [
        (0, 10, 2), (10, 20, 1), (20, 30, 0), (30, 60, 1), (60, 90, 2), (90, 100, 1),
    ]  # fmt: skip


def test_what_is_too_short_belongs_to_what_was_before() -> None:
    pieces = divide((0, 100), [Claim(50, 52, 0), Claim(60, 80, 0)], 1, 5)
    assert [(each.begin, each.end, each.rank) for each in pieces] == [(0, 60, 1), (60, 80, 0), (80, 100, 1)]


def test_intervals_are_joined_and_cut() -> None:
    assert joined([(5, 7), (0, 2), (1, 4), (9, 10)], gap=1) == [(0, 7), (9, 10)]
    assert common([(0, 5), (8, 20)], [(4, 9), (10, 11), (30, 31)]) == [(4, 5), (8, 9), (10, 11)]


@pytest.mark.parametrize("tells", [True, False])
def test_a_host_that_does_not_answer_is_a_connection_that_is_being_opened(tells: bool) -> None:
    """SYNs that nobody answers are no losses; what the browser gave up ended the wait. Firefox does not tell when."""
    loaded = load(PAGE)
    browser = browser_of(loaded)
    assert browser.clock
    assert browser.clock.first_request
    assert browser.times.plt_ms
    zero, given_up_ms = browser.clock.first_request * 1000, browser.times.plt_ms + 4000
    times = replace(browser.times, plt_ms=given_up_ms + 10, plt_navigation_ms=given_up_ms + 5)
    syn = loaded.timeline.streams[0].packets[0]
    sent = [syn._replace(at_ns=zero + at_ms * MS) for at_ms in (100, 1100, 3100)]
    stream = Stream((CLIENT, 55_000), ("10.10.31.1", 80), sent)
    given_up = replace(loaded.requests[0], url="http://dead.test/x.js", status=None, connection=None)
    given_up = replace(given_up, error="net::ERR_CONNECTION_TIMED_OUT", ended_ms=given_up_ms if tells else None)
    evidence = replace(loaded.evidence, browser=replace(browser, times=times))
    timeline = replace(loaded.timeline, streams=[*loaded.timeline.streams, stream])
    decomposed = decompose(replace(loaded, evidence=evidence, timeline=timeline, requests=[*loaded.requests, given_up]))
    assert decomposed.parts.absent is None
    measures, plain = decomposed.measures, decompose(loaded).measures
    assert measures[Part.RECOVERY.measure] == plain[Part.RECOVERY.measure] == 0
    assert measures[Part.CONNECT.measure] - plain[Part.CONNECT.measure] == pytest.approx(4000, abs=50)
    assert measures[Part.IDLE.measure] < plain[Part.IDLE.measure] + 50


# --- hosts that are not equally far

FAR_PAGE = replace(PAGE, rtt_ms=200, sizes=(14_000, 120_000), lost=frozenset({(0, 40)}))
NEAR_AND_FAR = Link.parse({"rate": "10mbit", "distances": "{near.test: 20ms, far.test: 200ms, default: 50ms}"})
EQUALLY_FAR = Link.parse({"rate": "10mbit", "rtt": "20ms"})


def beside_a_near_host(link: Link) -> Parts:
    """A page at 200 ms of which a packet is lost, and a connection to a host at 20 ms that was opened meanwhile."""
    far = load(FAR_PAGE)
    near = load(replace(FAR_PAGE, rtt_ms=20)).timeline.streams[0]
    address = str(distance_network(1)[1])
    streams = [Stream(each.client, (address, 80), each.packets) for each in far.timeline.streams]
    opened = Stream((CLIENT, 50_000), (str(distance_network(0)[1]), 80), near.packets[:2])
    log = far.evidence.server
    assert log is not None
    lines = tuple(replace(each, local=f"{address}:80") for each in log.requests)
    evidence = replace(far.evidence, server=replace(log, requests=lines))
    timeline = replace(far.timeline, streams=[*streams, opened])
    return decompose(replace(far, timeline=timeline, evidence=evidence, link=link)).parts


def test_a_loss_is_known_by_the_round_trip_of_its_own_connection() -> None:
    """A round trip after the others of its flight: by that of a near host it would be a time-out."""
    details = [each.detail for each in beside_a_near_host(NEAR_AND_FAR).stretches if each.part is Part.RECOVERY]
    assert details == ["port 40000: a lost packet was sent again after duplicate acknowledgements"]
    wrong = [each.detail for each in beside_a_near_host(EQUALLY_FAR).stretches if each.part is Part.RECOVERY]
    assert wrong == ["port 40000: retransmission time-out: a packet came 212 ms late"]


def beside_quic(unread: int, **settings: str) -> Loaded:
    """A load with a connection of QUIC, of which so many datagrams do not tell what they carry."""
    stream = Stream((CLIENT, 50_000), (SERVER, 443))
    for number, up in enumerate((True, False)):
        at_ns = EPOCH + number * 100 * MS
        stream.packets.append(Packet(number, at_ns, up, 1292, 0, 0, 0, 0, 0, 0, None, None, False))
    loaded = load(PAGE)
    timeline = replace(loaded.timeline, quic=[QuicStream(stream, Session({}), [], unread)])
    link = Link.parse({"rtt": "100ms", "rate": "10mbit", **settings})
    return replace(loaded, timeline=timeline, link=link)


@pytest.mark.parametrize("settings", [{"loss": "1%"}, {"loss_down": "ge(p=1%, r=10%)"}, {"loss_up": "1%"}])
def test_losses_by_quic_that_the_capture_cannot_show_give_no_parts(settings: dict[str, str]) -> None:
    """Else the time for which a load waited for lost packets would be slow start."""
    decomposed = decompose(beside_quic(3, **settings))
    assert decomposed.parts.stretches == ()
    assert decomposed.parts.absent is not None
    assert "what 3 packets of QUIC carried" in decomposed.parts.absent
    assert decomposed.measures == {}
    assert decompose(beside_quic(0, **settings)).parts.absent is None
    assert decompose(beside_quic(3)).parts.absent is None, "nothing is lost there on purpose"
