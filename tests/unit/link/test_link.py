"""The link: resolved once, printed so that it reads back, and refused where it cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.units import Rate, Ratio
from lanelab.driver.experiment.traces import with_traces
from lanelab.driver.link import SETTINGS, GilbertElliott, Link, RandomLoss
from lanelab.driver.link.bottleneck import Queue
from lanelab.driver.link.link_values import LONGEST_TRACE
from tests.kit.links import settings


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


@pytest.mark.parametrize(
    ("written", "printed"),
    [("20 packets", "20p"), ("64kB", "64kB"), ("1500B", "1.5kB"), ("0.05s", "50ms"), ("1.50bdp", "1.5bdp")],
)
def test_queues_are_printed_so_that_they_read_back(written: str, printed: str) -> None:
    assert str(Queue.parse(written)) == printed
    assert Queue.parse(printed) == Queue.parse(written)


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


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ({"rate": "1%", "burst": 4}, "bursts(1%, 4)"),
        ("{rate: 1%, burst: 4}", "bursts(1%, 4)"),
        (" bursts ( 1% , 4.0 ) ", "bursts(1%, 4)"),
        ("bursts(2.5%, 1.5)", "bursts(2.5%, 1.5)"),
        ("bursts(50%, 1)", "bursts(50%, 1)"),
        ("bursts(0.1%, 1000)", "bursts(0.1%, 1000)"),
    ],
)
def test_losses_in_bursts_have_the_rate_and_the_length_that_are_written(written: object, shown: str) -> None:
    link = Link.parse({"loss": written})
    loss = link.down.loss
    assert isinstance(loss, GilbertElliott)
    rate, _, length = shown.removeprefix("bursts(").removesuffix(")").partition(", ")
    assert loss.mean_loss == pytest.approx(float(rate.removesuffix("%")) / 100, rel=1e-3)
    assert loss.mean_burst == pytest.approx(float(length), rel=1e-6)
    assert 1 / (1 - loss.followed) == pytest.approx(float(length), rel=1e-6)
    assert link.to_mapping()["loss"] == shown
    assert Link.parse(link.to_mapping()) == link


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
        needed = {"rtt": "5ms"} if key == "distances" else needed  # no host is nearer than that
        link = Link.parse(needed | with_traces({key: setting.example}, PROJECT))
        assert link.to_mapping() != Link.parse(needed).to_mapping(), f"{key} has no effect"
        assert setting.help
        if setting.default:
            assert setting.default_value() is not NotImplemented
        else:
            assert setting.default_words
