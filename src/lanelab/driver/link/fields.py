"""`SETTINGS` is the table of a link's settings. Those of impairments and of hosts come from their classes."""

from lanelab.driver.base.settings.kinds import DURATION, FLAG, choice, count
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.link.bottleneck import AQM_TIME, DEFAULT_QUEUE_PACKETS, DISCIPLINES, FIFO, QUEUE
from lanelab.driver.link.cross import CROSS, EXAMPLE, NONE
from lanelab.driver.link.distances import DISTANCES
from lanelab.driver.link.distances import EXAMPLE as DISTANCES_EXAMPLE
from lanelab.driver.link.distances import NONE as NO_DISTANCES
from lanelab.driver.link.hosts.host import HOST_SETTINGS
from lanelab.driver.link.impairments import IMPAIRMENTS
from lanelab.driver.link.kinds import DIRECTIONS, MAX_MTU, MIN_MTU, RATE
from lanelab.driver.link.moving import DELAY_TRACE, OUTAGE, RADIO, RATE_TRACE

_OF_ARMS = {
    name: ("it is not a setting of a link but of arms", f"Write {name} in each arm, or under 'defaults' for all arms")
    for name in ("dns", "addresses")
}
_OF_NOBODY = {
    "initial_rto": (
        "Linux has 1s compiled in, and no setting of a kernel changes it",
        "Leave it out; minimum_rto is the timeout once a round trip is known",
    ),
}

PATHS = ROUTER, DIRECT = "router", "direct"

# fmt: off
SETTINGS = Table((
    Setting("path", choice("NAME", *PATHS), ROUTER, "what is between client and server: the router, or nothing but a "
            "cable", DIRECT),
    Setting("rtt", DURATION, "0ms", "round trip that the link adds, half in each direction", "100ms",
            aliases=("delay", "latency")),
    Setting("delay", DURATION, "", "one-way delay", "40ms", sides=DIRECTIONS, both_sides=False, aliases=("rtt",),
            default_words="half of `rtt`, or what the other leaves of it"),
    Setting("distances", DISTANCES, NO_DISTANCES, "whole round trips to hosts of the site that are not `rtt` "
            "away; needs arms with `addresses: per-origin`", DISTANCES_EXAMPLE,
            aliases=("distance", "rtts")),
    Setting("rate", RATE, "unlimited", "rate of the bottleneck", "1.5mbit", sides=DIRECTIONS,
            aliases=("bandwidth", "speed")),
    Setting("rate_trace", RATE_TRACE, "", "rates that follow one another, and begin again at the end; `rate` is then "
            "their mean", "lte-driving", sides=DIRECTIONS, default_words="none"),
    Setting("delay_trace", DELAY_TRACE, "", "one-way delays that follow one another; `delay` is then the least of them",
            "leo-delay", sides=DIRECTIONS, default_words="none"),
    Setting("outage", OUTAGE, "", "how long nothing passes at the end of each period: packets wait in the queue",
            "500ms every 10s", sides=DIRECTIONS, needs="rate", default_words="none"),
    Setting("radio", RADIO, "none", "states of a cellular radio: the first packet after a pause has to wait", "3g"),
    *(setting for impairment in IMPAIRMENTS for setting in impairment.SETTINGS),
    Setting("queue", QUEUE, "", "how much may wait before the bottleneck", "1.5bdp", sides=DIRECTIONS, needs="rate",
            default_words="`1bdp` in full-size packets; at least "
            f"{DEFAULT_QUEUE_PACKETS}, or a second's worth if less"),
    Setting("discipline", choice("NAME", *DISCIPLINES), FIFO, "how the queue is served", "fq_codel",
            sides=DIRECTIONS, needs="rate"),
    Setting("aqm_target", AQM_TIME, "", "the delay that may stand in a queue of codel, fq_codel or pie", "20ms",
            sides=DIRECTIONS, needs="rate", default_words="`5ms`; pie: `15ms`", aliases=("target",)),
    Setting("aqm_interval", AQM_TIME, "", "the time over which codel and fq_codel look at the delay; cake's `rtt`; how "
            "often pie looks", "200ms", sides=DIRECTIONS, needs="rate", default_words="`100ms`; pie: `15ms`",
            aliases=("interval",)),
    Setting("queue_ecn", FLAG, "true", "whether a discipline that manages its queue marks packets of flows that "
            "understand it, instead of dropping them. Hosts ask for it with `ecn: ask`", "false", sides=DIRECTIONS,
            needs="rate", aliases=("mark",)),
    Setting("cross", CROSS, NONE, "bulk TCP flows over the link from before each load until after it, to the client "
            "(`way: down`) or the server; needs a rate there", EXAMPLE, aliases=("cross_traffic", "background")),
    Setting("mtu", count("BYTES", "bytes", MIN_MTU, MAX_MTU), "1500", "largest IP packet", "1400"),
    *HOST_SETTINGS,
), noun="setting", all_are="Settings are", elsewhere={**_OF_ARMS, **_OF_NOBODY})
# fmt: on
