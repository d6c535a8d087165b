"""The bound: what it is where that can be said by hand, and that no quicker load could be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.arm.arm import Arm
from lanelab.driver.bed.capabilities import router_for
from lanelab.driver.bed.substrate import ROUTER_KINDS
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.page_load.bound import COMPENSATION, physical_bound
from tests.kit.frames import Recorder, Talk
from tests.kit.links import links
from tests.kit.records import Data, browser, record, request, served

HTTP = Arm.parse("http", {})
TLS12, TLS13 = Arm.parse("1.2", {"tls": "1.2"}), Arm.parse("1.3", {"tls": "1.3"})
H2 = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
NO_KEEPALIVE = Arm.parse("no keepalive", {"keepalive": False})
GATEWAY = tuple(
    Arm.parse(str(settings), settings)
    for settings in (
        {"pipelining": 4},
        {"protocol": "h2"},
        {"protocol": "spdy/3.1"},
        {"protocol": "spdy/2", "tls": "1.2"},
        {"via": "gateway", "keepalive": False, "tls": "1.3"},
    )
)
ALL = (HTTP, TLS12, TLS13, H2, NO_KEEPALIVE, *GATEWAY)
arms = st.sampled_from(ALL)
LOST_PER_TRIP = 0.302  # ms: what a router may take off both delays, and rounding


def bound_of(a: Link, arm: Arm, data: Data | None = None, packets: PacketSummary | None = None) -> float:
    """Of a load as JSON, whose client captured these packets."""
    if data is None:
        return physical_bound(a, arm)
    evidence = data["evidence"] | {"packets": {"client": packets.to_json()} if packets else {}}
    return physical_bound(a, arm, TrialRecord.from_json(data | {"evidence": evidence}))


def load(sizes: list[int], arm: Arm = HTTP) -> Data:
    """A page of so many bytes, and then objects."""
    requests = [
        request(f"a.test/{number}", number, arm, body=size, kind="Image" if number else "Document")
        for number, size in enumerate(sizes)
    ]
    end = max(each["ended_ms"] for each in requests) + 1
    data = record(arm) | {"requests": requests}
    data["evidence"]["browser"] = browser(end, end)
    return data


def link(**settings: object) -> Link:
    return Link.parse({"rtt": "100ms", **settings})


@pytest.mark.parametrize(
    ("arm", "trips"),
    [(HTTP, 2), (TLS12, 3), (TLS13, 3), (H2, 3), (NO_KEEPALIVE, 2), *zip(GATEWAY, (2, 2, 2, 3, 3), strict=True)],
    ids=lambda value: str(getattr(value, "name", value)),
)
def test_round_trips_without_a_rate(arm: Arm, trips: int) -> None:
    low, high = trips * (100 - LOST_PER_TRIP), trips * 100
    assert low - 0.01 <= bound_of(link(), arm) <= high
    assert low - 0.01 <= bound_of(link(), arm, load([1000], arm)) <= high
    assert low + 100 - LOST_PER_TRIP - 0.01 <= bound_of(link(), arm, load([1000, 1000], arm)) <= high + 100


def test_bytes_take_their_time_in_whole_frames() -> None:
    """1 MB of payload is 685 frames of 1460 bytes and their headers."""
    trips = bound_of(link(), HTTP, load([1_000_000 - 250]))
    bound = bound_of(link(rate="10mbit"), HTTP, load([1_000_000 - 250]))
    wire = (1_000_000 + 685 * 54) * 8 / 10_000
    small = 3 * 54 * 8 / 10_000  # of the handshake both ways, and the request's way up
    assert bound - trips == pytest.approx(wire + small, abs=0.01)


def test_the_capture_says_how_long_headers_are() -> None:
    recorder = Recorder()
    talk = Talk(recorder)
    talk.open()
    for _ in range(100):
        talk.say("down", b"z" * 1460)
    packets = summarise(recorder.pcap())
    (connection,) = packets.by_connection
    assert connection.header_down == 54
    data, way = load([120_000]), link(rate="1mbit")
    assert bound_of(way, HTTP, data, packets) == bound_of(way, HTTP, data)


def test_a_capture_that_has_less_lowers_no_bound() -> None:
    recorder = Recorder()
    Talk(recorder).open()
    data, way = load([10**6]), link(rate="1mbit")
    assert bound_of(way, HTTP, data, summarise(recorder.pcap())) == bound_of(way, HTTP, data) > 8000


def test_of_client_and_server_the_one_that_says_less_is_believed() -> None:
    """Firefox counts headers as they are before HTTP/2 compresses them."""
    data, way = load([10_000], H2), link(rate="1mbit")
    data["evidence"]["server"]["requests"] = [served(each, H2) for each in data["requests"]]
    before = bound_of(way, H2, data)
    data["requests"][0]["wire_bytes"] += 10_000
    assert bound_of(way, H2, data) == before
    data["evidence"]["server"]["requests"][0]["sent_bytes"] = None
    assert before - 3 < bound_of(way, H2, data) < before  # the body alone


OTHERS = [
    ("a redirect from the address in clear", {"local": "10.10.2.2:80", "status": 301}),
    ("not modified", {"status": 304}),
    ("a part", {"status": 206}),
    ("without a body", {"method": "HEAD"}),
    ("a preflight", {"method": "OPTIONS", "status": 204}),
]


@pytest.mark.parametrize("other", [changed for _, changed in OTHERS], ids=[name for name, _ in OTHERS])
@pytest.mark.parametrize("first", [True, False])
def test_a_smaller_answer_to_the_same_address_lowers_no_bound(other: Data, first: bool) -> None:
    arm = Arm.parse("recorded", {"protocol": "h2", "tls": "1.3", "schemes": "recorded"})
    data, way = load([100_000], arm), link(rate="1mbit")
    own = served(data["requests"][0], arm)
    small = own | {"sent_bytes": 250, "body_bytes": 0} | other
    data["evidence"]["server"]["requests"] = [own]
    alone = bound_of(way, arm, data)
    data["evidence"]["server"]["requests"] = [small, own] if first else [own, small]
    assert bound_of(way, arm, data) == alone > 800


def test_each_of_several_answers_counts_by_its_own_line() -> None:
    """A page in clear that only leads to the one with TLS."""
    arm = Arm.parse("recorded", {"protocol": "h2", "tls": "1.3", "schemes": "recorded"})
    data, way = load([0, 100_000], arm), link(rate="1mbit")
    redirect, page = data["requests"]
    redirect |= {"url": "http://a.test/1", "status": 301}
    lines = [served(page, arm), served(redirect, arm) | {"local": "10.10.2.2:80", "status": 301}]
    data["evidence"]["server"]["requests"] = lines
    both = bound_of(way, arm, data)
    for each in data["requests"]:
        each["wire_bytes"] += 5000  # as Firefox might
    assert bound_of(way, arm, data) == both


@pytest.mark.parametrize("changed", [{"local": "127.0.0.1:8080"}, {"status": 304}, {"local": ":443"}])
def test_a_line_that_agrees_in_less_is_believed_where_there_is_no_other(changed: Data) -> None:
    data, way = load([100_000], H2), link(rate="1mbit")
    line = served(data["requests"][0], H2) | changed
    data["evidence"]["server"]["requests"] = [line | {"sent_bytes": 50_000}]
    assert bound_of(way, H2, data) == bound_of(way, H2, load([49_750], H2))


def test_objects_take_another_round_trip_when_the_page_is_small() -> None:
    one = bound_of(link(rate="10mbit"), HTTP, load([1000]))
    both = bound_of(link(rate="10mbit"), HTTP, load([1000, 1000]))
    assert both - one == pytest.approx(100, abs=1)


@pytest.mark.parametrize(
    "changes",
    [
        {"before_load": False},
        {"from_cache": True, "wire_bytes": 0},
        {"error": "net::ERR_FAILED"},
        {"ended_ms": None},
        {"ended_ms": 10.0**6},
    ],
)
def test_what_was_not_needed_does_not_count(changes: dict[str, object]) -> None:
    data = load([1000, 10**6])
    data["requests"][1].update(changes)
    assert bound_of(link(rate="1mbit"), HTTP, data) == bound_of(link(rate="1mbit"), HTTP, load([1000]))


def test_a_look_up_counts_where_there_was_one() -> None:
    resolver, data, asked = Arm.parse("resolver", {"dns": "resolver"}), load([1000]), load([1000])
    asked["evidence"]["resolver"] = {"queries": [{"name": "a.test.", "type": "A"}]}
    assert bound_of(link(), resolver, data) == bound_of(link(), HTTP, data)
    more = bound_of(link(), resolver, asked) - bound_of(link(), resolver, data)
    assert more == pytest.approx(100, abs=0.5)


def test_a_warm_load_may_need_nothing() -> None:
    warm = Arm.parse("warm", {"start": "warm", "tls": "1.3"})
    assert bound_of(link(), warm, load([1000]) | {"requests": []}) == 0
    assert bound_of(link(), warm, load([1000, 1000])) == pytest.approx(100, abs=0.5)


def test_jitter_and_reordering_make_delays_shorter() -> None:
    assert bound_of(link(jitter="5ms"), HTTP) == pytest.approx(2 * (100 - 2 * 4 * 5), abs=1)
    assert bound_of(link(jitter="20ms"), HTTP) == 0
    assert bound_of(link(reorder_down="1%"), HTTP) == pytest.approx(100, abs=1)


@pytest.mark.parametrize("how", [{"queue": "64kB"}, {"discipline": "fq_codel"}, {"discipline": "cake"}])
def test_a_shaper_lets_a_burst_pass(how: dict[str, str]) -> None:
    exact, data = bound_of(link(rate="10mbit"), HTTP, load([10**6])), load([10**6])
    paced = bound_of(link(rate="10mbit", **how), HTTP, data)
    bursts = bound_of(link(rate="10mbit", jitter="1us", **how), HTTP, data)
    assert paced == pytest.approx(exact, abs=0.01)
    burst_ms = 2 + 1514 * 8 / 10_000
    assert exact - bursts == pytest.approx(burst_ms, abs=0.3)


def test_no_router_takes_more_off_than_is_allowed_for() -> None:
    for kind in ROUTER_KINDS:
        assert router_for(kind).compensation_us * 1000 <= COMPENSATION.ns


sizes = st.lists(st.integers(0, 300_000), min_size=1, max_size=30)


@given(links(), arms, sizes)
def test_it_is_a_time_and_any_load_takes_at_least_that_of_none(a: Link, arm: Arm, given_sizes: list[int]) -> None:
    assert 0 <= bound_of(a, arm) <= bound_of(a, arm, load(given_sizes, arm)) + 0.001


@given(links(), arms, sizes, st.integers(0, 29), st.integers(0, 10**6))
def test_more_bytes_never_take_less(a: Link, arm: Arm, given_sizes: list[int], at: int, more: int) -> None:
    before = load(given_sizes, arm)
    given_sizes[at % len(given_sizes)] += more
    assert bound_of(a, arm, before) <= bound_of(a, arm, load(given_sizes, arm))


@given(arms, sizes, st.integers(2, 2000), st.integers(0, 2000), st.integers(8, 10**5), st.integers(0, 10**5))
def test_a_longer_or_slower_link_never_takes_less(
    arm: Arm, given_sizes: list[int], rtt_ms: int, longer_ms: int, kbit: int, faster_kbit: int
) -> None:
    data = load(given_sizes, arm)

    def bound(trip: int, rate: int) -> float:
        return bound_of(Link.parse({"rtt": f"{trip}ms", "rate": f"{rate}kbit"}), arm, data)

    assert bound(rtt_ms, kbit) <= bound(rtt_ms + longer_ms, kbit)
    assert bound(rtt_ms, kbit + faster_kbit) <= bound(rtt_ms, kbit)


@given(links(), sizes)
def test_tls_never_takes_less(a: Link, given_sizes: list[int]) -> None:
    plain, safe = load(given_sizes, HTTP), load(given_sizes, TLS13)
    assert bound_of(a, HTTP, plain) <= bound_of(a, TLS13, safe)


@given(links(), arms)
def test_it_is_below_what_the_whole_link_would_take(a: Link, arm: Arm) -> None:
    """A load of one connection that does everything after everything else, at the mean delays and the nominal rate."""
    data = load([20_000, 50_000], arm)
    trip_ms = a.rtt.milliseconds
    frames = sum(each["wire_bytes"] + 54 * (each["wire_bytes"] // 500 + 1) for each in data["requests"])
    wire_ms = frames * 8000 / a.down.rate.bps if a.down.rate else 0
    small_ms = sum(4 * 54 * 8000 / way.rate.bps for way in (a.down, a.up) if way.rate)
    assert bound_of(a, arm, data) <= 4 * trip_ms + wire_ms + small_ms + 0.01


def test_a_page_without_tls_needs_no_handshake_of_it_in_an_arm_that_has_tls() -> None:
    """Where addresses are as recorded, a site's own address may be in clear."""
    arm = Arm.parse("recorded", {"protocol": "h2", "tls": "1.3", "schemes": "recorded"})
    data = record(arm)
    secure = physical_bound(link(), arm, TrialRecord.from_json(data))
    assert secure == physical_bound(link(), H2, TrialRecord.from_json(data))
    for each in data["requests"]:
        each["url"] = each["url"].replace("https:", "http:")
    in_clear = physical_bound(link(), arm, TrialRecord.from_json(data))
    assert in_clear == physical_bound(link(), HTTP, TrialRecord.from_json(data)) < secure


def test_an_answer_that_waits_adds_its_wait() -> None:
    """The page's, and the longest of the others; beside hints, which go ahead, none."""
    plain = bound_of(link(), HTTP, load([1000, 1000, 1000]))

    def with_delays(**more: object) -> float:
        return bound_of(link(), Arm.parse("slow", more), load([1000, 1000, 1000]))

    assert with_delays(answer_delay={"a.test/0": "1s"}) == pytest.approx(plain + 1000, abs=0.01)
    assert with_delays(answer_delay={"a.test/1": "1s", "a.test/2": "3s"}) >= 3000 + 300 - LOST_PER_TRIP * 3
    assert with_delays(answer_delay={"a.test/0": "1s", "default": "2s"}) >= 3000 + 300 - LOST_PER_TRIP * 3
    assert with_delays(answer_delay={"b.test": "2s"}) == plain
    h2 = {"protocol": "h2", "tls": "1.3"}
    hinted = Arm.parse("hints", {**h2, "early_hints": "critical", "answer_delay": {"a.test/0": "1s"}})
    assert bound_of(link(), hinted, load([1000, 1000], hinted)) < 1000
    assert with_delays(start="warm", answer_delay={"default": "5s"}) < 5000


# --- hosts that are not equally far

FAR = "{a.test: 100ms, near.test: 20ms, far.test: 300ms, default: 50ms}"


def of_hosts(*urls: str, arm: Arm = HTTP) -> Data:
    """A page of a.test, and one small object at each of these."""
    data = load([1000] * (1 + len(urls)), arm)
    for each, url in zip(data["requests"][1:], urls, strict=True):
        each["url"] = f"http{'s' if arm.tls != 'off' else ''}://{url}"
    return data


def bound_at(*urls: str, arm: Arm = HTTP, **settings: object) -> float:
    return bound_of(Link.parse({"distances": FAR, **settings}), arm, of_hosts(*urls, arm=arm))


@pytest.mark.parametrize(
    ("arm", "urls", "ms"),
    [
        (HTTP, (), 200),  # TCP and the page
        (HTTP, ("a.test/1",), 300),  # and another request to its host
        (HTTP, ("near.test/1",), 200 + 2 * 20),  # a connection and a request to another host
        (HTTP, ("far.test/1",), 200 + 2 * 300),
        (HTTP, ("other.test/1",), 200 + 2 * 50),
        (HTTP, ("near.test/1", "far.test/1", "a.test/1"), 200 + 2 * 300),  # the slowest of all
        (TLS13, ("a.test/1",), 400),
        (TLS13, ("far.test/1",), 300 + 3 * 300),
        (H2, ("near.test/1", "far.test/1"), 300 + 3 * 300),
    ],
    ids=str,
)
def test_the_longest_chain_over_hosts(arm: Arm, urls: tuple[str, ...], ms: float) -> None:
    trips = ms / 20  # at most so many
    assert ms - trips * LOST_PER_TRIP <= bound_at(*urls, arm=arm) <= ms


def test_one_distance_for_all_is_what_it_was() -> None:
    """Hosts that are equally far may share connections that are there already."""
    same = Link.parse({"rtt": "100ms"})
    assert bound_of(same, HTTP, of_hosts("near.test/1")) == bound_of(same, HTTP, of_hosts("a.test/1"))


def test_bytes_of_all_hosts_share_the_bottleneck() -> None:
    sizes = of_hosts("near.test/1", "far.test/1")
    big = load([1000, 500_000, 1000])
    for of_big, of_size in zip(big["requests"], sizes["requests"], strict=True):
        of_big["url"] = of_size["url"]
    link_of_all = Link.parse({"distances": FAR, "rate": "1mbit"})
    carried = 500_000 * 8 / 1000
    bound = bound_of(link_of_all, HTTP, big)
    assert 200 + 10 + 20 + carried < bound < 200 + 20 + 20 + carried * 1.05  # whoever is nearest may be the last


def test_a_near_host_may_be_the_last_of_a_page_from_far_away() -> None:
    """The bound must not take the page's long way for the last byte of all."""
    far = Link.parse({"distances": "{a.test: 400ms, near.test: 10ms, default: 50ms}", "rate": "1mbit"})
    big = load([100_000, 100_000])
    big["requests"][1]["url"] = "http://near.test/1"
    whole = 200_000 * 8 / 1000
    assert bound_of(far, HTTP, big) < 400 + 200 + whole * 1.05 + 20


def test_names_are_looked_up_at_the_usual_distance() -> None:
    arm = Arm.parse("looked up", {"dns": "resolver", "addresses": "per-origin"})
    data = load([1000], arm)
    assert 200 - 1 < bound_of(Link.parse({"distances": FAR}), arm, data) <= 200
    data["evidence"]["resolver"] = {"queries": [{"name": "a.test.", "type": "A"}]}
    assert 250 - 1 < bound_of(Link.parse({"distances": FAR}), arm, data) <= 250


def test_a_repeat_view_has_connections_already() -> None:
    warm = Arm.parse("warm", {"start": "warm"})
    assert bound_at("far.test/1", arm=warm) <= 100
