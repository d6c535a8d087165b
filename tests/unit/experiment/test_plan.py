"""Plans: the order of rounds can be had again, and what a run costs is said before it starts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.schedule.estimate import (
    SiteLoad,
    estimate,
    estimate_spread,
    expected_fetch,
    expected_plt,
)
from lanelab.driver.experiment.schedule.order import phases, round_order
from lanelab.driver.experiment.schedule.warnings import warnings
from lanelab.driver.link import Link
from lanelab.driver.site.load import read_site_manifest
from lanelab.driver.site.site import SiteObject
from lanelab.driver.trial.fetch.settings import FetchSettings
from tests.kit.experiments import PATIENT, SMALL, read

GRID = "sites: [dummy, shop]\nlinks: {rtt: [1ms, 2ms, 3ms]}\narms: {a: {}, b: {tls: 1.2}, c: {tls: 1.3}}\n"
LOADS = {"dummy": SiteLoad(24, 1, 1_115_300), "shop": SiteLoad(10, 3, 300_000)}


@PATIENT
@given(st.integers(0, 10**9), st.integers(1, 100), st.sampled_from(["interleaved", "random"]))
def test_a_round_has_every_cell_once_and_can_be_had_again(seed: int, number: int, order: str) -> None:
    experiment = read(f"{GRID}order: {order}\n")
    planned = round_order(experiment, seed, number)
    assert planned == round_order(experiment, seed, number)
    assert sorted(one.cell.id for one in planned) == sorted(cell.id for cell in experiment.cells)
    assert {one.round for one in planned} == {number}


@PATIENT
@given(st.integers(0, 10**9))
def test_interleaved_rounds_keep_the_arms_of_a_link_together(seed: int) -> None:
    planned = round_order(read(GRID), seed, 1)
    groups = [planned[start : start + 3] for start in range(0, len(planned), 3)]
    for group in groups:
        assert len({(one.cell.site, one.cell.link) for one in group}) == 1
        assert len({one.cell.arm for one in group}) == 3


def test_rounds_and_seeds_differ() -> None:
    experiment = read(GRID)
    orders = {tuple(one.cell.id for one in round_order(experiment, seed, n)) for seed in (1, 2) for n in range(1, 21)}
    assert len(orders) == 40
    first = {round_order(experiment, 7, number)[0].cell.id for number in range(1, 200)}
    assert first == {cell.id for cell in experiment.cells}


def test_sequential_is_one_cell_after_the_other() -> None:
    experiment = read(f"{GRID}order: sequential\n")
    assert phases(experiment) == [(cell,) for cell in experiment.cells]
    assert [one.cell for one in round_order(experiment, 1, 3, phases(experiment)[4])] == [experiment.cells[4]]
    assert phases(read(GRID)) == [read(GRID).cells]


def seconds(settings: dict[str, object], rtt: str = "100ms", rate: str = "10mbit") -> float:
    return expected_plt(LOADS["dummy"], Link.parse({"rtt": rtt, "rate": rate}), Arm.parse("a", settings))


def test_estimates_are_near_what_is_known() -> None:
    """1.115 MB at 10 Mbit/s take 0.93 s; without keepalive each wave of six costs two round trips more."""
    assert 0.9 < seconds({}, "1ms") < 1.2
    assert 9 < seconds({}, rate="1mbit") < 11
    assert seconds({"keepalive": False}) > seconds({}) + 0.3
    assert seconds({"tls": "1.2"}) > seconds({"tls": "1.3"}) > seconds({})
    assert seconds({"keepalive": False}, "1ms") == pytest.approx(seconds({}, "1ms"), rel=0.1)


def test_losses_make_a_load_longer_and_fewer_connections_more_so() -> None:
    """Of 1.115 MB over one connection with 1% lost and 100 ms, Reno makes about 110 packets a second."""
    link = {"rtt": "100ms", "rate": "10mbit"}
    one, six = Arm.parse("a", {"connections_per_host": 1}), Arm.parse("b", {})
    h2 = Arm.parse("c", {"protocol": "h2", "tls": "1.3"})
    clean, lossy = Link.parse(link), Link.parse({**link, "loss": "1%"})
    assert 5 < expected_plt(LOADS["dummy"], lossy, h2) < 10
    assert expected_plt(LOADS["dummy"], lossy, one) > 2 * expected_plt(LOADS["dummy"], lossy, six)
    assert expected_plt(LOADS["dummy"], lossy, six) >= expected_plt(LOADS["dummy"], clean, six)
    assert expected_plt(LOADS["dummy"], Link.parse({**link, "loss": "0.001%"}), h2) == pytest.approx(
        expected_plt(LOADS["dummy"], clean, h2)
    )


def test_bbr_is_not_slowed_down_by_losses_and_http3_has_none() -> None:
    link = {"rtt": "100ms", "rate": "10mbit", "congestion_control_server": "bbr"}
    clean, lossy = Link.parse(link), Link.parse({**link, "loss": "1%"})
    h2 = Arm.parse("a", {"protocol": "h2", "tls": "1.3"})
    h3 = Arm.parse("b", {"server": "caddy", "protocol": "h3", "tls": "1.3"})
    assert expected_plt(LOADS["dummy"], lossy, h2) == expected_plt(LOADS["dummy"], clean, h2)
    assert expected_plt(LOADS["dummy"], lossy, h3) > expected_plt(LOADS["dummy"], clean, h3) + 3


def fetched(loss: str, at_once: int, **arm: object) -> float:
    link = Link.parse({"rtt": "100ms", "rate": "10mbit", "loss": loss})
    return expected_fetch(LOADS["dummy"], link, Arm.parse("a", arm), FetchSettings(("*",), at_once, warm=False))


def test_losses_make_a_fetch_longer_by_as_few_connections_as_it_has() -> None:
    """Of 1.115 MB with 1% lost and 100 ms one connection takes 6.7 s, as in a page load."""
    h2 = {"protocol": "h2", "tls": "1.3"}
    assert fetched("1%", 1) - fetched("0%", 1) == pytest.approx(5.1, abs=0.3)
    assert fetched("1%", 6, **h2) - fetched("0%", 6, **h2) == pytest.approx(5.4, abs=0.3)
    assert fetched("1%", 6) == fetched("0%", 6)  # six together let more through than the link's rate
    assert fetched("1%", 6, connections_per_host=1) > fetched("0%", 6) + 4
    assert fetched("0.001%", 1) == fetched("0%", 1)


@PATIENT
@given(st.integers(1, 1000), st.integers(1, 20), st.integers(0, 10**8), st.sampled_from(["h2", "http/1.1"]))
def test_estimates_never_fail(objects: int, hosts: int, size: int, protocol: str) -> None:
    arm = Arm.parse("a", {"protocol": protocol, "tls": "1.3", "dns": "resolver"})
    for link in (Link.parse({}), Link.parse({"rtt": "1s", "rate": "8kbit"})):
        assert expected_plt(SiteLoad(objects, hosts, size), link, arm) > 0


def test_time_and_disk_add_up() -> None:
    made = estimate(read(f"{GRID}trials: 4\n"), LOADS)
    assert (made.trials, made.most_trials, made.self_tests) == (72, 72, 3)
    assert made.seconds == pytest.approx(2.5 + 3 * (2 + 1.5) + 4 * sum(one.trial_s for one in made.cells))
    assert made.disk_bytes == 4 * sum(one.disk_bytes for one in made.cells)
    until = estimate(read(f"{GRID}until: {{ci: 2%, min: 5, max: 30}}\n"), LOADS)
    assert (until.trials, until.most_trials) == (180, 540)  # five are too few for a look
    assert until.most_seconds > until.seconds


def disk(more: str) -> int:
    return estimate(read(SMALL + more), LOADS).disk_bytes


def test_what_is_kept_takes_disk() -> None:
    assert disk("capture: off\n") < disk("capture: {snaplen: 96B}\n") < disk("") < disk("capture: [client, server]\n")
    assert disk("") > 10 * 2 * LOADS["dummy"].bytes
    assert disk("screenshot: true\n") > disk("")
    assert disk("netlog: true\n") > disk("")


def test_each_link_takes_one_self_test() -> None:
    assert estimate(read(SMALL), LOADS).self_tests == 2


def test_a_page_load_ends_with_its_timeout() -> None:
    made = estimate(read(SMALL.replace("10mbit", "8kbit") + "timeout: 5s\n"), LOADS)
    assert {one.plt_s for one in made.cells} == {5.0}


@pytest.mark.parametrize(
    ("settings", "more_s"),
    [("unreachable: dummy.test", 131), ("answer_delay: {dummy.test: 3s, default: 1s}", 3), ("block: dummy.test", 0)],
)
def test_third_parties_that_hold_a_page_up_are_in_the_estimate(settings: str, more_s: float) -> None:
    text = f"sites: dummy\nlinks: {{rtt: 20ms}}\narms:\n  well: {{}}\n  ill: {{{settings}}}\ntimeout: 200s\n"
    well, ill = estimate(read(text), LOADS).cells
    assert ill.plt_s - well.plt_s == pytest.approx(more_s)


def test_warnings() -> None:
    quiet = read(f"{SMALL}trials: 7\n")
    five = read(SMALL)
    (few,) = warnings(five, estimate(five, LOADS))
    assert few.startswith("5 rounds are too few to tell any of 2 comparisons from chance: write trials: 7 or more")
    assert warnings(quiet, estimate(quiet, LOADS)) == []
    for more, words in (
        ("trials: 3\n", "3 trials in each cell"),
        ("order: sequential\n", "drift of the machine"),
        ("timeout: 2s\n", "may take"),
    ):
        experiment = read(SMALL + ("" if "trials" in more else "trials: 7\n") + more)
        (warning,) = warnings(experiment, estimate(experiment, LOADS))
        assert words in warning


def test_a_fetch_that_may_not_end_in_its_time_is_warned_of() -> None:
    text = "workload: fetch\nsites: dummy\nlinks: {rtt: 100ms, rate: 10mbit, loss: 1%}\narms: {a: {}}\ntrials: 7\n"
    for timeout, words in (("10s", ["may take 9 s or more, and timeout is 10s"]), ("20s", [])):
        experiment = read(f"{text}timeout: {timeout}\n")
        found = [each for each in warnings(experiment, estimate(experiment, LOADS)) if "may take" in each]
        assert [each[each.index("may take") :] for each in found] == words


GATEWAY = "sites: dummy\nlinks: {rate: 10mbit, rtt: 20ms}\narms: "


@pytest.mark.parametrize(
    ("arms", "warned"),
    [
        ("{http: {}, spdy: {protocol: spdy/3.1}}", True),
        ("{http: {via: gateway}, spdy: {protocol: spdy/3.1}}", False),
        ("{http: {}, same: {via: gateway}, spdy: {protocol: spdy/3.1}}", False),  # it measures what the gateway costs
        ("{http: {}, other: {via: gateway, tls: 1.3}}", True),
    ],
)
def test_arms_that_go_different_ways_are_warned_of(arms: str, warned: bool) -> None:
    experiment = read(GATEWAY + arms)
    found = warnings(experiment, estimate(experiment, LOADS))
    assert any("some arms go through the gateway and others do not" in words for words in found) is warned


@pytest.mark.parametrize(
    ("arms", "warned"),
    [
        ("{http: {via: gateway}, tls: {compression: brotli, tls: 1.3, via: gateway}}", True),
        ("{http: {compression: brotli, via: gateway}, tls: {compression: brotli, tls: 1.3, via: gateway}}", False),
        ("{spdy: {compression: brotli, protocol: spdy/3}, tls: {tls: 1.3, via: gateway}}", False),
    ],
)
def test_brotli_that_comes_with_tls_only_is_warned_of(arms: str, warned: bool) -> None:
    experiment = read(GATEWAY + arms)
    found = warnings(experiment, estimate(experiment, LOADS))
    assert any("brotli is in arms with TLS only" in words for words in found) is warned


@pytest.mark.parametrize(("connections", "warned"), [(6, False), (23, False), (24, True)])
def test_pipelining_where_each_object_has_a_connection_is_warned_of(connections: int, warned: bool) -> None:
    experiment = read(GATEWAY + f"{{ahead: {{pipelining: 4, connections_per_host: {connections}}}}}")
    found = warnings(experiment, estimate(experiment, LOADS))
    assert any("pipelining can do nothing in ahead" in words for words in found) is warned


@pytest.mark.parametrize(
    ("arm", "warned"),
    [
        ("protocol: h2, tls: 1.3", True),
        ("protocol: h2, tls: 1.3, addresses: per-origin", False),
        ("protocol: h2, tls: 1.3, via: gateway", False),
        ("protocol: h2, tls: 1.3, browser: firefox", False),
        ("tls: 1.3", False),
    ],
)
def test_images_that_chromium_holds_back_are_warned_of(arm: str, warned: bool) -> None:
    experiment = read(f"sites: shop\nlinks: {{rtt: 20ms}}\narms: {{one: {{{arm}}}}}")
    load = SiteLoad(40, 6, 300_000, has_many_hosts_images=True)
    found = warnings(experiment, estimate(experiment, {"shop": load}))
    assert any("one: of hosts that share a connection" in words for words in found) is warned


@pytest.mark.parametrize(
    ("images", "held"),
    [((20,), False), ((20, 6, 4), False), ((1, 7), True), ((20, 7), True), ((20, 6, 5), True), ((), False)],
)
def test_which_pages_have_more_images_than_chromium_asks_for(images: tuple[int, ...], held: bool) -> None:
    objects = [
        SiteObject(f"{host}.test", f"/{number}.png", 100, "image/png", "0" * 64)
        for host, count in enumerate(images)
        for number in range(count)
    ]
    objects += [SiteObject("9.test", f"/{number}.css", 100, "text/css", "0" * 64) for number in range(30)]
    assert SiteLoad.of(objects, "0.test").has_many_hosts_images is held


@pytest.mark.parametrize(
    ("policy", "depth", "warned"), [("chromium", 3, False), ("chromium", 4, True), ("eager", 4, False)]
)
def test_pipelines_deeper_than_chromiums_are_warned_of(policy: str, depth: int, warned: bool) -> None:
    experiment = read(GATEWAY + f"{{ahead: {{pipelining: {depth}, pipelining_policy: {policy}}}}}")
    found = warnings(experiment, estimate(experiment, LOADS))
    assert any("Chromium's pipelines were 3 requests deep" in words for words in found) is warned


@pytest.mark.parametrize(
    ("window", "arms", "warned"),
    [
        ("initial_receive_window: 4", "{quic: {server: caddy, protocol: h3, tls: 1.3}}", ["quic"]),
        ("initial_receive_window_server: 4", "{quic: {server: caddy, protocol: h3, tls: 1.3}, tcp: {}}", ["quic"]),
        ("initial_window: 4", "{quic: {server: caddy, protocol: h3, tls: 1.3}}", []),
        ("initial_receive_window: 4", "{told: {server: caddy, protocol: h3, tls: 1.3, h3_discovery: alt-svc}}", []),
        (
            "initial_receive_window: 4",
            "{both: {server: caddy, protocol: h3, tls: 1.3, addresses: per-origin, origins: {x.test: {protocol: h2}}}}",
            [],
        ),
    ],
)
def test_a_window_of_tcp_where_none_is_spoken_is_warned_of(window: str, arms: str, warned: list[str]) -> None:
    experiment = read(f"sites: dummy\nlinks: {{rtt: 20ms, {window}}}\narms: {arms}")
    found = [each for each in warnings(experiment, estimate(experiment, LOADS)) if "initial_receive_window" in each]
    assert found == [
        f"initial_receive_window does nothing in {name}: it is TCP's, and HTTP/3 alone is spoken there, over QUIC"
        for name in warned
    ]


@pytest.mark.parametrize(
    ("settings", "arms", "warned"),
    [
        ("initial_window: 45", "{tcp: {}}", []),
        ("initial_window: 60", "{tcp: {}}", [("server", 45, 60), ("client", 45, 60)]),
        ("initial_window_server: [3, 10, 60]", "{tcp: {}}", [("server", 45, 60)]),
        ("initial_window: 45, timestamps: false", "{tcp: {}}", [("server", 44, 45), ("client", 44, 45)]),
        ("initial_window_client: 100, mtu: 576", "{tcp: {}}", []),
        ("initial_window: 60", "{quic: {server: caddy, protocol: h3, tls: 1.3}}", []),
    ],
)
def test_initial_windows_that_nobody_offers_to_take_are_warned_of(
    settings: str, arms: str, warned: list[tuple[str, int, int]]
) -> None:
    experiment = read(f"sites: dummy\nlinks: {{rtt: 20ms, {settings}}}\narms: {arms}")
    found = [each for each in warnings(experiment, estimate(experiment, LOADS)) if "first flight" in each]
    assert found == [
        f"the {name}'s first flight has {most} packets at most, and not its initial_window of {window}: no more than "
        "64 KiB are offered before a connection is there"
        for name, most, window in warned
    ]


def test_what_multiplexes_or_sends_ahead_needs_fewer_round_trips() -> None:
    slow = "links: {rtt: 200ms}\n"
    arms = "arms: {closing: {keepalive: off}, http: {}, ahead: {pipelining: 4}, spdy: {protocol: spdy/3.1}}"
    closing, http, ahead, spdy = (one.plt_s for one in estimate(read(f"sites: dummy\n{slow}{arms}"), LOADS).cells)
    assert ahead < http < closing
    assert spdy < closing


def test_the_load_of_a_site_is_in_its_manifest() -> None:
    load = SiteLoad.of(read_site_manifest("dummy").objects, "dummy.test")
    assert (load.objects, load.hosts) == (24, 1)
    assert 1_000_000 < load.bytes < 1_300_000


# --- on several beds at once


def spread(text: str, workers: int) -> float:
    experiment = read(f"{GRID}{text}")
    return estimate_spread(experiment, estimate(experiment, LOADS), workers).seconds


def test_beds_at_once_share_the_trials_and_each_has_its_self_tests() -> None:
    experiment = read(f"{GRID}trials: 20\n")
    made = estimate(experiment, LOADS)
    bed_s = 2.5 + 3 * (2 + 1.5)
    alone = made.seconds - bed_s
    one, four = (estimate_spread(experiment, made, workers) for workers in (1, 4))
    assert one.portions == four.portions == 6 * 20  # sites x links x rounds: the arms stay together
    assert alone < one.seconds - bed_s < alone + one.portions
    assert four.seconds - bed_s == pytest.approx((one.seconds - bed_s) / 4, rel=0.05)
    assert four.seconds > one.seconds / 4


@PATIENT
@given(st.integers(1, 200), st.integers(1, 40), st.sampled_from(["interleaved", "random"]))
def test_more_beds_never_take_longer_and_no_bed_works_for_two(workers: int, trials: int, order: str) -> None:
    text = f"trials: {trials}\norder: {order}\n"
    fewer, more = spread(text, workers), spread(text, workers + 1)
    assert more <= fewer * 1.000001
    assert fewer >= spread(text, 1) / workers * 0.999999


def test_no_more_beds_work_than_there_are_portions() -> None:
    assert spread("trials: 2\n", 12) == spread("trials: 2\n", 500)
    assert spread("trials: 2\norder: random\n", 2) == spread("trials: 2\norder: random\n", 500)
    assert spread("trials: 2\norder: random\n", 2) > spread("trials: 2\n", 12)


def test_cells_one_after_the_other_need_one_bed() -> None:
    with pytest.raises(InputError, match="sequential"):
        spread("order: sequential\n", 2)
