"""What a check of one thing says, about this machine or another."""

from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["ok", "note", "gap"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A gap stops every bed; a note is worth knowing."""

    state: State
    what: str
    found: str
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)
