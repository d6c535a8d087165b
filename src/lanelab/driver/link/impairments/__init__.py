"""What a direction of the link does to packets, besides its delay and its bottleneck.

Each file here is one impairment: its settings, its words for netem, what the self-test has to send for it and what it
estimates from what arrived. All of it is pure. To add one, write its file and name its class in `IMPAIRMENTS`.
"""

from lanelab.driver.link.impairments.duplicate import Duplication
from lanelab.driver.link.impairments.impairment import Impairment
from lanelab.driver.link.impairments.jitter import Jitter
from lanelab.driver.link.impairments.loss import PacketLoss
from lanelab.driver.link.impairments.reorder import Reordering

# In the order of the reference, and in that in which netem gets its words.
IMPAIRMENTS: tuple[type[Impairment], ...] = (
    PacketLoss,
    Jitter,
    Duplication,
    Reordering,
)
