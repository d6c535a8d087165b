"""How long what a node starts may take.

An emulated processor needs a minute for what a real one does in a second, and what is only slow must not count as
broken. LANELAB_PATIENCE=6 gives six times as long to all that has a limit of ours; how long a page may load is the
experiment's to say.
"""

from __future__ import annotations

import os

from model.errors import InputError

MOST = 100.0
VARIABLE = "LANELAB_PATIENCE"
EMULATED = 6.0  # of a processor that is emulated


def factor() -> float:
    """How many times as long as usual. InputError where it is no such number."""
    given = os.environ.get(VARIABLE) or "1"
    try:
        times = float(given)
    except ValueError:
        times = 0.0
    if not 1 <= times <= MOST:  # nor a number that is none
        raise InputError(f"'{given}' is not how often", f"Set a number from 1 to {MOST:.0f}", key=VARIABLE)
    return times


def patient(seconds: float) -> float:
    """A time limit, as long as it is to be here."""
    return seconds * factor()


def expect_emulated() -> None:
    """For all that this process waits for from now on, and its children; what the user has set stays."""
    os.environ.setdefault(VARIABLE, str(EMULATED))
