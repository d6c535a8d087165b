"""Whether a run was made under the same conditions throughout: browser, kernels, lanelab, options of the bed. Pure.

A run that goes on next week, after an update, is one run with two browsers. That may be what its user wants, so it is
told and not refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.model import Run, Session

_WATCHED = ("lanelab", "machine", "bed_options", "gateway", "mod_spdy")
_BED = re.compile(r"bed( \d+)?")  # after a bed was lost the next one is "bed 2"
_MAY_DIFFER = ("bring_up_s", "proven_bps", "routes", "changed_files")
_MOST = 6


def changes(run: Run) -> list[str]:
    """A sentence for each thing that changed within the run; none where all stayed the same."""
    found = []
    last = {test.link.label: test.passed for test in run.self_tests}
    wrong = [label for label, passed in last.items() if not passed]
    if wrong and any(session.provenance.get("bed_options", {}).get("accept_links") for session in run.sessions):
        links = ", ".join(wrong)
        found.append(f"These links were out of tolerance and used all the same (--accept-links): {links}.")
    if len(run.browsers) > 1:
        which = ", ".join(f"{name} from trial {first} on" for name, first in run.browsers)
        found.append(f"The browser changed within the run: {which}. Comparisons by round may mix them.")
    differing = [(name, values) for name, values in _facts(run).items() if len(set(values.values())) > 1]
    for name, values in differing[:_MOST]:
        first: dict[str, str] = {}
        for where, value in values.items():
            first.setdefault(value, where)
        told = ", ".join(f"{value} in {where}" for value, where in first.items())
        found.append(f"{name[0].upper()}{name[1:]} changed within the run: {told}.")
    if len(differing) > _MOST:
        found.append(f"{len(differing) - _MOST} more facts changed within the run: see its provenance.")
    return found


def _facts(run: Run) -> dict[str, dict[str, str]]:
    """What is known -> where it was noted -> its value there."""
    found: dict[str, dict[str, str]] = {}
    for session in run.sessions:
        for where, name, value in _of_session(session):
            found.setdefault(name, {})[where] = value
    return found


def _of_session(session: Session) -> Iterator[tuple[str, str, str]]:
    for key, value in session.provenance.items():
        bed = _BED.fullmatch(key)
        if key in _WATCHED or bed:
            where = f"session {session.number}" + (f" ({key})" if bed and bed[1] else "")
            name = "the bed" if bed else "option" if key == "bed_options" else key
            for path, leaf in _leaves(value, name, 1 if key == "bed_options" else 9):
                yield where, path, leaf


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping) and depth:
        for key, below in value.items():
            if key not in _MAY_DIFFER:
                yield from _leaves(below, f"{path} {key}", depth - 1)
    elif isinstance(value, Mapping):
        yield path, ", ".join(f"{key} {below}" for key, below in value.items()) or "none"
    else:
        yield path, str(value) or "none"
