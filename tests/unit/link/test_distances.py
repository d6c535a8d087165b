"""Distances: which host is how far, what is refused, and that a link without them is as it was."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.host_names import matches
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import distance_network, distance_of, group_network, origin_addresses
from lanelab.driver.link import Link
from lanelab.driver.link.shaping.expected_tc import asked_queues, differences, shown_queues
from lanelab.driver.link.shaping.shaping import shape

NEAR_AND_FAR = "{cdn.example: 20ms, '*.ads.example': 200ms, big.ads.example: 150ms, default: 80ms}"
HOSTS = ("www.example", "cdn.example", "one.ads.example", "big.ads.example", "deep.one.ads.example")


def link(distances: str = NEAR_AND_FAR, **settings: str) -> Link:
    return Link.parse({"rtt": "10ms", "distances": distances, **settings})


def ms(text: str) -> Duration:
    return Duration.parse(text)


@pytest.mark.parametrize(
    ("host", "trip"),
    [
        ("cdn.example", "20ms"),
        ("www.cdn.example", "80ms"),  # a host's line is of that host alone
        ("one.ads.example", "200ms"),
        ("deep.one.ads.example", "200ms"),
        ("ads.example", "80ms"),  # a pattern is of what is below it
        ("bads.example", "80ms"),
        ("big.ads.example", "150ms"),  # a host's own line wins over a pattern
    ],
)
def test_each_host_has_its_distance(host: str, trip: str) -> None:
    to_host = link().to_host(host)
    assert to_host.rtt == ms(trip)
    assert (to_host.distances, to_host.access) == (Link.parse({}).distances, None)
    assert abs(to_host.down.delay.ns - to_host.up.delay.ns) <= 1


def test_a_longer_pattern_wins() -> None:
    both = link("{'*.example': 30ms, '*.ads.example': 60ms}")
    assert [both.to_host(host).rtt for host in HOSTS] == [ms(text) for text in ("30ms", "30ms", "60ms", "60ms", "60ms")]
    assert matches("*.ads.example", "one.ads.example")
    assert not matches("ads.example", "one.ads.example")


def test_without_a_default_others_are_as_far_as_the_link() -> None:
    assert link("{cdn.example: 20ms}").to_host("www.example") == Link.parse({"rtt": "10ms"})


def test_what_is_beyond_the_links_own_delays_is_half_in_each_direction() -> None:
    to_host = Link.parse({"delay_down": "15ms", "delay_up": "5ms", "distances": "{a.example: 60ms}"}).to_host(
        "a.example"
    )
    assert (to_host.down.delay, to_host.up.delay) == (ms("35ms"), ms("25ms"))


@pytest.mark.parametrize("distances", [NEAR_AND_FAR, "recorded", "none", "{a.example: 25ms}", "{default: 25ms}"])
@pytest.mark.parametrize("settings", [{}, {"rate": "5mbit", "queue": "50p"}, {"rtt": "12ms", "delay_down": "10ms"}])
def test_what_is_printed_reads_back(distances: str, settings: dict[str, str]) -> None:
    written = link(distances, **settings)
    assert Link.parse(written.to_mapping()) == written
    assert Link.parse(written.changed()) == written


def test_a_mapping_and_a_text_are_the_same() -> None:
    assert link() == Link.parse(
        {
            "rtt": "10ms",
            "distances": {
                "cdn.example": "20ms", "*.ads.example": "200ms", "big.ads.example": "150ms", "default": "80ms",
            },
        }
    )  # fmt: skip


def test_a_link_without_distances_is_what_it_was() -> None:
    """Identifiers of cells and keys of trials are digests of what is not the default."""
    plain = Link.parse({"rtt": "10ms", "distances": "none"})
    assert "distances" not in plain.changed()
    assert plain == Link.parse({"rtt": "10ms"}) == plain.usual == plain.to_host("a.example")
    assert plain.by_distance == (plain,)


@pytest.mark.parametrize(
    ("distances", "says"),
    [
        ("{a.example: 5ms}", "5ms to a.example is less than the 10ms that the link alone takes"),
        ("{a.example: 20ms, default: 5ms}", "5ms to default is less than the 10ms"),
        ("{a.example: 0}", "a round trip of 0ms cannot be had"),
        ("{a.example: 0.5ms}", "a round trip of 500us cannot be had"),
        ("{a.example: -5ms}", "-5ms is negative"),
        ("{a.example: 30s}", "30s is more than 10s in each direction"),
        ("{a.example: 20}", "20 has no unit"),
        ("{a.example: 20ms, A.example: 30ms}", "the distance of a.example is there twice"),
        ("{'*': 20ms}", "'*' is no host"),
        ("{'a.*.example': 20ms}", "'a.*.example' is no host"),
        ("{}", "there are no distances"),
        ("far", "'far' is no distances"),
        (", ".join(f"h{each}.example {20 + each}ms" for each in range(225)), "225 different distances, more than 224"),
    ],
)
def test_what_cannot_be_is_refused(distances: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        link(distances)
    assert says in str(refused.value)
    assert refused.value.key.startswith("distances")


@pytest.mark.parametrize(
    "settings",
    [
        {"rate": "5mbit", "outage": "100ms every 2s"},
        {"rate": "5mbit", "radio": "3g"},
    ],
)
def test_all_hosts_are_equally_far_on_a_link_that_moves(settings: dict[str, str]) -> None:
    with pytest.raises(InputError, match="all hosts are equally far"):
        link(**settings)


def test_nothing_is_far_without_a_router() -> None:
    with pytest.raises(InputError, match="a direct link has no router"):
        Link.parse({"path": "direct", "distances": "{a.example: 20ms}"})


def test_an_impairment_has_to_fit_the_nearest_host() -> None:
    assert link("{a.example: 20ms, default: 80ms}", rtt="0ms", jitter="10ms").down.jitter == ms("10ms")
    with pytest.raises(InputError, match="jitter"):
        link("{a.example: 20ms, default: 80ms}", rtt="0ms", jitter="11ms")


def test_addresses_tell_distances() -> None:
    addresses = origin_addresses(HOSTS, "per-origin", link().distance_to)
    assert list(addresses) == list(HOSTS)
    assert [link().to_address(address).rtt for address in addresses.values()] == [
        link().to_host(host).rtt for host in HOSTS
    ]
    assert addresses["www.example"] == "10.10.16.1"
    assert len(set(addresses.values())) == len(HOSTS)
    assert link().to_address("10.10.2.2") == link().usual
    assert [distance_of(str(distance_network(number)[1])) for number in (0, 15, 16, 223)] == [0, 15, 16, 223]
    assert distance_of("10.10.31.254") is None
    assert str(distance_network(223)) == "10.10.255.0/24"
    assert distance_network(16).subnet_of(group_network(1))


def test_so_many_hosts_at_one_distance_are_refused() -> None:
    hosts = [f"h{each}.ads.example" for each in range(255)]
    with pytest.raises(InputError, match="255 origins at one distance"):
        origin_addresses(hosts, "per-origin", link().distance_to)


def test_a_distance_that_the_router_lacks_or_has_otherwise_is_told() -> None:
    asked = asked_queues(link(), Duration(0))
    assert differences(asked, asked) == []
    assert len([each for each in asked if each.kind.startswith("netem")]) == 2 * (1 + len(link().far))
    without = [each for each in asked if each.kind != "netem 102:" or each.device != "to_client"]
    assert differences(asked, without) == ["to_client lacks netem 102:"]
    other = asked_queues(link(NEAR_AND_FAR.replace("150ms", "160ms")), Duration(0))
    told = differences(asked, other)
    assert "delay of netem 102: on to_client is 0.08 instead of 0.075" in told
    assert all("netem 102:" in each for each in told)


def test_what_tc_shows_is_known_by_its_handle() -> None:
    shown = shown_queues(
        [
            {"dev": "to_client", "kind": "prio", "handle": "1:", "options": {"bands": 2, "priomap": [0, 0]}},
            {"dev": "to_client", "kind": "netem", "handle": "2:", "options": {"delay": {"delay": 0.04}}},
            {"dev": "to_client", "kind": "netem", "handle": "101:", "options": {"delay": {"delay": 0.01}}},
            {"dev": "to_client", "kind": "pfifo", "handle": "0:"},
        ]
    )
    assert [each.kind for each in shown] == ["prio", "netem", "netem 101:"]


def test_loss_is_that_of_the_link_for_each_distance() -> None:
    lines = [line for line in shape(link(loss="2%"), Duration(0)).router_tc if " netem " in line]
    assert len(lines) == 2 * 4
    assert all("loss random 2%" in line for line in lines)
