"""How much a trial may lack and still count."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tolerances:
    """How much of each a trial may have and still count."""

    missing: int = 0
    extra: int = 0
    outside: int = 0
    inexact: int = 0
