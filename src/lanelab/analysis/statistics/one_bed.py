"""What an interval of one bed or two does not hold: by how much beds differ. Pure."""

import math

ENOUGH_BEDS = 3  # for an interval between beds: with two it is 12.7 standard errors wide


def too_narrow(rounds: int, beds: int = 1) -> float:
    """How many times as wide an interval of so many rounds would have to be, to hold what all beds give together, where
    beds differ as much as rounds on one bed do: a mean then has the variance s²/rounds + s²/beds, not s²/rounds."""
    return math.sqrt(1 + rounds / beds)


def words(rounds: int, beds: int = 1) -> str:
    times = f"{too_narrow(rounds, beds):.1f} times too narrow"
    return f"if beds differ as much as rounds do, it is {times} for what other beds would give"
