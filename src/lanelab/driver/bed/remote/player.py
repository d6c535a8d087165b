"""Moves the link: tells the router's kernel each step of a trace when it is due, and plays the states of a radio.

A program of its own, in the router, for as long as the bed has a link that moves. The first line on its standard input
is JSON: what `player_settings` in driver/link/shaping/moving.py says. It answers each line with a line of JSON:

    clock    {"unix_ns": …}: this node's clock
    begin    the traces begin now; {"unix_ns": …}: when that was
    end      the link stands still again; what was done: {"late": [[due_us, late_us], …], "radio": [[us, state], …],
             "unix_ns": …, "error": ""}

It ends when its input ends. Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import socket
import struct
import time
from typing import TypedDict

from lanelab.driver.bed.remote.radio_states import RadioStates
from lanelab.driver.bed.remote.tc_netlink import Netlink

CLOSED_BYTES_PER_S = 1
ETHERNET_OTHER = 0x88B5  # a type of frames for experiments
PRIORITY = 1  # of those that run before all others
PPB = 1_000_000_000
MOST_NOTED = 200_000  # steps: more than an hour of the shortest


class Steps:
    """Knows where a trace is."""

    def __init__(self, steps: list[tuple[int, int]], length_us: int) -> None:
        self._steps, self._length_us = steps, length_us
        self._next = 0  # counted through all rounds

    def due_us(self) -> float:
        if not self._steps:
            return float("inf")
        rounds, index = divmod(self._next, len(self._steps))
        return rounds * self._length_us + self._steps[index][0]

    def take(self) -> int:
        value = self._steps[self._next % len(self._steps)][1]
        self._next += 1
        return value

    def again(self) -> None:
        self._next = 0


class WaySettings(TypedDict):
    """A direction that moves."""

    queue: str | None  # the device with the queue; None: its rate does not move
    leave: str  # the device where it leaves the router
    rate_bps: int | None
    pace_ppb: int | None  # None: the second netem has no rate that follows the trace
    delay_ns: int
    rates: list[tuple[int, int]]  # when, in microseconds, and how many bit/s
    rates_us: int
    delays: list[tuple[int, int]]  # when, and how many ns more
    delays_us: int
    extra: int
    burst_ns: int


class GateSettings(TypedDict):
    handle: int
    open_bytes_per_s: int
    burst_bytes: int
    limit_bytes: int


class ClassSettings(TypedDict):
    traffic: int
    player: int
    traffic_priority: int


class Settings(TypedDict):
    """The first line that the player reads."""

    frame: int
    gate: GateSettings
    classes: ClassSettings
    ways: dict[str, WaySettings]
    radio: dict[str, int] | None


class Played(TypedDict):
    """The steps and states since the beginning."""

    late: list[tuple[int, int]]
    radio: list[tuple[int, str]]


class Answer(TypedDict):
    """An answer; that of `end` has more."""

    unix_ns: int


class LastAnswer(Answer, Played):
    """The answer of `end`."""


class Way:
    """One direction of the link in this router's kernel."""

    def __init__(self, netlink: Netlink, way: WaySettings, settings: Settings) -> None:
        self._netlink, self._way, self._frame = netlink, way, settings["frame"]
        self._gate, self._classes = settings["gate"], settings["classes"]
        self._leave = socket.if_nametoindex(way["leave"])
        self._netem = netlink.netem(self._leave)
        self._open = True
        self.rates = Steps(way["rates"], way["rates_us"])
        self.delays = Steps(way["delays"], way["delays_us"])
        self._rate_bps, self._added_ns = way["rate_bps"] or 0, [0, 0]  # by the trace, by the radio
        if way["queue"]:
            self._queue = socket.if_nametoindex(way["queue"])
            self._kicks = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self._kicks.bind((way["queue"], 0))
            self._kicks.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, self._classes["player"])

    def set_rate(self, bps: int) -> None:
        if not bps:
            self._set_gate(is_open=False)
            return
        faster, self._rate_bps = bps > self._rate_bps, bps
        if faster:  # what comes out of the queue never has to wait again behind it
            self._apply_delay()
        if not self._open:  # HTB has saved up while nothing passed: what it spends with this burst is lost
            self._change_htb(bps // 8, 0)
            self._set_gate(is_open=True)
        burst = bps // 8 * self._way["burst_ns"] // 1_000_000_000
        self._change_htb(bps // 8, min(self._way["extra"], burst // self._frame))
        if not faster:
            self._apply_delay()

    def _change_htb(self, bytes_per_s: int, extra: int) -> None:
        classes, burst = self._classes, self._frame * (1 + extra)
        priority = classes["traffic_priority"]
        self._netlink.change_htb(self._queue, classes["traffic"], bytes_per_s, burst, self._frame, priority)

    def _set_gate(self, *, is_open: bool) -> None:
        if is_open == self._open:
            return
        gate = self._gate
        rate, burst = (gate["open_bytes_per_s"], gate["burst_bytes"]) if is_open else (CLOSED_BYTES_PER_S, self._frame)
        self._netlink.change_tbf(self._queue, gate["handle"], rate, burst, gate["limit_bytes"])
        # A gate that closes lets one frame pass: this one. One that opens is not looked at until something comes.
        with contextlib.suppress(OSError):  # no room: then there is enough to look at
            self._kicks.send(bytes(12) + struct.pack("!H", ETHERNET_OTHER) + bytes(self._frame - 14))
        self._open = is_open

    def add_delay(self, ns: int, *, by_radio: bool = False) -> None:
        if self._added_ns[by_radio] != ns:
            self._added_ns[by_radio] = ns
            self._apply_delay()

    def _apply_delay(self) -> None:
        pace = self._way["pace_ppb"]
        rate = None if pace is None else self._rate_bps * pace // (8 * PPB)
        self._netlink.change_netem(self._leave, self._netem, self._way["delay_ns"] + sum(self._added_ns), rate)

    def rest(self) -> None:
        """Set the link as it is between trials."""
        self.rates.again()
        self.delays.again()
        self._added_ns = [0, 0]
        if self._way["rates"]:
            self.set_rate(self._way["rate_bps"] or 0)
        self._apply_delay()


class Player:
    """Follows traces and radio from `begin` to `end`."""

    def __init__(self, settings: Settings) -> None:
        netlink = Netlink()
        self.ways = {name: Way(netlink, way, settings) for name, way in settings["ways"].items()}
        radio = settings["radio"]
        leave = {name: way["leave"] for name, way in settings["ways"].items()}
        self.radio = RadioStates(radio, self.ways, leave) if radio else None
        self._began_ns = 0
        self._playing = False
        self._late: list[tuple[int, int]] = []
        self._latest_us = 0

    def begin(self) -> None:
        self._late, self._latest_us = [], 0
        self._playing, self._began_ns = True, time.monotonic_ns()
        if self.radio:
            self.radio.begin(self._began_ns)
        self.follow()

    def end(self) -> Played:
        self._playing = False
        states = self.radio.end() if self.radio else []
        for way in self.ways.values():
            way.rest()
        return {"late": self._late, "radio": states}

    def follow(self) -> None:
        """Do what is due."""
        while self._playing:
            now_us = (time.monotonic_ns() - self._began_ns) / 1000
            due = [(steps.due_us(), way, steps) for way in self.ways.values() for steps in (way.rates, way.delays)]
            at, way, steps = min(due, key=lambda each: each[0])
            if at > now_us:
                break
            value = steps.take()
            (way.set_rate if steps is way.rates else way.add_delay)(value)
            self._note(int(at), (time.monotonic_ns() - self._began_ns) // 1000 - int(at))
        if self._playing and self.radio:
            self.radio.follow(time.monotonic_ns())

    def _note(self, due_us: int, late_us: int) -> None:
        """Beyond what a trial has, only what was later than all before: a shell may stay open for days."""
        if len(self._late) < MOST_NOTED or late_us > self._latest_us:
            self._late.append((due_us, late_us))
        self._latest_us = max(self._latest_us, late_us)

    def waits_s(self) -> float | None:
        """Return how long until something is due."""
        if not self._playing:
            return None
        at = min(steps.due_us() for way in self.ways.values() for steps in (way.rates, way.delays))
        waits = self._began_ns + at * 1000 - time.monotonic_ns()
        if self.radio:
            waits = min(waits, self.radio.due_ns() - time.monotonic_ns())
        return max(0.0, waits / 1e9) if waits != float("inf") else None

    def listens(self) -> list[socket.socket]:
        return self.radio.listens() if self.radio and self._playing else []


def serve(player: Player) -> None:
    pending = b""
    while True:
        inputs: list[int | socket.socket] = [0, *player.listens()]
        readable, _, _ = select.select(inputs, [], [], player.waits_s())
        if 0 in readable:
            data = os.read(0, 4096)
            if not data:
                return
            pending += data
            *lines, pending = pending.split(b"\n")
            for line in lines:
                answer(player, line.decode().strip())
        player.follow()


def answer(player: Player, word: str) -> None:
    if word == "begin":
        at = time.time_ns()
        player.begin()
        say({"unix_ns": at})
    elif word == "end":
        say({**player.end(), "unix_ns": time.time_ns()})
    else:
        say({"unix_ns": time.time_ns()})


def say(data: object) -> None:
    print(json.dumps(data), flush=True)


def main() -> None:
    with contextlib.suppress(OSError):  # a container may not
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    gc.disable()
    settings = b""
    while not settings.endswith(b"\n"):
        data = os.read(0, 1 << 16)
        if not data:
            return
        settings += data
    player = Player(json.loads(settings))
    player.end()  # another one may have died in the middle of a trial
    say({"ready": True})
    serve(player)
