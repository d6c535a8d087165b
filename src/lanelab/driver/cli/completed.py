"""Answers what a shell asks while a command is typed. It reads the commands' parameters from a table, because a command
imports all that it runs: up to two seconds of processor time for each press of the key."""

import contextlib
import importlib
import json
import os
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, shell_complete

from lanelab.driver.cli.checkout_tools import has_command
from lanelab.driver.cli.completions import COMPLETE_VARIABLE

FILE = Path(__file__).with_name("parameters.json")  # python -m tools.reference writes it
NAME = "lanelab"
Table = dict[str, dict[str, Any]]


def answer() -> int:
    """Print what the shell may offer. A message would stand in the line that is being typed, so there is none."""
    with contextlib.suppress(Exception):
        return shell_complete(commands(), {}, NAME, COMPLETE_VARIABLE, os.environ[COMPLETE_VARIABLE])
    return 1


def commands() -> click.Command:
    """Return lanelab's commands with their parameters, which can be completed and not be called."""
    return _command(NAME, json.loads(FILE.read_text(encoding="utf-8")))


class _Group(click.Group):
    """A group whose commands are made of the rows of the table when they are asked for."""

    def __init__(self, path: str, table: Table, names: list[str], **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(path, **settings)
        self.path, self.table, self.names = path, table, names

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        return self.names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        return _command(f"{self.path} {cmd_name}", self.table) if cmd_name in self.names else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what click returns, without making the commands."""
        names = [name for name in self.names if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self.table[f"{self.path} {name}"]["help"]) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


def _command(path: str, table: Table) -> click.Command:
    settings: dict[str, Any] = {
        "params": [_parameter(each) for each in table[path]["parameters"]],
        "context_settings": {"help_option_names": ["-h", "--help"]},
    }
    before = f"{path} "
    below = [each.removeprefix(before) for each in table if each.startswith(before) and " " not in each[len(before) :]]
    if not below:
        return click.Command(path, **settings)
    names = [name for name in below if path != NAME or has_command(name)]
    return _Group(path, table, names, **settings)


def _parameter(row: dict[str, Any]) -> click.Parameter:
    settings: dict[str, Any] = {"type": _type(row), "nargs": row.get("nargs", 1)}
    if "completer" in row:
        settings["shell_complete"] = _completer(row["completer"])
    if "options" not in row:
        return click.Argument([row["name"]], required=False, **settings)
    settings = {"is_flag": True} if row.get("flag") else settings | {"multiple": row.get("multiple", False)}
    return click.Option([row["name"], *row["options"]], help=row["help"], **settings)


def _type(row: dict[str, Any]) -> click.ParamType[Any]:
    if "choices" in row:
        return click.Choice(row["choices"])
    return click.Path(file_okay=row["path"] == "file") if "path" in row else click.STRING


def _completer(place: str) -> Any:  # noqa: ANN401 - click's own type is wider than what it takes
    module, _, function = place.partition(":")
    return getattr(importlib.import_module(module), function)
