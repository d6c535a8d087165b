"""Samples of the machine as its recorder takes them, made by hand."""

from typing import Any

from lanelab.driver.record.evidence.machine import MachineEvidence
from lanelab.driver.trial.recorders.machine_use import MachineReport, evidence_of


def process(pid: int, cpu_s: float, *names: str, children_s: float = 0.0, wait_s: float | None = 0.0) -> dict[str, Any]:
    return {"pid": pid, "names": [*names, "python3"], "cpu_s": cpu_s, "children_s": children_s, "wait_s": wait_s}


def reading(at_s: float, total_s: float, idle_s: float, *processes: dict[str, Any], some: int = 0) -> dict[str, Any]:
    pressure = {"cpu": {"some": some, "full": 0}, "io": {"some": 0, "full": 0}, "memory": {"some": 0, "full": 0}}
    return {
        "at_s": at_s,
        "total_s": total_s,
        "idle_s": idle_s,
        "steal_s": 0.0,
        "load": 0.5,
        "pressure": pressure,
        "throttling": {"times": 0, "seconds": 0.0},
        "thermal": 0,
        "frequency": 1.0,
        "processes": list(processes),
    }


def samples(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    between = [
        {"at_s": 10.0, "total_s": 20.0, "idle_s": 8.0, "waited_s": 0.0},
        {"at_s": 10.1, "total_s": 20.2, "idle_s": 8.1, "waited_s": 0.02},
        {"at_s": 10.2, "total_s": 20.4, "idle_s": 8.3, "waited_s": None},
    ]
    read = {"before": before, "after": after, "samples": between, "stopped": []}
    return {**read, "sampling_s": 0.001, "processors": 2}


QUIET = samples(
    reading(10.0, 20.0, 8.0, process(1, 1.0), process(2, 5.0, "apache2"), process(3, 0.5, "linux.uml")),
    reading(
        12.0,
        24.0,
        10.5,
        process(1, 1.1, children_s=0.05),
        process(2, 5.2, "apache2", children_s=0.1),
        process(3, 0.6, "linux.uml", wait_s=0.01),
        process(4, 0.8, "chromium"),
        process(5, 0.1, "chrome_helper", "chromium"),
    ),
)


def recorded(data: dict[str, Any]) -> MachineEvidence:
    return evidence_of([MachineReport.of(("client", "router", "server"), data)])
