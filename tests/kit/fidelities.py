"""How faithful a replay was: numbers for tests."""

from lanelab.driver.site.fidelity import Fidelity, ProtocolFidelity

OVER_H2 = ProtocolFidelity("h2", 3, 12, 12, 0, 0, 0, 925, 0, 4, 4, None, (), (), 100.0)
FOUND = Fidelity(100.0, "2026-11-22T10:00:00Z", "0.1.0", "Chromium 156", "Apache", "1" * 64, (OVER_H2,))
