"""From the samples of a server node to series, measures, flags and evidence. Pure."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.record.evidence.server_series import ServerSeriesEvidence
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.record.series import Series

MISSED = 0.10  # share of the samples that may be missing before the series are doubtful
WORKERS = ("busy", "idle", "keepalive", "reading", "writing")
Value = float | None


@dataclass(frozen=True, slots=True)
class Connections(Coded):
    established: int
    closing: int
    waiting: int  # to be accepted; they are established too
    behind: int  # from a proxy to the server behind it


@dataclass(frozen=True, slots=True)
class Workers(Coded):
    busy: int
    idle: int
    keepalive: int
    reading: int
    writing: int


@dataclass(frozen=True, slots=True)
class RoleUse(Coded):
    """The processes of a role; None: not read this time, or not to be had."""

    cpu_s: float
    processes: int
    threads: int
    files: int | None
    memory: int | None
    cgroup: int | None


@dataclass(frozen=True, slots=True)
class Sample(Coded):
    """One look at the node, as driver/bed/remote/server_sampler.py writes it."""

    second: int
    at_s: float
    took_s: float
    total_s: float | None
    idle_s: float | None
    available: int | None
    received: int | None
    sent: int | None
    overflows: int | None
    time_wait: int | None
    connections: Connections | None
    workers: Workers | None
    roles: Mapping[str, RoleUse]


@dataclass(frozen=True, slots=True)
class Before(Coded):
    """The counters before the load."""

    before: Sample
    most_workers: int | None
    absent: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class End(Coded):
    ended_s: float
    cpu_s: float
    missed: int
    absent: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Watched:
    """The whole answer of the sampler. `end` None: it broke off, and `stopped` says why."""

    before: Before
    began_s: float
    samples: tuple[Sample, ...]
    end: End | None
    stopped: str = ""

    @property
    def absent(self) -> Mapping[str, str]:
        return {**self.before.absent, **(self.end.absent if self.end else {})}


def evidence_of(watched: Watched) -> ServerSeriesEvidence:
    roles, samples = watched.before.before.roles, watched.samples
    last_s = watched.end.ended_s if watched.end else max((each.at_s for each in samples), default=watched.began_s)
    missed = samples[-1].second + 1 - len(samples) if samples else 0
    return ServerSeriesEvidence(
        seconds=round(last_s - watched.began_s, 3),
        samples=len(samples),
        samples_missed=watched.end.missed if watched.end else missed,
        sampler_cpu_s=round(watched.end.cpu_s, 4) if watched.end else None,
        longest_ms=round(max((each.took_s for each in samples), default=0) * 1000, 2),
        processes_before={role: use.processes for role, use in roles.items()},
        memory_before_bytes={role: use.memory for role, use in roles.items() if use.memory is not None},
        most_workers=watched.before.most_workers,
        absent=dict(watched.absent),
        stopped=watched.stopped,
    )


def flags_of(evidence: ServerSeriesEvidence) -> tuple[Flag, ...]:
    due = evidence.samples + evidence.samples_missed
    if not due or evidence.samples_missed <= MISSED * due:
        return ()
    what = f"{evidence.samples_missed} of {due} looks at the server came too late, and are missing in its series"
    return (Flag(FlagName.SAMPLES_MISSED, what),)


def series_of(watched: Watched) -> dict[str, Series]:
    """Return series by name. What was never read has no series; what was not read at a time has no point."""
    series: dict[str, Series] = {}
    pairs = list(itertools.pairwise(watched.samples))
    for name, read in _numbers(watched).items():
        points = [(each.at_s, read(each)) for each in watched.samples]
        _add(series, name, points, watched.began_s)
    for name, count in _counts(watched).items():
        rates = [(then.at_s, _rate(count, first, then)) for first, then in pairs]
        _add(series, name, rates, watched.began_s)
    _add(series, "cpu_idle", [(then.at_s, _idle(first, then)) for first, then in pairs], watched.began_s)
    return series


def _add(series: dict[str, Series], name: str, values: Sequence[tuple[float, Value]], began_s: float) -> None:
    points = tuple((round((at_s - began_s) * 1000, 1), value) for at_s, value in values if value is not None)
    if points:
        series[name] = Series(SERIES[name].unit, points)


def _numbers(watched: Watched) -> dict[str, Callable[[Sample], Value]]:
    """Return how each series that counts what is there is read from a sample."""
    readers: dict[str, Callable[[Sample], Value]] = {
        "connections": lambda each: each.connections.established if each.connections else None,
        "connections_closing": lambda each: each.connections.closing if each.connections else None,
        "connections_waiting": lambda each: each.connections.waiting if each.connections else None,
        **({"back_end_connections": _behind} if "back_end" in watched.before.before.roles else {}),
        "connections_time_wait": lambda each: each.time_wait,
        "memory_available_bytes": lambda each: each.available,
    }
    if "workers" not in watched.absent:  # one moment at which it was no scoreboard makes all of it doubtful
        for state in WORKERS:
            readers[f"workers_{state}"] = lambda each, state=state: (  # type: ignore[misc]
                getattr(each.workers, state) if each.workers else None
            )
    for role in watched.before.before.roles:
        names = {"processes": "processes", "threads": "threads", "files": "files", "memory": "memory_bytes"}
        for field, name in {**names, "cgroup": "cgroup_bytes"}.items():
            readers[f"{role}_{name}"] = lambda each, role=role, field=field: _of_role(each, role, field)  # type: ignore[misc]
    return readers


def _behind(sample: Sample) -> Value:
    return sample.connections.behind if sample.connections else None


def _of_role(sample: Sample, role: str, field: str) -> Value:
    use = sample.roles.get(role)
    value: Value = getattr(use, field) if use else None
    return value


def _counts(watched: Watched) -> dict[str, Callable[[Sample], Value]]:
    """Return how each series that is a rate reads its count."""
    return {
        "listen_overflows_per_s": lambda each: each.overflows,
        "bytes_in_per_s": lambda each: each.received,
        "bytes_out_per_s": lambda each: each.sent,
        **{
            f"{role}_cpu": lambda each, role=role: _of_role(each, role, "cpu_s")  # type: ignore[misc]
            for role in watched.before.before.roles
        },
    }


def _rate(count: Callable[[Sample], Value], first: Sample, then: Sample) -> Value:
    """Return the rate per second, between two looks that follow each other. None over a gap, and where a count fell:
    processor time falls when a process ends that nobody waits for."""
    before, after = count(first), count(then)
    if before is None or after is None or after < before or then.second != first.second + 1:
        return None
    return round((after - before) / (then.at_s - first.at_s), 4)


def _idle(first: Sample, then: Sample) -> Value:
    if None in (first.total_s, first.idle_s, then.total_s, then.idle_s) or then.second != first.second + 1:
        return None
    total = (then.total_s or 0) - (first.total_s or 0)
    idle = (then.idle_s or 0) - (first.idle_s or 0)
    return round(min(max(idle / total, 0.0), 1.0), 4) if total > 0 else None


def measures_of(watched: Watched, series: Mapping[str, Series]) -> dict[str, float]:
    """What was not read is not there."""
    measures: dict[str, float] = {}
    busy = series.get("workers_busy")
    if busy:
        measures["workers_busy_most"] = max(value for _, value in busy.points)
    memory, role = series.get("server_memory_bytes"), watched.before.before.roles.get("server")
    if memory and role and role.memory is not None:
        measures["server_memory_used"] = max(value for _, value in memory.points) - role.memory
    return measures
