"""How long lanelab waits for what a node starts.

A machine with emulated processors is much slower, and a slow program must not count as a broken one. LANELAB_PATIENCE=6
makes every time limit of lanelab's own six times as long. How long a page may load is a setting of the experiment.
"""

from lanelab.driver.base import configuration

# Far more than anything takes on a busy machine: a bed that hangs must not hold up a night's run.
ANSWER_WITHIN_S = 120


def scaled(seconds: float) -> float:
    """Return a time limit, times the factor of this process."""
    return seconds * configuration.current().timeout_factor


def expect_emulated() -> None:
    """Make the time limits of this process and of its beds longer; a factor that the user has set stays."""
    configuration.hold(configuration.current().for_emulated_processors())
