"""lanelab's own programs, built before anything needs them: Apache modules, the gateway, load generators, back ends."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.run.built_programs import BUILT_BY, is_built


@dataclass(frozen=True, slots=True)
class OwnProgram:
    """Says what came of one."""

    name: str
    size_bytes: int = 0
    seconds: float | None = None  # None: it was there already
    error: LanelabError | None = None


def program_names() -> tuple[str, ...]:
    return tuple(BUILT_BY)


def set_up(names: Sequence[str] = ()) -> Iterator[OwnProgram]:
    """Build these, or all of them, one after the other; yields what came of each. One that cannot be built here keeps
    no other from being built. Raises InputError for a name that none has."""
    unknown = [name for name in names if name not in BUILT_BY]
    if unknown:
        raise InputError(f"there is no program {unknown[0]!r}", f"Programs are {', '.join(BUILT_BY)}", key="PROGRAM")
    return (_built(name) for name in names or BUILT_BY)


def _built(name: str) -> OwnProgram:
    began = time.monotonic()
    try:
        was_there = is_built(name)
        path = BUILT_BY[name]()
    except LanelabError as error:
        return OwnProgram(name, error=error)
    return OwnProgram(name, path.stat().st_size, None if was_there else time.monotonic() - began)
