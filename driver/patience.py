"""How long what a node starts may take.

An emulated processor needs a minute for what a real one does in a second, and what is only slow must not count as
broken. LANELAB_PATIENCE=6 gives six times as long to all that has a limit of ours; how long a page may load is the
experiment's to say.
"""

from __future__ import annotations

import os

VARIABLE = "LANELAB_PATIENCE"
EMULATED = 6.0  # of a processor that is emulated


def patient(seconds: float) -> float:
    """A time limit, as long as it is to be here."""
    try:
        factor = float(os.environ.get(VARIABLE) or 1)
    except ValueError:
        return seconds
    return seconds if factor <= 1 else seconds * min(factor, 100)


def expect_emulated() -> None:
    """For all that this process waits for from now on, and its children; what the user has set stays."""
    os.environ.setdefault(VARIABLE, str(EMULATED))
