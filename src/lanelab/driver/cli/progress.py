"""Shows runs while they go on: live lines for a person, plain lines for a log, JSON for a program."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from lanelab.driver.api.events import Event, Listener, Notice, RunBegun, SessionEnded, TrialEnded, TrialsMissing
from lanelab.driver.api.progress import Progress
from lanelab.driver.api.sweep_progress import SweepProgress
from lanelab.driver.cli.output import note, notes_to

EVERY_S = 30.0  # plain lines of how far a sweep is
PLAIN_LINES = 16  # of beds; of more, machines are told
ROOM = 4  # lines of a terminal that are left for what is printed above


@contextmanager
def watching(*, as_json: bool, many_beds: bool = False) -> Iterator[Listener]:
    """Yield a listener for one run after the other, each on one bed or on several."""
    if as_json:
        yield _print_json
        return
    missing: list[TrialsMissing] = []  # told when the live lines are gone
    with ExitStack() as shown:
        listener: Listener = _say_words

        def listen(event: Event) -> None:
            nonlocal listener
            if isinstance(event, RunBegun):
                listener = shown.enter_context(_sweep(event) if many_beds else _one_bed(event))
            if isinstance(event, TrialsMissing):
                missing.append(event)
            listener(event)
            if isinstance(event, SessionEnded):
                shown.close()
                listener = _say_words
                while missing:
                    _say_missing(missing.pop())

        yield listen


def _print_json(event: Event) -> None:
    click.echo(json.dumps(event.to_json()))
    if isinstance(event, Notice):
        note(event.words)  # for the person who has started the program
    if isinstance(event, TrialsMissing):
        _say_missing(event)


def _say_missing(missing: TrialsMissing) -> None:
    for line in missing.sentences:
        note(line)


def _say_words(event: Event) -> None:
    if event.words:
        note(event.words)


def _say(words: str) -> None:
    click.echo(f"lanelab: {words}", err=True)


# --- a run on one bed


@contextmanager
def _one_bed(begun: RunBegun) -> Iterator[Listener]:
    progress = Progress.of(begun)
    if not sys.stderr.isatty():
        yield lambda event: _tell(progress, event)
        return
    console = Console(stderr=True, highlight=False)
    with Live(_line(progress), console=console, refresh_per_second=4, transient=True) as live:

        def listen(event: Event) -> None:
            progress.see(event)
            words = progress.words(event)
            failed = isinstance(event, TrialEnded)
            if words and not (isinstance(event, TrialEnded) and event.ok):
                console.print(Text(f"lanelab: {words}", style="yellow" if failed else ""))
            live.update(_line(progress))

        yield listen


def _tell(progress: Progress, event: Event) -> None:
    progress.see(event)
    if words := progress.words(event):
        _say(words)


def _line(progress: Progress) -> Text:
    done = f"{progress.done}/{progress.trials}"
    line = Text.assemble((done, "bold"), f"  ETA {progress.eta}  ", (progress.now, "cyan"))
    if progress.last:
        line.append(f"  last {progress.last}")
    if progress.failed:
        line.append(f"  {progress.failed} failed", style="bold red")
    if progress.refused:
        line.append(f"  {progress.refused} refused with their link", style="yellow")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


# --- a run on several beds


@contextmanager
def _sweep(begun: RunBegun) -> Iterator[Listener]:
    progress = SweepProgress.of(begun)
    with _live_sweep(progress) if sys.stderr.isatty() else plain(progress, _say) as listener:
        yield listener


@contextmanager
def _live_sweep(progress: SweepProgress) -> Iterator[Listener]:
    console = Console(stderr=True, highlight=False)
    guard = threading.RLock()  # Ctrl-C tells something too, in the middle of anything

    def picture() -> Group:
        with guard:
            return picture_of(progress, console.height)

    def say(line: str) -> None:
        console.print(Text(line))

    with Live(get_renderable=picture, console=console, refresh_per_second=4, transient=True), notes_to(say):

        def listen(event: Event) -> None:
            with guard:
                progress.see(event)
            if event.words:
                console.print(Text(f"lanelab: {event.words}", style="yellow" if event.is_trouble else ""))

        yield listen


def picture_of(progress: SweepProgress, height: int) -> Group:
    """Return a line for each bed, and one for the whole."""
    beds = Table.grid(padding=(0, 2))
    beds.add_column(no_wrap=True)
    beds.add_column(no_wrap=True, overflow="ellipsis", style="cyan")
    beds.add_column(no_wrap=True, justify="right")
    for name, now, did in progress.lines(max(height - ROOM, 1)):
        beds.add_row(Text(name), Text(now), Text(did))
    whole = Text(progress.whole(), style="bold", no_wrap=True, overflow="ellipsis")
    return Group(beds, whole)


@contextmanager
def plain(progress: SweepProgress, say: Callable[[str], None], every_s: float = EVERY_S) -> Iterator[Listener]:
    """Yield a listener that writes a line for each thing that a person wants to know, and at intervals how far the run
    is."""
    guard = threading.RLock()  # Ctrl-C tells something too, in the middle of anything
    over = threading.Event()

    def tell_how_far() -> None:
        with guard:
            say(progress.whole())
            for name, now, did in progress.lines(PLAIN_LINES):
                say(f"  {name}: {now}; {did}" if now else f"  {name}")

    def keep_telling() -> None:
        while not over.wait(every_s):
            tell_how_far()

    def listen(event: Event) -> None:
        with guard:
            progress.see(event)
            if event.words:
                say(event.words)

    thread = threading.Thread(target=keep_telling, name="progress", daemon=True)
    thread.start()
    try:
        yield listen
    finally:
        over.set()
        thread.join()
        say(progress.whole())
