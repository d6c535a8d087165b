"""The link between client and server: what the user asked for, checked and resolved. Pure.

kinds        kinds of values, limits, sides
impairments  what a direction does to packets: one file for each
bottleneck   the queue
cross        bulk flows beside what is loaded
fields       the table of settings
written      what the user wrote, each value read
direction    one way through the router
hosts        what the hosts' own TCP does
link         the link itself
arrivals     what arrived of a train of packets
chances      what a chance gives in a number of tries
results      target against achieved, verdicts
profiles     named links
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
