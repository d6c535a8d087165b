"""The part of a lock file that one Python installs. pip itself would ask the Python that it runs in, not that of the
image. Pure."""

import re

from packaging.markers import Marker

_PIN = re.compile(r"^([A-Za-z0-9]\S*==\S+)(?: ; (.*?))? \\\n((?: {4}--hash=.*\n)+)", re.MULTILINE)


def lock_for(lock: str, python: str) -> str:
    """Return the packages with their hashes, without conditions. `python` is its whole version: 3.11.2."""
    here = {"python_full_version": python, "python_version": ".".join(python.split(".")[:2])}
    pins = [match.groups() for match in _PIN.finditer(lock)]
    return "".join(
        f"{pin} \\\n{hashes}" for pin, condition, hashes in pins if not condition or Marker(condition).evaluate(here)
    )
