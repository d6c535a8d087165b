"""Groups of commands that are imported when they are called. The names of commands and a line about each are in the
group's table, so that `--help` and a wrong name import none of them."""

import importlib
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import click

# Name -> where the command is, from the package of the group (".runs:run"), and its help in one line.
Table = Mapping[str, tuple[str, str]]


LONGEST_LINE = 90  # characters of help in one line, which a terminal of 110 columns shows whole


class Commands(MutableMapping[str, click.Command]):
    """The commands of a table. Looking one up imports it."""

    def __init__(self, package: str, table: Table) -> None:
        self._package, self._table = package, table
        self._imported: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._imported:
            module, _, attribute = self._table[name][0].partition(":")
            self._imported[name] = getattr(importlib.import_module(module, self._package), attribute)
        return self._imported[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        raise TypeError(f"the command {name} belongs into the table of its group")

    def __delitem__(self, name: str) -> None:
        raise TypeError(f"the command {name} is in the table of its group")

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class LazyGroup(click.Group):
    """A group whose commands are those of a table."""

    def __init__(self, name: str | None, package: str, table: Table, **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(name, Commands(package, table), **settings)
        self.table = table

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what click writes, without importing the commands."""
        limit = formatter.width - 6 - max(map(len, self.table))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._in_short(name, limit)) for name in self.list_commands(ctx)])

    def _in_short(self, name: str, limit: int = 45) -> str:
        return click.Command(name, help=self.table[name][1]).get_short_help_str(limit)
