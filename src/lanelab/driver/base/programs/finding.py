"""What a check of one thing says, about this machine or another."""

from dataclasses import dataclass
from typing import Literal

from lanelab.driver.base.coded import Coded

State = Literal["ok", "note", "gap"]


@dataclass(frozen=True, slots=True)
class Finding(Coded):
    """A gap stops every bed, or every page load; a note is worth knowing."""

    state: State
    what: str
    found: str
    remedy: str = ""
