"""The events of a run: one vocabulary for the live line, the plain lines and `--json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `kind` says what `data` holds; docs/reference/commands.md lists them."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"event": self.kind, **asdict(self)["data"]}


Listener = Callable[[Event], None]
