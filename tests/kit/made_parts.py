"""A run whose trials say what their load times were made of, for `lanelab explain`. It is on no disk."""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path

from lanelab.analysis.results.model import Arm, Cell, Flag, LinkCase, Plan, Run, Trial
from lanelab.analysis.statistics.looks import Look
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.parts import Part, Parts

BEGAN = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)
ARMS = (Arm(1, "HTTP", {"tls": "off", "connections_per_host": 6}), Arm(2, "HTTP/2", {"tls": "1.3"}))
HTTP = {"connect": 100, "wait": 300, "transmission": 940, "slow_start": 60, "idle": 20}
HTTP2 = {"connect": 100, "tls": 105, "wait": 200, "transmission": 930, "slow_start": 130, "idle": 60}
FACTS = {1: {"connections_used": 6, "bytes_down": 1_175_000, "retransmissions": 0},
         2: {"connections_used": 1, "bytes_down": 1_160_000, "retransmissions": 2}}  # fmt: skip


def link(number: int, rtt: str) -> LinkCase:
    return LinkCase(number, rtt, Link.parse({"rtt": rtt, "rate": "10mbit"}).to_mapping())


def measures(parts: Mapping[str, float], arm: int, more: float = 0) -> dict[str, float]:
    named = {part.measure: parts.get(part.value, 0.0) + (more if part is Part.RECOVERY else 0) for part in Part}
    return {**named, "plt_ms": sum(named.values()), **FACTS[arm]}


def run_with_parts(rounds: int = 6, rtts: Sequence[str] = ("100ms",), slow: int = 0, has_parts: bool = True) -> Run:
    """`slow`: the trial that lost a packet for half a second."""
    links = tuple(link(number, rtt) for number, rtt in enumerate(rtts, 1))
    cells = tuple(
        Cell(2 * at + number, f"c{at}{number}", "dummy", case, arm)
        for at, case in enumerate(links)
        for number, arm in enumerate(ARMS, 1)
    )
    trials: list[Trial] = []
    for number in range(1, rounds + 1):
        for cell in cells:
            trial = len(trials) + 1
            scale = Link.parse(cell.link.settings).rtt.milliseconds / 100
            parts = {name: ms * (1 if name == "transmission" else scale) for name, ms in
                     (HTTP if cell.arm.number == 1 else HTTP2).items()}  # fmt: skip
            parts["idle"] += number  # something differs from round to round
            made = measures(parts, cell.arm.number, more=500 if trial == slow else 0)
            kept = made if has_parts else {"plt_ms": made["plt_ms"]}
            flags = (Flag("router-waited", "for 20% of the load"),) if trial == slow else ()
            trials.append(Trial(trial, 1, 1, cell, number, 1, BEGAN, 2.0, True, kept, made["plt_ms"], (), flags))
    return Run(Path("run"), "page_load", "r", "", "finished", "", "", {}, (), links, ARMS, cells, tuple(trials), (),
               (), plan_of(cells))  # fmt: skip


def plan_of(cells: Sequence[Cell]) -> Plan:
    """Every arm with the first of its site and link."""
    first = {cell.group: cell for cell in reversed(cells)}
    pairs = tuple((first[cell.group], cell) for cell in cells if first[cell.group] != cell)
    return Plan("interleaved", (Look(100, 0.05),), 60.0, pairs)


def nothing(_trial: int) -> Parts | None:
    return None
