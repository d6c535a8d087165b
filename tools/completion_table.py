"""The table that completion reads, src/lanelab/driver/cli/parameters.json, from the commands themselves. It is written
again with the command reference: python -m tools.reference"""

import json
from typing import Any

import click
from click.shell_completion import CompletionItem

from lanelab.driver.cli.main import lanelab
from tools.reference import walk

HELP = 70  # characters of a parameter's help: a line of what a shell shows


def table_text() -> str:
    """Return the table as it should be."""
    rows = (f"{json.dumps(path)}: {json.dumps(_row(command), ensure_ascii=False)}" for path, command in walk(lanelab))
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _row(command: click.Command) -> dict[str, Any]:
    context = click.Context(command)
    parameters = [_parameter(each, context) for each in command.params if not getattr(each, "hidden", False)]
    return {"help": command.get_short_help_str(HELP), "parameters": parameters}


def _parameter(parameter: click.Parameter, context: click.Context) -> dict[str, Any]:
    row = {"name": parameter.name, **_values(parameter, context)}
    if parameter.nargs != 1:
        row["nargs"] = parameter.nargs
    if not isinstance(parameter, click.Option):
        return row
    pairs = [*parameter.opts, *parameter.secondary_opts]
    row |= {"options": ["/".join(pairs)] if parameter.secondary_opts else pairs, "help": _in_short(parameter.help)}
    return row | {name: True for name, so in (("flag", parameter.is_flag), ("multiple", parameter.multiple)) if so}


def _values(parameter: click.Parameter, context: click.Context) -> dict[str, Any]:
    """Return how a parameter's values are offered: by a function, as choices, or as files and folders."""
    if completer := parameter._custom_shell_complete:
        return {"completer": f"{completer.__module__}:{completer.__qualname__}"}
    offers: list[CompletionItem] = parameter.type.shell_complete(context, parameter, "")
    if offers and offers[0].type != "plain":
        return {"path": offers[0].type}
    return {"choices": [each.value for each in offers]} if offers else {}


def _in_short(words: str | None) -> str:
    line = " ".join((words or "").split())
    return line if len(line) <= HELP else f"{line[: HELP - 1]}…"
