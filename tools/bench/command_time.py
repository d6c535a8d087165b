"""How much processor time one command takes."""

import resource
import subprocess
from collections.abc import Mapping

from lanelab.driver.base.errors import BedError

LONGEST_S = 3600


def processor_seconds(name: str, argv: list[str], environment: Mapping[str, str] | None = None) -> float:
    """Return the processor time of a command, its own children's included. Raises BedError where it fails."""
    before = _of_children()
    try:
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST_S)
    except OSError as error:
        raise BedError(f"{name} could not be started: {error.strerror}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise BedError(f"{name} failed: {lines[-1] if lines else 'it gave no reason'}")
    return _of_children() - before


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
