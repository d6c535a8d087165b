"""How long what a node starts may take.

An emulated processor needs a minute for what a real one does in a second, and what is only slow must not count as
broken. LANELAB_PATIENCE=6 gives six times as long to all that has a limit of ours; how long a page may load is the
experiment's to say.
"""

from __future__ import annotations

import os

VARIABLE = "LANELAB_PATIENCE"
EMULATED = 6.0  # of a processor that is emulated


def factor() -> float:
    """How many times as long as usual."""
    try:
        given = float(os.environ.get(VARIABLE) or 1)
    except ValueError:
        return 1.0
    return min(given, 100.0) if given > 1 else 1.0


def patient(seconds: float) -> float:
    """A time limit, as long as it is to be here."""
    return seconds * factor()


def expect_emulated() -> None:
    """For all that this process waits for from now on, and its children; what the user has set stays."""
    os.environ.setdefault(VARIABLE, str(EMULATED))
