"""What cells may differ in besides site and arm, by name: settings of the link, and how much load there is."""

from __future__ import annotations

from model.link import SETTINGS
from model.settings.kinds import count
from model.settings.setting import Setting, Table

# fmt: off
_OF_LOADS = (
    Setting("connections", count("CONNECTIONS", "connections", 1, 20_000), "", "connections of a load", "10"),
    Setting("users", count("USERS", "users", 1, 100_000), "", "users of a load", "100"),
    Setting("arrivals", count("ARRIVALS", "arrivals", 1, 100_000), "", "pages that begin per second", "50"),
)
# fmt: on
DIMENSIONS = Table((*SETTINGS.settings, *_OF_LOADS), noun="dimension", all_are="Dimensions are")
