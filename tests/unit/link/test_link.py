"""The link: resolved once, printed so that it reads back, and refused where it cannot be."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.units import Rate, Ratio
from lanelab.driver.experiment.traces import with_traces
from lanelab.driver.link import SETTINGS, GilbertElliott, Link, RandomLoss
from lanelab.driver.link.written import LONGEST_TRACE
from tests.kit.links import settings

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "link.md"


@given(settings())
def test_a_link_reads_back_from_its_own_settings(mapping: dict[str, object]) -> None:
    link = Link.parse(mapping)
    again = Link.parse(link.to_mapping())
    assert again == link
    assert hash(again) == hash(link)
    assert again.to_mapping() == link.to_mapping()
    assert {name: value for name, value, _ in link.describe()} == link.to_mapping()


@given(
    st.sampled_from(sorted(SETTINGS)), st.text(max_size=30) | st.integers() | st.floats() | st.none() | st.booleans()
)
def test_any_value_is_taken_or_refused_in_one_line(key: str, value: object) -> None:
    refused = refusal({key: value})
    if refused:
        assert refused.key
        assert refused.remedy
        assert "\n" not in str(refused)


def refusal(mapping: dict[str, object]) -> InputError | None:
    try:
        Link.parse(mapping)
    except InputError as error:
        return error
    return None


def test_absurd_values_are_not_repeated() -> None:
    for value in (10**5000, -(10**5000), "ge(" + "p" * LONGEST_TRACE):
        for key in SETTINGS:
            refused = refusal({key: value})
            assert refused
            assert "far too long" in str(refused)


def test_nothing_asked_is_nothing_added() -> None:
    link = Link.parse({})
    assert not link.rtt
    assert link.down == link.up
    assert (link.down.rate, link.down.queue_bytes, link.down.queue_packets) == (None, None, None)
    assert link.down.loss == RandomLoss(Ratio(0))
    assert (link.client.congestion_control, link.client.initial_window, link.mtu) == ("cubic", 10, 1500)
    assert link == Link.parse({"rtt": 0, "rate": "unlimited", "loss": "0%", "discipline": "fifo"})


@pytest.mark.parametrize(
    ("mapping", "down", "up"),
    [
        ({"rtt": "85ms"}, "42.5ms", "42.5ms"),
        ({"delay_down": "40ms", "delay_up": "45ms"}, "40ms", "45ms"),
        ({"delay_down": "40ms"}, "40ms", "0ms"),
        ({"rtt": "85ms", "delay_down": "40ms"}, "40ms", "45ms"),
        ({"rtt": "85ms", "delay_up": "85ms"}, "0ms", "85ms"),
        ({"rtt": "85ms", "delay_down": "40ms", "delay_up": "45ms"}, "40ms", "45ms"),
        ({"rtt": "1000001ns"}, "500us", "500001ns"),
    ],
)
def test_delays(mapping: dict[str, object], down: str, up: str) -> None:
    link = Link.parse(mapping)
    assert (str(link.down.delay), str(link.up.delay)) == (down, up)
    assert link.rtt == link.down.delay + link.up.delay


@pytest.mark.parametrize(
    ("queue", "packets", "size"),
    [
        ({}, 100, None),  # 1bdp is 83 packets
        ({"rtt": "200ms"}, 166, None),
        ({"mtu": 1000}, 124, None),
        ({"rate": "500kbit"}, 41, None),  # those of a second
        ({"rate": "500kbit", "rtt": "2s"}, 83, None),
        ({"rate": "30kbit"}, 4, None),
        ({"rate": "30kbit", "mtu": 576}, 6, None),
        ({"queue": "20p"}, 20, None),
        ({"queue": "20 packets"}, 20, None),
        ({"queue": "1 packet"}, 1, None),
        ({"queue": "64kB"}, None, 64_000),
        ({"queue": "50ms"}, None, 62_500),
        ({"queue": "1.5bdp"}, None, 187_500),
        ({"queue": "20p", "queue_down": "64kB"}, None, 64_000),
    ],
)
def test_queues_come_to_packets_or_bytes(queue: dict[str, object], packets: int | None, size: int | None) -> None:
    down = Link.parse({"rtt": "100ms", "rate": "10mbit", **queue}).down
    assert (down.queue_packets, down.queue_bytes) == (packets, size)


def test_a_setting_for_both_applies_where_it_can() -> None:
    link = Link.parse({"rate_down": "1mbit", "queue": "20p", "discipline": "cake"})
    assert (link.down.queue_packets, link.down.discipline) == (20, "cake")
    assert (link.up.queue_packets, link.up.discipline) == (None, "fifo")


def test_a_specific_setting_wins() -> None:
    link = Link.parse(
        {"rate": "1mbit", "rate_up": "unlimited", "congestion_control": "bbr", "initial_window_client": 3}
    )
    assert (link.down.rate, link.up.rate) == (Rate(10**6), None)
    assert (link.client.congestion_control, link.client.initial_window, link.server.initial_window) == ("bbr", 3, 10)


def test_loss_models() -> None:
    assert Link.parse({"loss": "random(0.1%)"}) == Link.parse({"loss": "0.1%"})
    loss = Link.parse({"loss": "ge(p=1%, r=9%)"}).down.loss
    assert isinstance(loss, GilbertElliott)
    assert (str(loss.bad), str(loss.good)) == ("100%", "0%")
    assert loss.mean_loss == pytest.approx(0.1)
    assert loss.mean_burst == pytest.approx(100 / 9)
    assert Link.parse({"loss": "ge(p=1%,r=9%,bad=50%,good=1%)"}).up.loss.mean_loss == pytest.approx(0.059)


REFUSED: list[tuple[dict[str, object], str, str]] = [
    ({"rtt": "20mbit"}, "rtt", "20mbit is a rate, not a duration. Write it like 20ms"),
    ({"rtt": 100}, "rtt", "100 has no unit. Write 100ms"),
    ({"rtt": None}, "rtt", "it has no value"),
    ({"rtt": "500us"}, "rtt", "the router itself takes about 0.3ms. Ask for 1ms or more, or 0 for no added delay"),
    ({"delay_up": "0.2ms"}, "delay_up", "Ask for 1ms or more"),
    ({"rtt": "50ms", "delay_down": "60ms"}, "rtt", "rtt 50ms is below what delay_down 60ms alone takes"),
    ({"rtt": "50ms", "delay_up": "60ms"}, "rtt", "rtt 50ms is below what delay_up 60ms alone takes"),
    ({"rtt": "50ms", "delay_up": "5ms", "delay_down": "5ms"}, "rtt", "which make 10ms. Leave one of the three out"),
    ({"delay_down": "11s"}, "delay_down", "more than 10s"),
    ({"rtt": "21s"}, "rtt", "more than 10s"),
    ({"rate": "-5mbit"}, "rate", "-5mbit is negative"),
    ({"rate_up": "0mbit"}, "rate_up", "a rate of zero lets nothing through"),
    ({"rate": "1gbit"}, "rate", "1gbit is above what the router can carry reliably (500mbit)"),
    ({"rate": "7kbit"}, "rate", "below 8kbit"),
    ({"rate": "500mbit", "rtt": "6s"}, "rate", "more than 64MB in the router"),
    ({"loss": "120%"}, "loss", "120% is above 100%: there is no more than all"),
    ({"loss": "100%"}, "loss", "100% loses every packet"),
    ({"loss_down": "random(100%)"}, "loss_down", "100% loses every packet"),
    ({"loss": 0.01}, "loss", "0.01 has no unit. Write 1% (as a fraction) or 0.01%"),
    ({"loss": "ge(p=1%)"}, "loss", "r of ge(...) is missing: the first burst would never end"),
    ({"loss": "ge(p=0%, r=1%)"}, "loss", "p of ge(...) is 0%: no burst would ever begin"),
    ({"loss": "ge(p=1%, r=1%, r=2%)"}, "loss", "r is given twice"),
    ({"loss": "ge(p=1%, q=1%)"}, "loss", "'q=1%' is not a parameter"),
    ({"loss": "ge(p=1%, r=1%, good=100%)"}, "loss", "loses every packet"),
    ({"loss": "burst(1%)"}, "loss", "unknown loss model 'burst'"),
    ({"rate": "1mbit", "queue": "0p"}, "queue", "a queue of zero drops every packet"),
    ({"rate": "1mbit", "queue": 0}, "queue", "a queue of zero drops every packet"),
    ({"rate": "1mbit", "queue": "0ms"}, "queue", "a queue of zero drops every packet"),
    ({"rate": "1mbit", "queue": 100}, "queue", "100 has no unit. Write packets (100p)"),
    ({"rate": "1mbit", "queue": "1.5p"}, "queue", "not a whole number of packets"),
    ({"rate": "1mbit", "queue": "-5p"}, "queue", "-5p is negative"),
    ({"rate": "1mbit", "queue": "1000B"}, "queue", "does not hold one full-size packet of 1514B"),
    ({"rate": "1mbit", "queue": "1bdp"}, "queue", "the bandwidth-delay product is zero where rtt is 0"),
    ({"rate": "1mbit", "queue": "100MB"}, "queue", "more than the router can hold (64MB)"),
    ({"rate": "1mbit", "queue": "9" * 30 + "p"}, "queue", "more than the router can hold"),
    ({"queue": "100p"}, "queue", "it means nothing without a rate. Set rate too, or leave queue out"),
    ({"queue": "1bdp", "rtt": "50ms"}, "queue", "it means nothing without a rate"),
    ({"rate_down": "1mbit", "queue_up": "9p"}, "queue_up", "it means nothing without a rate up"),
    ({"discipline": "cake"}, "discipline", "it means nothing without a rate"),
    ({"rate": "1mbit", "aqm_target": "5ms"}, "aqm_target", "the discipline fifo has no such setting"),
    ({"rate": "1mbit", "discipline": "red", "aqm_target": "5ms"}, "aqm_target", "red has no such setting"),
    ({"rate": "1mbit", "discipline": "red", "queue": "4p"}, "queue", "red has no room between its thresholds"),
    ({"rate": "1mbit", "discipline": "cake", "queue_ecn": "false"}, "queue_ecn", "cake always marks"),
    ({"rate": "1mbit", "discipline": "codel", "aqm_target": "200ms"}, "aqm_target", "is not below the interval"),
    ({"rate": "1mbit", "discipline": "codel", "aqm_target": "1us"}, "aqm_target", "no discipline works with 1us"),
    ({"discipline": "fq_codell", "rate": "1mbit"}, "discipline", "Did you mean fq_codel?"),
    ({"jitter": "5ms"}, "jitter", "Set rtt or delay_down too"),
    ({"jitter_up": "15ms", "rtt": "20ms"}, "jitter_up", "Write a jitter_up of 10ms or less"),
    ({"jitter": "2.1s", "rtt": "10s"}, "jitter", "more than 2s. Write 2s or less"),
    ({"jitter_distribution": "pareto", "rtt": "20ms"}, "jitter_distribution", "it means nothing without a jitter"),
    ({"jitter_reorders": "maybe"}, "jitter_reorders", "neither true nor false"),
    ({"reorder": "1%"}, "reorder", "packets cannot overtake down, where there is no delay to skip"),
    ({"reorder": "100%", "rtt": "20ms"}, "reorder", "100% leaves nothing to chance"),
    ({"jitter_correlation": "1%"}, "jitter_correlation", "it means nothing without a jitter"),
    ({"duplicate": "101%"}, "duplicate", "above 100%"),
    ({"mtu": 9000}, "mtu", "9000 cannot be used. Write a whole number of bytes from 576 to 1500"),
    ({"initial_window": 0}, "initial_window", "Write a whole number of packets from 1 to 1000"),
    ({"initial_window_server": "3.5"}, "initial_window_server", "cannot be used"),
    ({"congestion_control": "cubic; reboot"}, "congestion_control", "is no name of a congestion control"),
    ({"rate_dwn": "1mbit"}, "rate_dwn", "there is no such setting. Did you mean rate_down?"),
    ({"Rate-Down": "1mbit"}, "Rate-Down", "Did you mean rate_down?"),
    ({"rtt_down": "10ms"}, "rtt_down", "Did you mean delay_down?"),
    ({"bandwidth": "1mbit"}, "bandwidth", "Did you mean rate?"),
    ({"zzz": 1}, "zzz", "Settings are path, rtt, delay_down, delay_up, rate, rate_trace"),
]


@pytest.mark.parametrize(("mapping", "key", "message"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_refuses(mapping: dict[str, object], key: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        Link.parse(mapping)
    assert error.value.key == key
    assert message in str(error.value)
    assert str(error.value).startswith(f"{key}: ")


OF_THE_ROUTER = [
    *(key for key in SETTINGS if SETTINGS[key].side in ("down", "up")),
    *("rtt", "rate", "loss", "jitter", "duplicate", "reorder", "queue", "discipline"),
]


@pytest.mark.parametrize("key", OF_THE_ROUTER)
def test_a_direct_link_has_nothing_of_a_router(key: str) -> None:
    with pytest.raises(InputError, match="a direct link has no router") as error:
        Link.parse({"path": "direct", **with_traces({key: SETTINGS[key].setting.example}, PROJECT)})
    assert error.value.key == key
    default = SETTINGS[key].setting.default
    if isinstance(default, str) and default:
        with pytest.raises(InputError, match="a direct link has no router"):  # not even what it would be
            Link.parse({"path": "direct", key: default})


def test_a_direct_link_has_all_of_the_hosts() -> None:
    hosts = {"congestion_control_server": "reno", "initial_window": "3", "delayed_ack_client": "false", "mtu": "1400"}
    link = Link.parse({"path": "direct", **hosts})
    assert link.direct
    assert Link.parse(link.to_mapping()) == link
    assert link.to_mapping().keys().isdisjoint(OF_THE_ROUTER)
    assert link.to_mapping()["initial_window"] == "3"
    assert link != Link.parse(hosts)
    assert Link.parse({"path": "router", **hosts}) == Link.parse(hosts)


def test_description_says_what_a_value_comes_to() -> None:
    meanings = {
        name: meaning
        for name, _, meaning in Link.parse(
            {"rtt": "100ms", "rate": "10mbit", "queue_up": "50ms", "loss": "ge(p=1%, r=9%)"}
        ).describe()
    }
    assert "10.000% on average, bursts of 11.11 packets" in meanings["loss"]
    assert "100 full-size packets, 121.1 ms when full" in meanings["queue_down"]
    assert "towards the server (41 full-size packets, 50 ms when full)" in meanings["queue_up"]


def test_every_row_of_the_table_can_be_used() -> None:
    for setting in SETTINGS.settings:
        key = setting.keys[0].name
        needed = {"rtt": "50ms", "rate": "1mbit", "jitter": "1ms", "reorder": "2%"} if key != "path" else {}
        needed |= {"discipline": "codel"} if setting.name in ("aqm_target", "aqm_interval", "queue_ecn") else {}
        needed = {"rate_trace": {"rtt": "50ms"}, "delay_trace": {"rate": "1mbit"}, "radio": {"rate": "1mbit"}}.get(
            setting.name, needed
        )
        link = Link.parse(needed | with_traces({key: setting.example}, PROJECT))
        assert link.to_mapping() != Link.parse(needed).to_mapping(), f"{key} has no effect"
        assert setting.help
        if setting.default:
            assert setting.default_value() is not NotImplemented
        else:
            assert setting.default_words


def test_the_reference_shows_the_table() -> None:
    assert SETTINGS.markdown() in REFERENCE.read_text(), "python tests/unit/link/test_profiles.py writes it again"
