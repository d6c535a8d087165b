"""What a run's sessions noted of machine and programs, in words. Pure, but for one record of each server."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import browsers_of
from lanelab.driver.run.folder.trial_records import read_record

UNKNOWN = "not known"
MACHINE = ("system", "kernel", "architecture", "processor", "processors", "memory_mib", "clock_source")


def program(runs: Sequence[Run]) -> str:
    return f"lanelab {either(runs, 'lanelab', 'version')}, commit {either(runs, 'lanelab', 'commit')}"


def machine(runs: Sequence[Run]) -> str:
    return "; ".join(f"{name} {either(runs, 'machine', name)}" for name in MACHINE)


def either(runs: Iterable[Run], *keys: str) -> str:
    """Return what the sessions noted under these keys: every value that there was."""
    values: dict[str, None] = {}
    for run in runs:
        for session in run.sessions:
            value: Any = session.provenance
            for key in keys:
                value = value.get(key) if isinstance(value, Mapping) else None
            if value not in (None, "") and not isinstance(value, Mapping | list):
                values[str(value)] = None
    return " / ".join(values) or UNKNOWN


def built(runs: Sequence[Run]) -> str:
    names = ("gateway", "mod_replay", "mod_spdy", "spdy-load", "lanelab-fetcher")
    known = [(name, either(runs, name, "sha256")) for name in names]
    return ", ".join(f"{name} SHA-256 {digest}" for name, digest in known if digest != UNKNOWN) or UNKNOWN


def browsers(runs: Iterable[Run]) -> str:
    return " / ".join(dict.fromkeys(name for run in runs for name, _ in browsers_of(run))) or UNKNOWN


def routers(runs: Iterable[Run]) -> str:
    return either(runs, "bed", "router", "kernel")


def servers(runs: Iterable[Run]) -> str:
    values: dict[str, None] = {}
    for run in runs:
        first = {trial.cell.arm.settings.get("server"): trial.number for trial in reversed(run.trials)}
        for number in first.values():
            if program := read_record(run.folder, number).server_program:
                values[program] = None
    return " / ".join(values) or UNKNOWN
