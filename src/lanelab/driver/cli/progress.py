"""Shows a run while it goes on: one live line for a person, plain lines for a log, JSON for a program."""

from __future__ import annotations

import json
import statistics
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from lanelab.driver.record.metrics import Metric
from lanelab.driver.record.reasons import Reason
from lanelab.driver.run.events import Event, Listener

MOST_OF_A_LINK = 160  # characters of what is wrong with a link; the run folder has all


class Counter:
    """What has happened so far, and how long the rest may take."""

    def __init__(self, trials: int, done: int, primary: Metric) -> None:
        self.trials, self.done, self.failed = trials, done, 0
        self.refused = 0  # trials that did not begin, because their link was out of tolerance
        self.refused_links: set[str] = set()  # that were told
        self.primary = primary
        self.last = ""  # value of the primary metric
        self.now = "making the bed"
        self._walls: list[float] = []
        self._since = time.monotonic()

    def see(self, event: Event) -> None:
        data = event.data
        if event.kind == "trial" and is_refused(data):
            self.refused += 1  # in no time, which says nothing of those that begin
        elif event.kind == "trial":
            self._walls = [*self._walls[-19:], data["wall_s"]]
            if data["status"] == "ok":
                self.done += 1
                self.last = self.value(data)
            else:
                self.failed += 1
        elif words := doing_words(event.kind, data):
            self.now = words

    def value(self, data: Mapping[str, Any]) -> str:
        """Of the primary metric, with its unit."""
        return f"{data[self.primary.name] / self.primary.scale:.0f} {self.primary.unit}"

    @property
    def eta(self) -> str:
        if not self._walls:
            return "?"
        return self.in_words(max(self.trials - self.done, 0) * statistics.median(self._walls))

    @staticmethod
    def in_words(length_s: float | None) -> str:
        """A length of time, as one would say it; None: nobody knows."""
        if length_s is None:
            return "?"
        seconds = round(length_s)
        minutes, hours = seconds // 60, seconds // 3600
        if hours:
            return f"{hours} h {minutes % 60:02d} min"
        return f"{minutes} min {seconds % 60:02d} s" if minutes else f"{seconds} s"


def doing_words(kind: str, data: Mapping[str, Any]) -> str:
    """What a bed does from this event on; "": the same as before."""
    if kind == "trial-started":
        return f"{data['site']} · {data['link']} · {data['arm']}"
    if kind == "self-test-started":
        return f"measuring the link {data['link']}{' again' if data['moment'] == 'after' else ''}"
    if kind == "reuse":
        return f"looking for trials in {data['store']}"
    if kind == "reusing":
        return f"taking trials that were made before, {data['done']} of {data['of']}"
    return ""


@contextmanager
def watching(*, as_json: bool, trials: int, done: int, primary: Metric) -> Iterator[Listener]:
    """A listener for the run that is going on."""
    if as_json:
        yield lambda event: click.echo(json.dumps(event.to_json()))
    elif sys.stderr.isatty():
        with _live(Counter(trials, done, primary)) as listener:
            yield listener
    else:
        yield _plain(Counter(trials, done, primary))


@contextmanager
def _live(counter: Counter) -> Iterator[Listener]:
    console = Console(stderr=True, highlight=False)
    with Live(_line(counter), console=console, refresh_per_second=4, transient=True) as live:

        def listen(event: Event) -> None:
            counter.see(event)
            words = _words(event, counter)
            if words and event.kind != "trial":
                console.print(Text(f"lanelab: {words}"))
            elif words and event.data["status"] != "ok":
                console.print(Text(f"lanelab: {words}", style="yellow"))
            live.update(_line(counter))

        yield listen


def _line(counter: Counter) -> Text:
    line = Text.assemble((f"{counter.done}/{counter.trials}", "bold"), f"  ETA {counter.eta}  ", (counter.now, "cyan"))
    if counter.last:
        line.append(f"  last {counter.last}")
    if counter.failed:
        line.append(f"  {counter.failed} failed", style="bold red")
    if counter.refused:
        line.append(f"  {counter.refused} refused with their link", style="yellow")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _plain(counter: Counter) -> Listener:
    def listen(event: Event) -> None:
        counter.see(event)
        words = _words(event, counter)
        if words:
            click.echo(f"lanelab: {words}", err=True)

    return listen


def _words(event: Event, counter: Counter) -> str:
    """A line for a person, or nothing."""
    if event.kind == "trial":
        return "" if is_refused(event.data) else _trial_words(event.data, counter)
    if event.kind == "self-test" and _is_told(event.data, counter.refused_links):
        return ""
    return words_of_run(event)


def is_refused(trial: Mapping[str, Any]) -> bool:
    """Whether a trial was not begun because of its link: told once for all of them, when the link is measured."""
    failures = trial["failures"]
    return bool(failures) and all(failure["reason"] == Reason.LINK_OUT_OF_TOLERANCE for failure in failures)


def _is_told(data: Mapping[str, Any], refused: set[str]) -> bool:
    """Whether it is known that this link is refused. Each round measures it again."""
    if data["passed"] or data["moment"] == "after":
        refused.discard(data["link"])
        return False
    known = data["link"] in refused
    refused.add(data["link"])
    return known


def words_of_run(event: Event) -> str:
    """Of events that mean the same on one bed and on many; "": it is not one of them."""
    words = _WORDS_OF_RUN.get(event.kind)
    return words(event.data) if words else ""


def self_test_words(data: Mapping[str, Any]) -> str:
    again = " after its trials" if data["moment"] == "after" else ""
    if not data["passed"]:
        why = textwrap.shorten(data["failures"], MOST_OF_A_LINK, placeholder=" …")
        return f"link {data['link']} is NOT what was asked for{again}: {why}{'' if again else _of_refusal(data)}"
    untold = f" (not measured: {', '.join(data['not_measured'])})" if data["not_measured"] and not again else ""
    return f"link {data['link']} is what was asked for{again}{untold}"


def _of_refusal(data: Mapping[str, Any]) -> str:
    """Why that may be, and what to do."""
    load, processors = data["load"], data["processors"]
    many = f"{processors} processor{'' if processors == 1 else 's'}"
    busy = f"this machine is busy: load {load:.0f} on {many}" if load > processors else ""
    if data["accepted"]:
        return ". Its trials are made all the same (--accept-links)" + (f"; {busy}" if busy else "")
    waits = "its trials wait until it passes. `--accept-links` shows the effect all the same"
    return f". {busy}; {waits}" if busy else f". {waits}"


def _trial_words(data: Mapping[str, Any], counter: Counter) -> str:
    if data["status"] != "ok":
        return failed_words(data)
    return f"{counter.done}/{counter.trials} {_where(data)}: {counter.value(data)} (ETA {counter.eta})"


def failed_words(data: Mapping[str, Any]) -> str:
    """Of a trial that does not count."""
    why = "; ".join(f"{failure['reason']}: {failure['detail']}" for failure in data["failures"])
    return f"{_where(data)}, attempt {data['attempt']} failed: {why}"


def _where(data: Mapping[str, Any]) -> str:
    return f"{data['site']}, {data['link']}, {data['arm']}, round {data['round']}"


_WORDS_OF_RUN: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "reused": lambda data: data["sentence"],
    "not-reused": lambda data: f"not reused: {data['what']}",
    "run": lambda data: f"run folder {data['folder']}, seed {data['seed']}",
    "bed": lambda data: f"bed {data['bed']} up in {data['bring_up_s']:.1f} s, router {data['router']} {data['kernel']}",
    "stopping": lambda _: (
        "stopping: a page load that is under way ends by itself, a load is ended now; Ctrl-C once more stops at once"
    ),
    "links-not-measured-again": lambda data: f"links were not measured again: {data['what']}",
    "bed-lost": lambda data: f"the bed was lost ({data['what']}); making another",
    "bed-awaited": lambda data: f"no bed can be made now ({data['what']}); again in {data['pause_s']} s",
    "self-test": self_test_words,
}
