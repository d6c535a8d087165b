"""What the nodes of a bed can be made of, and what the router can be."""

from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.registry import KINDS as SUBSTRATES
from lanelab.driver.bed.registry import kind_meant
from lanelab.driver.bed.registry import options as substrate_options
from lanelab.driver.bed.substrate import ROUTER_KINDS

__all__ = ["NODE_NAMES", "ROUTER_KINDS", "SUBSTRATES", "kind_meant", "substrate_options"]
