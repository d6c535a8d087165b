"""Shows a sweep while it goes on: a live line for each bed, plain lines for a log, JSON for a program."""

from __future__ import annotations

import json
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lanelab.driver.cli.output import notes_to
from lanelab.driver.cli.progress import failed_words, is_refused, self_test_words, words_of_run
from lanelab.driver.cli.sweep_state import SweepState
from lanelab.driver.record.metrics import Metric
from lanelab.driver.run.events import Event, Listener

EVERY_S = 30.0  # plain lines of how far it is
PLAIN_LINES = 16  # of beds; of more, machines are told
REASON = 250  # characters of why a portion was undone
ROOM = 4  # lines of a terminal that are left for what is printed above


@contextmanager
def watching_sweep(*, as_json: bool, trials: int, done: int, primary: Metric, rounds: int = 0) -> Iterator[Listener]:
    """A listener for the sweep that is going on. `rounds`: the most that there can be."""
    if as_json:
        yield lambda event: click.echo(json.dumps(event.to_json()))
        return
    state = SweepState(trials, done, primary, rounds)
    with _live(state) if sys.stderr.isatty() else plain(state, _say) as listener:
        yield listener


def _say(words: str) -> None:
    click.echo(f"lanelab: {words}", err=True)


@contextmanager
def _live(state: SweepState) -> Iterator[Listener]:
    console = Console(stderr=True, highlight=False)
    guard = threading.RLock()  # Ctrl-C tells something too, in the middle of anything

    def picture() -> Group:
        with guard:
            return _picture(state, console.height)

    def say(line: str) -> None:
        console.print(Text(line))

    with Live(get_renderable=picture, console=console, refresh_per_second=4, transient=True), notes_to(say):

        def listen(event: Event) -> None:
            with guard:
                state.see(event)
            if words := event_words(event):
                console.print(Text(f"lanelab: {words}", style="yellow" if event.kind in _TROUBLE else ""))

        yield listen


def _picture(state: SweepState, height: int) -> Group:
    beds = Table.grid(padding=(0, 2))
    beds.add_column(no_wrap=True)
    beds.add_column(no_wrap=True, overflow="ellipsis", style="cyan")
    beds.add_column(no_wrap=True, justify="right")
    for name, now, did in state.lines(max(height - ROOM, 1)):
        beds.add_row(Text(name), Text(now), Text(did))
    whole = Text(state.whole(), style="bold", no_wrap=True, overflow="ellipsis")
    return Group(beds, whole)


@contextmanager
def plain(state: SweepState, say: Callable[[str], None], every_s: float = EVERY_S) -> Iterator[Listener]:
    """A line for what a person wants to know, and at intervals how far it is."""
    guard = threading.RLock()  # Ctrl-C tells something too, in the middle of anything
    over = threading.Event()

    def tell_how_far() -> None:
        with guard:
            say(state.whole())
            for name, now, did in state.lines(PLAIN_LINES):
                say(f"  {name}: {now}; {did}" if now else f"  {name}")

    def keep_telling() -> None:
        while not over.wait(every_s):
            tell_how_far()

    def listen(event: Event) -> None:
        with guard:
            state.see(event)
            if words := event_words(event):
                say(words)

    thread = threading.Thread(target=keep_telling, name="progress", daemon=True)
    thread.start()
    try:
        yield listen
    finally:
        over.set()
        thread.join()
        say(state.whole())


def event_words(event: Event) -> str:
    """A line for a person, or nothing."""
    if event.kind == "on-worker":
        return _worker_words(dict(event.data))
    words = _WORDS.get(event.kind)
    return words(event.data) if words else words_of_run(event)


def _worker_words(data: dict[str, Any]) -> str:
    """Of what a worker says, only what went wrong: trials that count are too many to tell."""
    told = data["told"]
    if told["event"] == "trial" and told["status"] != "ok" and not is_refused(told):
        words = failed_words(told)
    elif told["event"] == "self-test" and not told["passed"]:
        words = self_test_words(told)
    elif told["event"] in ("bed-lost", "bed-awaited", "links-not-measured-again"):
        words = words_of_run(Event(told["event"], told))
    else:
        return ""
    return f"{data['name']}: {words}"


def _qualified_words(data: Mapping[str, Any]) -> str:
    refused = data["links_refused"]
    without = f", but for {len(refused)} of its links: {'; '.join(map(str, refused))}" if refused else ""
    return f"{data['name']} has qualified{without}"


def _left_words(data: Mapping[str, Any]) -> str:
    lost = "; its portion is begun anew on another bed" if data["portion_lost"] else ""
    return f"{data['name']} is gone: {data['why']}{lost}"


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "worker-joined": lambda data: f"{data['name']} has joined",
    "worker-qualified": _qualified_words,
    "worker-refused": lambda data: (
        f"{data['name']} is not used: {data['why']}" + (f". {data['remedy']}" if data["remedy"] else "")
    ),
    "worker-left": _left_words,
    "portion-undone": lambda data: (
        f"{data['name']} could not make its portion, which is begun anew: {textwrap.shorten(data['why'], REASON)}"
    ),
    "link-refused": lambda data: f"{data['name']} gets no work on link {data['link']}: {data['why']}",
    "machine-differs": lambda data: f"{data['name']} differs from the first machine: {data['what']}",
    "scheduler-restarted": lambda data: f"the scheduler was started again: {data['why']}",
    "cluster-away": lambda data: f"the scheduler cannot be reached ({data['why']}); waiting for it",
    "stopping": lambda _: "stopping when the portions that are under way are stored; Ctrl-C once more stops at once",
}
_TROUBLE = (
    "worker-refused",
    "worker-left",
    "portion-undone",
    "link-refused",
    "machine-differs",
    "cluster-away",
    "on-worker",
    "scheduler-restarted",
)
