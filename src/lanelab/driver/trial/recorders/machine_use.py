"""From what was read of machines before, after and during a load to evidence, measures, series and flags. Pure."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.coded import Coded
from lanelab.driver.record.evidence.machine import GROUPS, MachineEvidence, MachineUse, Pressure
from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.record.series import Series
from lanelab.driver.trial.server_load.registry import GENERATORS

CLIENT = "client"
# Whose a process is, by its name or by that of the nearest process above it that is here. As the kernel cuts names.
PROGRAMS = {
    **{name: "client" for kind in BROWSERS.values() for name in kind.processes},
    **dict.fromkeys(("Xvfb", *(each.process for each in GENERATORS.values())), "client"),
    **{name: "server" for server in SERVERS.values() for name in server.processes},
    "dnsmasq": "server",
    "lanelab-gateway": "gateway",
    "lanelab-fetcher": CLIENT,
    "linux.uml": "router",
    "tcpdump": "capture",
}
OURS = "harness"  # what is ours and has no row above: the bed process, agents, shells

# Above these, docs/reference/machine.md says why, a trial's numbers may be the machine's and not the link's.
CONTENDED = 0.20  # of one processor, that went to programs which are no part of the trial
PRESSED = 0.25  # ... while for this share of the load's time something had to wait for a processor
STOLEN = 0.02  # share of the processors' time that went to other virtual machines
ROUTER_WAITED = 0.15  # share of the load's time in which the router was ready to run and had no processor
MEMORY_SHORT = 0.02  # share of the load's time in which work waited for memory

# What a machine may not tell, in the order in which it is read.
WHY_ABSENT = {
    "busy": "/proc/stat did not count, or the load was too short for it",
    "wait_s": "this kernel does not count how long threads wait for a processor (no schedstat)",
    "pressure": "this kernel does not count pressure (no /proc/pressure)",
    "throttled": "there is no control group here that could limit processor time",
    "hot": "the processors do not say when they are too hot",
    "frequency": "the processors do not say how fast they run",
}


@dataclass(frozen=True, slots=True)
class Process(Coded):
    """One process of ours; seconds since its start."""

    pid: int
    names: tuple[str, ...]  # its own, its parent's, and so on
    cpu_s: float
    children_s: float  # of its children that have ended
    wait_s: float | None

    @property
    def group(self) -> str:
        return next((PROGRAMS[name] for name in self.names if name in PROGRAMS), OURS)


@dataclass(frozen=True, slots=True)
class Throttling(Coded):
    times: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Reading(Coded):
    """The counters of one machine at one moment. None: this kernel does not have it."""

    at_s: float
    total_s: float | None
    idle_s: float | None
    steal_s: float | None
    load: float | None
    pressure: Mapping[str, Mapping[str, int] | None]  # by resource: microseconds of `some` and of `full`
    throttling: Throttling | None
    thermal: int | None
    frequency: float | None
    processes: tuple[Process, ...]


@dataclass(frozen=True, slots=True)
class Sample(Coded):
    """What is read ten times a second, in seconds: the clock, and processor time of which it was idle; and for how long
    something waited for a processor."""

    at_s: float
    total_s: float | None
    idle_s: float | None
    waited_s: float | None


@dataclass(frozen=True, slots=True)
class Samples(Coded):
    """The samples that driver/bed/remote/sampler.py writes."""

    before: Reading
    after: Reading
    samples: tuple[Sample, ...]
    stopped: tuple[tuple[float, str], ...]  # seconds from one look to the next, and the program that it saw
    sampling_s: float
    processors: int


@dataclass(frozen=True, slots=True)
class MachineReport:
    """One machine with the nodes that are on it."""

    nodes: tuple[str, ...]
    read: Samples

    @classmethod
    def of(cls, nodes: Sequence[str], data: object) -> "MachineReport":
        return cls(tuple(nodes), Samples.from_json(data, "machine"))


def evidence_of(reports: Sequence[MachineReport]) -> MachineEvidence:
    return MachineEvidence(
        machines=tuple(_use(report) for report in reports),
        own_cpu_s=round(sum(report.read.sampling_s for report in reports), 6),
    )


def _use(report: MachineReport) -> MachineUse:
    before, after = report.read.before, report.read.after
    seconds = max(after.at_s - before.at_s, 1e-9)
    total, idle, steal = (_span(before, after, name) for name in ("total_s", "idle_s", "steal_s"))
    cpu_s, wait_s = _by_group(before.processes, after.processes)
    busy = None
    if total and idle is not None and steal is not None:
        busy = max(total - idle, 0.0) / total
        cpu_s["other"] = max(total - idle - steal - sum(cpu_s.values()), 0.0)
    pressure, throttled = _pressure(before, after, seconds), _throttling(before, after)
    hot = after.thermal - before.thermal if before.thermal is not None and after.thermal is not None else None
    values = (busy, wait_s or None, pressure, throttled, hot, after.frequency)
    absent = {name: why for (name, why), value in zip(WHY_ABSENT.items(), values, strict=True) if value is None}
    if "router" in report.nodes and "router" not in cpu_s:
        absent["router"] = "the router is a namespace of this kernel, and no process whose time is counted"
    return MachineUse(
        nodes=report.nodes,
        processors=report.read.processors,
        seconds=round(seconds, 6),
        cpu_s={group: round(cpu_s[group], 4) for group in GROUPS if group in cpu_s},
        wait_s={group: round(wait_s[group], 6) for group in GROUPS if group in wait_s},
        busy=_share(busy),
        steal=_share(steal / total) if total and steal is not None else None,
        load=before.load,
        pressure=pressure,
        throttled_times=throttled.times if throttled else None,
        throttled_s=round(throttled.seconds, 6) if throttled else None,
        hot_times=hot,
        frequency=_share(after.frequency),
        absent=absent,
        stopped_s=_stopped(report.read.stopped),
    )


def _throttling(before: Reading, after: Reading) -> Throttling | None:
    if before.throttling is None or after.throttling is None:
        return None
    times, seconds = after.throttling.times, after.throttling.seconds
    return Throttling(times - before.throttling.times, seconds - before.throttling.seconds)


def _stopped(seen: Sequence[tuple[float, str]]) -> dict[str, float]:
    """About how long processes of a program stood still, without those of the harness."""
    totals: dict[str, float] = {}
    for seconds, name in seen:
        if name in PROGRAMS:
            totals[name] = round(totals.get(name, 0.0) + seconds, 3)
    return totals


def _span(before: Reading, after: Reading, name: str) -> float | None:
    first, last = getattr(before, name), getattr(after, name)
    return None if first is None or last is None else float(last - first)


def _by_group(before: Sequence[Process], after: Sequence[Process]) -> tuple[dict[str, float], dict[str, float]]:
    """Return CPU time and waiting time of each group between two readings.

    A group's time includes that of children which ended in between: the kernel adds it to their parent's. What the
    harness itself runs to its end during a load is the client of that load.
    """
    cpu: dict[str, float] = {}
    wait: dict[str, float] = {}
    waited = {each.pid: each.wait_s for each in before}
    for sign, processes in ((-1, before), (1, after)):
        for each in processes:
            cpu[each.group] = cpu.get(each.group, 0.0) + sign * each.cpu_s
            of_children = CLIENT if each.group == OURS else each.group
            cpu[of_children] = cpu.get(of_children, 0.0) + sign * each.children_s
    for each in after:
        if each.wait_s is not None:
            since = each.wait_s - (waited.get(each.pid) or 0.0)
            wait[each.group] = wait.get(each.group, 0.0) + max(since, 0.0)
    return {group: max(value, 0.0) for group, value in cpu.items()}, wait


def _pressure(before: Reading, after: Reading, seconds: float) -> Pressure | None:
    shares: dict[str, float] = {}
    for name in ("cpu_some", "io_some", "io_full", "memory_some", "memory_full"):
        resource, _, kind = name.partition("_")
        first, last = before.pressure.get(resource), after.pressure.get(resource)
        if first is None or last is None:
            return None
        shares[name] = _clip((last[kind] - first[kind]) / 1e6 / seconds)
    return Pressure(**shares)


def _clip(share: float) -> float:
    return round(min(max(share, 0.0), 1.0), 4)


def _share(share: float | None) -> float | None:
    return None if share is None else _clip(share)


def measures_of(evidence: MachineEvidence) -> dict[str, float]:
    """Return the measures of several machines: the sum of times, and the worst of everything else. What is not known is
    not there."""
    measures: dict[str, float] = {}
    for group in GROUPS:
        known = [use.cpu_s[group] for use in evidence.machines if group in use.cpu_s]
        if known:
            measures[f"cpu_{group}_s"] = round(sum(known), 4)
    worst: dict[str, list[float | None]] = {
        "cpu_busy": [use.busy for use in evidence.machines],
        "cpu_steal": [use.steal for use in evidence.machines],
        "load": [use.load for use in evidence.machines],
        "throttled_s": [use.throttled_s for use in evidence.machines],
        "router_wait_s": [use.wait_s.get("router") for use in evidence.machines],
        **{
            f"pressure_{name}": [getattr(use.pressure, name) if use.pressure else None for use in evidence.machines]
            for name in ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")
        },
    }
    for name, values in worst.items():
        known = [value for value in values if value is not None]
        if known:
            measures[name] = max(known)
    return measures


def series_of(reports: Sequence[MachineReport]) -> dict[str, Series]:
    """Return shares over the load's time, of each machine: processors that were busy, and waiting for one."""
    series: dict[str, Series] = {}
    for report in reports:
        start, pairs = report.read.before.at_s, list(itertools.pairwise(report.read.samples))
        place = "" if len(reports) == 1 else f"_{'_'.join(report.nodes)}"
        busy = [(then.at_s, _busy(first, then)) for first, then in pairs]
        waiting = [(then.at_s, _part(first.waited_s, then.waited_s, then.at_s - first.at_s)) for first, then in pairs]
        for name, values in (("cpu_busy", busy), ("pressure_cpu", waiting)):
            points = tuple((round((at - start) * 1000, 1), value) for at, value in values if value is not None)
            if points:
                series[f"{name}{place}"] = Series("share", points)
    return series


def _busy(first: Sample, then: Sample) -> float | None:
    if first.total_s is None or then.total_s is None:
        return None
    idle = _part(first.idle_s, then.idle_s, then.total_s - first.total_s)
    return None if idle is None else round(1 - idle, 4)


def _part(first: float | None, then: float | None, whole: float) -> float | None:
    return None if first is None or then is None or whole <= 0 else _clip((then - first) / whole)


def flags_of(evidence: MachineEvidence) -> tuple[Flag, ...]:
    """Return why the numbers of this trial may be the machine's."""
    several = len(evidence.machines) > 1
    return tuple(
        Flag(flag.name, f"on the machine of the {' and '.join(use.nodes)}, {flag.detail}" if several else flag.detail)
        for use in evidence.machines
        for flag in _flags(use)
    )


def _flags(use: MachineUse) -> list[Flag]:
    flags = []

    def flag(name: FlagName, detail: str) -> None:
        flags.append(Flag(name, detail))

    other = use.cpu_s.get("other", 0.0) / use.seconds
    pressed = use.pressure.cpu_some if use.pressure else None
    if other > CONTENDED and (pressed is None or pressed > PRESSED):
        waits = f", and for {pressed:.0%} of the load's time something waited" if pressed is not None else ""
        flag(FlagName.PROCESSORS_CONTENDED, f"other programs took the time of {other:.1f} processors{waits}")
    if use.steal is not None and use.steal > STOLEN:
        flag(FlagName.PROCESSORS_STOLEN, f"other virtual machines took {use.steal:.0%} of the processors")
    if use.throttled_s:
        what = f"a limit of a control group stopped programs {use.throttled_times} times, {use.throttled_s:.3f} s"
        flag(FlagName.PROCESSORS_THROTTLED, f"{what} in all")
    if use.hot_times:
        flag(FlagName.PROCESSORS_THROTTLED, f"processors were too hot {use.hot_times} times and slowed down")
    if use.stopped_s:
        processes = ", ".join(f"{name} (about {seconds:.1f} s)" for name, seconds in use.stopped_s.items())
        flag(FlagName.PROGRAM_STOPPED, f"a signal stopped {processes}")
    waited = use.wait_s.get("router", 0.0) / use.seconds
    if waited > ROUTER_WAITED:
        flag(FlagName.ROUTER_WAITED, f"the router waited for a processor for {waited:.0%} of the load's time")
    if use.pressure and use.pressure.memory_some > MEMORY_SHORT:
        flag(FlagName.MEMORY_SHORT, f"work waited for memory for {use.pressure.memory_some:.0%} of the load's time")
    return flags
