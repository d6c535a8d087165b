"""Links for property tests: settings that make one, in any of the ways to write it."""

from hypothesis import strategies as st

from lanelab.driver.base.units import Duration, Rate, Ratio
from lanelab.driver.link import SETTINGS, GilbertElliott, Link


def part(most: int = 999_999_999) -> st.SearchStrategy[str]:
    return st.integers(0, most).map(lambda ppb: str(Ratio(ppb)))


def losses() -> st.SearchStrategy[str]:
    some = st.integers(1, 10**9).map(Ratio)
    bursts = st.builds(GilbertElliott, some, some, some, st.integers(0, 10**9 - 1).map(Ratio))
    lengths = st.builds("bursts({}, {})".format, st.integers(1_000_000, 500_000_000).map(Ratio), st.integers(1, 1000))
    return part() | bursts.map(str) | lengths


QUEUES = st.sampled_from(
    ["1p", "100 packets", "64kB", "1.5MB", "3s", "20bdp"]
)  # each holds a packet, and fits, at any rate below
EITHER = {
    "rate": st.integers(8_000, 5_000_000).map(lambda bps: str(Rate(bps))),
    "loss": losses(),
    "jitter": st.integers(1, 20_000_000).map(lambda ns: str(Duration(ns))),
    "jitter_distribution": st.sampled_from(["normal", "uniform", "pareto", "paretonormal"]),
    "jitter_correlation": part(),
    "jitter_reorders": st.booleans(),
    "reorder": part(),
    "duplicate": part(10**9),
    "queue": QUEUES,
    "discipline": st.sampled_from(["fifo", "codel", "fq_codel", "cake", "pie"]),
    "congestion_control": st.sampled_from(["bbr", "reno", "cubic"]),
    "initial_window": st.integers(1, 1000),
    "delayed_ack": st.booleans(),
    "timestamps": st.booleans(),
    "tail_loss_probe": st.booleans(),
    "ecn": st.sampled_from(["off", "accept", "ask"]),
    "sack": st.booleans(),
    "slow_start_after_idle": st.booleans(),
    "saved_metrics": st.booleans(),
    "cross": st.just("none"),
    "minimum_rto": st.integers(1, 60_000).map("{}ms".format),
    "receive_window": st.sampled_from(["kernel", "64KiB", "1MB"]),
    "initial_receive_window": st.sampled_from(["kernel", 1, 44]),
}
ONE_WAY = st.integers(40_000_000, 2 * 10**9).map(lambda ns: str(Duration(ns)))

ROUND_TRIP = st.integers(40_000_000, 2 * 10**9).map(lambda half_ns: str(Duration(2 * half_ns)))
SPARSE: tuple[dict[str, object], ...] = (
    {},
    {"rate": "500mbit"},
    {"rate_up": "8kbit"},
    {"rtt": "1ms"},
    {"rtt": "20s", "jitter": "2s"},
    {"delay_down": "1ms", "delay_up": "1ns", "reorder_up": "1%", "jitter_up": "1ns"},
    {"loss": "0.0000001%"},
    {"rate": "10mbit", "queue": "1514B"},
    {"rate": "10mbit", "queue": "1p", "discipline": "cake"},
    {"rate": "10mbit", "queue": "12p", "discipline": "red", "queue_ecn": "false"},
    {
        "rate": "10mbit",
        "discipline_down": "codel",
        "discipline_up": "pie",
        "aqm_target": "20ms",
        "aqm_interval": "30ms",
    },
    {"rate": "9999bit", "queue": "2s", "duplicate": "100%", "rtt": "50ms"},
)


@st.composite
def settings(draw: st.DrawFn, *, sides: bool = True) -> dict[str, object]:
    """Settings of a link that can be, in any of the ways to write it; without `sides` both directions are alike."""
    chosen: dict[str, object] = {"rtt": draw(ROUND_TRIP)}
    if sides and draw(st.booleans()):
        chosen = {"delay_down": draw(ONE_WAY), "delay_up": draw(ONE_WAY)}
    chosen |= {"rate": draw(EITHER["rate"]), "jitter": draw(EITHER["jitter"]), "mtu": draw(st.integers(576, 1500))}
    for name, key in SETTINGS.items():
        if key.setting.name in EITHER and (sides or not key.side) and draw(st.booleans()):
            chosen[name] = draw(EITHER[key.setting.name])
    return chosen


def links() -> st.SearchStrategy[Link]:
    """Links with everything set, with a single setting, and any between."""
    return settings().map(Link.parse) | st.sampled_from(SPARSE).map(Link.parse)
