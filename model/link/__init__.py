"""The link between client and server: what the user asked for, checked and resolved. Knows nothing of tc.

values      losses and queues: values made of several
fields      the table of settings
given       what the user wrote, each value read
direction   one way through the router
link        the link itself
"""

from model.link.direction import Direction
from model.link.fields import HEADER, MAX_RATE, MIN_RATE, SETTINGS
from model.link.link import Described, Host, Link
from model.link.values import GilbertElliott, Loss, Queue, RandomLoss

__all__ = [
    "HEADER",
    "MAX_RATE",
    "MIN_RATE",
    "SETTINGS",
    "Described",
    "Direction",
    "GilbertElliott",
    "Host",
    "Link",
    "Loss",
    "Queue",
    "RandomLoss",
]
