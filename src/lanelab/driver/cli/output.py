"""What the commands print. Results go to stdout, everything else to stderr; colours only where a person looks."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def console() -> Console:
    """Return the console for stdout. Wide enough for a table when it is not a terminal. Brackets are text: addresses
    have them."""
    plain = Console(highlight=False, markup=False)
    return plain if plain.is_terminal else Console(highlight=False, markup=False, width=160, soft_wrap=True)


def _to_stderr(line: str) -> None:
    click.echo(line, err=True)


_says: list[Callable[[str], None]] = [_to_stderr]


def note(text: str) -> None:
    """Write a line for the person who waits, not for a program that reads the output."""
    _says[-1](f"lanelab: {text}")


@contextmanager
def notes_to(say: Callable[[str], None]) -> Iterator[None]:
    """Send lines there meanwhile: above what a live display draws, and not into it."""
    _says.append(say)
    try:
        yield
    finally:
        _says.pop()


def print_json(data: object) -> None:
    click.echo(json.dumps(data, indent=2))


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: Sequence[str] = ()) -> Table:
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        # Names, values and lines to copy keep their line; prose may wrap.
        result.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        result.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    return result
