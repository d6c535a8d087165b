"""A link as its settings say: by name, or by values."""

from collections.abc import Mapping
from pathlib import Path

from lanelab.driver.experiment.traces import with_traces
from lanelab.driver.link import SETTINGS, Link
from lanelab.driver.link.profiles import PROFILES, resolve

__all__ = ["PROFILES", "SETTINGS", "Link", "link_of"]


def link_of(profile: str | None, settings: Mapping[str, object]) -> Link:
    """Return the link of that name, with these settings instead. Traces are names, or files. Raises InputError."""
    return resolve(profile, with_traces(settings, Path()))
