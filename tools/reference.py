"""The command reference, docs/reference/commands.md, from what the commands say of themselves in `--help`.

    python -m tools.reference

writes it again, and the table that completion reads. What stands outside the page's markers is written by hand.
"""

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator

import click

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.bed import registry
from lanelab.driver.cli.completed import FILE as COMPLETION_TABLE
from lanelab.driver.cli.main import lanelab
from lanelab.driver.link import SETTINGS
from tools.reference_tables import with_tables

PAGE = PROJECT / "docs" / "reference" / "commands.md"
LINK_OPTIONS = {"profile", *SETTINGS}  # docs/reference/link.md has them
SHARED = 3  # options that so many commands have, in the same words, are said once
BED_OPTIONS = ("substrate", *(option.name for option in registry.options()), "router", "pins")
_Words = tuple[str, str] | None  # an option and what it means, as `--help` says it
_PARAGRAPH = re.compile(r"\n\s*\n")
_DOCUMENT = re.compile(r"docs/((?:[\w-]+/)*)([\w-]+[.]md)")


def walk(command: click.Command, path: str = "lanelab") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that a user is shown, with its whole name."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below and not below.hidden:
                yield from walk(below, f"{path} {name}")


def page_text(now: str) -> str:
    """The page as it should be: `now` with the generated parts written again."""
    commands = dict(walk(lanelab))
    shared = _shared_options(list(commands.values()))
    parts = {
        "bed options": _options_table(_bed_options(commands["lanelab bed shell"])),
        "shared options": _options_table(list(shared.values())),
        "commands": "\n\n".join(_section(path, command, set(shared)) for path, command in commands.items()),
    }
    return with_tables(now, parts)


def _section(path: str, command: click.Command, shared: set[_Words]) -> str:
    heading = "#" * (1 + max(1, min(2, path.count(" "))))
    blocks = [f"{heading} `{path}`", *_usage(path, command), *_paragraphs(command.help or "")]
    options = _own_options(command)
    if alone := [one for one in options if _words(one) not in shared]:
        blocks.append(_options_table(alone))
    if elsewhere := _elsewhere(command, [one for one in options if _words(one) in shared]):
        blocks.append(elsewhere)
    if command.epilog and not _takes_link(command):
        blocks += _paragraphs(command.epilog)
    return "\n\n".join(blocks)


def _usage(path: str, command: click.Command) -> list[str]:
    """Return the line that says what a command takes, where that is more than options or another command."""
    pieces = command.collect_usage_pieces(click.Context(command, info_name=path))
    return [] if isinstance(command, click.Group) or pieces == ["[OPTIONS]"] else [f"    {' '.join([path, *pieces])}"]


def _own_options(command: click.Command) -> list[click.Option]:
    """Return the options of a command that are neither of its link nor of its bed."""
    return [one for one in listed_options(command) if one.name not in LINK_OPTIONS and one.name not in BED_OPTIONS]


def _words(option: click.Option) -> _Words:
    return option.get_help_record(click.Context(click.Command("lanelab")))


def _shared_options(commands: list[click.Command]) -> dict[_Words, click.Option]:
    """Return the options that several commands have, by their words."""
    every = [one for command in commands for one in _own_options(command)]
    counts = Counter(map(_words, every))
    return {_words(one): one for one in every if counts[_words(one)] >= SHARED}


def _elsewhere(command: click.Command, shared: list[click.Option]) -> str:
    """Return what says where the options are that several commands have."""
    places = [f"[`{one.opts[-1]}`](#options-of-several-commands)" for one in shared]
    places += [f"[`{one.opts[-1]}`](#options-of-a-bed)" for one in _bed_options(command)]
    places += ["[link options](#link-options)"] if _takes_link(command) else []
    return f"Also: {', '.join(places)}." if places else ""


def _takes_link(command: click.Command) -> bool:
    return any(one.name == "rtt" for one in command.params)


def _bed_options(command: click.Command) -> list[click.Option]:
    by_name = {one.name: one for one in listed_options(command)}
    return [by_name[name] for name in BED_OPTIONS if name in by_name]


def listed_options(command: click.Command) -> list[click.Option]:
    """Return the options that `--help` lists."""
    return [one for one in command.params if isinstance(one, click.Option) and not one.hidden]


def _options_table(options: list[click.Option]) -> str:
    context = click.Context(click.Command("lanelab"))
    rows = [record for one in options if (record := one.get_help_record(context))]
    cells = [(words.replace("|", "\\|"), _linked(_short(meaning)).replace("|", "\\|")) for words, meaning in rows]
    return "\n".join(["| option | meaning |", "| --- | --- |", *(f"| `{words}` | {text} |" for words, text in cells)])


def _short(meaning: str) -> str:
    """Return a meaning without the gap that click leaves before its notes."""
    return re.sub(r"\s{2,}\[", " [", meaning).replace("[", "(").replace("]", ")")


def _paragraphs(text: str) -> list[str]:
    """Help as Markdown: what must keep its lines is a block of code, all else flows."""
    return [_as_it_is(block) if block.startswith("\b") else _flowing(block) for block in blocks_of(text)]


def blocks_of(text: str) -> list[str]:
    """Return the paragraphs of a help. One that begins with a backspace keeps its lines."""
    return _PARAGRAPH.split(inspect.cleandoc(text).strip())


def _as_it_is(block: str) -> str:
    return "\n".join(["```", textwrap.dedent(block.removeprefix("\b").strip("\n")), "```"])


def _flowing(block: str) -> str:
    text = _linked(" ".join(block.split()))
    return textwrap.fill(text, width=120, break_long_words=False, break_on_hyphens=False)


def _linked(text: str) -> str:
    """Names of documents become links, as seen from the page."""
    return _DOCUMENT.sub(lambda match: f"[{match[2]}]({_from_page(match[1], match[2])})", text)


def _from_page(folder: str, name: str) -> str:
    return name if folder == "reference/" else f"../{folder}{name}"


if __name__ == "__main__":
    from tools.completion_table import table_text  # it walks the commands as this does

    PAGE.write_text(page_text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    COMPLETION_TABLE.write_text(table_text(), encoding="utf-8")
