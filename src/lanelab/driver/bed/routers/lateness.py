"""How late the routers of a bed forward packets, each by its kernel."""

from collections.abc import Mapping

from lanelab.driver.base.units import Duration

# By how much each router forwards a packet late, because it wakes late; nobody has measured it for `kernel` yet.
ROUTER_LATENESS: Mapping[str, Duration] = {"uml": Duration.parse("150us"), "kernel": Duration(0)}
