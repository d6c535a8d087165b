"""The link between client and server, from what the user asked for to what was measured.

What is asked for, pure:
fields       the table of settings
kinds        kinds of values, limits, sides
link_values  what the user wrote, each value read
impairments  what a direction does to packets: one file for each
bottleneck   the queue
direction    one way through the router
hosts        what the hosts' own TCP does
cross        bulk flows beside what is loaded
moving       what changes while a page loads
link         the link itself
profiles     named links

What is made of it:
shaping      the lines for tc and ip, and what tc must show afterwards. Pure
live         the link of a bed: set, drained, played, put back
selftest     whether it is what was asked for
arrivals     what arrived of a train of packets
distances    round trips to hosts that are not the usual one
chances      what a chance gives in a number of tries
results      target against achieved, verdicts
"""

from lanelab.driver.link.cross import CrossTraffic
from lanelab.driver.link.direction import Direction
from lanelab.driver.link.fields import DIRECT, SETTINGS
from lanelab.driver.link.hosts.host import Host
from lanelab.driver.link.impairments.loss import GilbertElliott, Loss, RandomLoss
from lanelab.driver.link.kinds import HEADER, MAX_RATE, MIN_RATE
from lanelab.driver.link.link import OF_ROUTER, Described, Link

__all__ = [
    "DIRECT",
    "HEADER",
    "MAX_RATE",
    "MIN_RATE",
    "OF_ROUTER",
    "SETTINGS",
    "CrossTraffic",
    "Described",
    "Direction",
    "GilbertElliott",
    "Host",
    "Link",
    "Loss",
    "RandomLoss",
]
