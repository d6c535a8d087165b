"""Man pages from what the commands say of themselves in `--help`: lanelab.1, and one for each command.

    python -m tools.man FOLDER

writes them there. They are for packages of lanelab, and so leave out what only a checkout has.
"""

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from lanelab.driver.base.version import VERSION
from lanelab.driver.cli import checkout_tools
from lanelab.driver.cli.main import lanelab
from tools.reference import PAGE, blocks_of, listed_options, walk

_STATUS = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_ESCAPES = str.maketrans(
    {"\\": r"\(rs", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq"}
)


def write_pages(folder: Path) -> list[Path]:
    """Write all pages, and return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for path, command in commands().items():
        files.append(folder / f"{page_name(path)}.1")
        files[-1].write_text(page_text(path, command), encoding="utf-8")
    return files


def commands() -> dict[str, click.Command]:
    """Return the commands of an installed lanelab, by their whole names."""
    return {path: command for path, command in walk(lanelab) if [*path.split(), ""][1] not in checkout_tools.TABLE}


def page_name(path: str) -> str:
    return path.replace(" ", "-")


def page_text(path: str, command: click.Command) -> str:
    name = page_name(path)
    context = click.Context(command, info_name=path)
    options = [record for one in listed_options(command) if (record := one.get_help_record(context))]
    below = _commands_below(path, command)
    parts = [
        f'.TH {_text(name.upper())} 1 "" "lanelab {VERSION}" "User Commands"',
        _section("NAME", [_text(f"{name} - {command.get_short_help_str(1000).rstrip('.')}")]),
        _section("SYNOPSIS", [".nh", ".ad l", *_wrapped(" ".join([path, *command.collect_usage_pieces(context)]))]),
        _section("DESCRIPTION", _prose(command.help or "")),
        _section("OPTIONS", _list(options)),
        _section("COMMANDS", _list(below)),
        _section("NOTES", _prose(command.epilog or "")),
        _section("EXIT STATUS", _list(_statuses()) if path == "lanelab" else []),
        _section("SEE ALSO", _see_also(path, [f"{path} {word}" for word, _ in below])),
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _commands_below(path: str, command: click.Command) -> list[tuple[str, str]]:
    if not isinstance(command, click.Group):
        return []
    known = {name: one for name, one in commands().items() if name.rpartition(" ")[0] == path}
    return [(name.rpartition(" ")[2], one.get_short_help_str(1000)) for name, one in known.items()]


def _statuses() -> Iterator[tuple[str, str]]:
    """Yield the statuses of all commands, which the reference has by hand."""
    section = PAGE.read_text(encoding="utf-8").partition("## Exit status")[2].partition("\n## ")[0]
    for status, meaning in _STATUS.findall(section)[2:]:
        yield status, _LINK.sub(r"\1", meaning).replace("`", "")


def _see_also(path: str, below: list[str]) -> list[str]:
    above = [path.rpartition(" ")[0]] if " " in path else []
    pages = ", ".join(f"{page_name(name)}(1)" for name in [*above, *below])
    return [*_wrapped(pages), ".PP", _text("All documentation, with a search: lanelab docs")]


def _section(title: str, lines: Iterable[str]) -> str:
    body = list(lines)
    while body and body[0] == ".PP":
        body.pop(0)
    return "\n".join([f'.SH "{title}"', *body]) if body else ""


def _list(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in rows:
        yield ".TP"
        yield f".B {_text(term)}"
        yield from _wrapped(" ".join(meaning.split()))


def _prose(text: str) -> Iterator[str]:
    for block in blocks_of(text):
        yield ".PP"
        if block.startswith("\b"):
            lines = textwrap.dedent(block.removeprefix("\b").strip("\n")).splitlines()
            yield from [".nf", *map(_text, lines), ".fi"]
        else:
            yield from _wrapped(" ".join(block.split()))


def _wrapped(text: str) -> list[str]:
    return [_text(line) for line in textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False)]


def _text(line: str) -> str:
    """Return the line so that nothing in it is a request or an escape."""
    escaped = line.translate(_ESCAPES)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("say the folder to write the man pages to: python -m tools.man FOLDER")
    print(f"{len(write_pages(Path(sys.argv[1])))} man pages in {sys.argv[1]}")
