"""The documentation keeps up with the code: commands and options are in the reference, links lead somewhere, and what
is shown as an example can be typed."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.paths import PACKAGE, PROJECT
from lanelab.driver.cli.main import lanelab
from lanelab.driver.link import SETTINGS
from lanelab.driver.link.profiles import resolve

COMMANDS = PROJECT / "docs" / "reference" / "commands.md"
DOCUMENTS = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")])

LINK_OPTIONS = {"profile", *SETTINGS}  # docs/reference/link.md has them
SHARED_OPTIONS = {"router", "pins"}  # documented once, for every command that makes a bed

HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def walk(command: click.Command, path: str = "lanelab") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below and not below.hidden:
                yield from walk(below, f"{path} {name}")


def options(command: click.Command) -> list[click.Option]:
    """Those that a user is shown, without --help, which every command has."""
    return [option for option in command.params if isinstance(option, click.Option) and not option.hidden]


def sections(text: str) -> dict[str, str]:
    """Of each command in the reference, what is said below its heading and above the next."""
    found = {}
    headings = list(HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        name = re.fullmatch(r"`(lanelab[^`]*)`", heading[2])
        if name:
            found[name[1]] = text[heading.end() : end]
    return found


REFERENCE = sections(COMMANDS.read_text())
TREE = dict(walk(lanelab))


def test_every_command_is_in_the_reference_and_no_other() -> None:
    assert set(REFERENCE) == set(TREE)


@pytest.mark.parametrize("path", TREE)
def test_every_option_is_in_the_reference_and_no_other(path: str) -> None:
    documented = set(OPTION.findall(REFERENCE[path]))
    there = options(TREE[path])
    expected = {option.opts[-1] for option in there if option.name not in LINK_OPTIONS | SHARED_OPTIONS}
    assert expected <= documented, f"not documented: {expected - documented}"
    known = {word for option in TREE[path].params for word in option.opts}
    if isinstance(TREE[path], click.Group):
        known |= {word for below in walk(TREE[path], path) for option in below[1].params for word in option.opts}
    assert documented <= known, f"no such option: {documented - known}"


def test_commands_with_options_of_the_link_say_where_these_are() -> None:
    takes_link = [path for path, command in TREE.items() if "rtt" in {option.name for option in command.params}]
    assert takes_link
    for path in takes_link:
        assert "[link options]" in REFERENCE[path], path
    assert "(link.md)" in COMMANDS.read_text()


@pytest.mark.parametrize("option", sorted(SHARED_OPTIONS))
def test_options_that_make_a_bed_are_described_once_and_named_everywhere(option: str) -> None:
    having = {
        path: next(o.opts[-1] for o in command.params if o.name == option)
        for path, command in TREE.items()
        if option in {o.name for o in command.params}
    }
    assert len(having) > 1
    for path, word in having.items():
        assert word in REFERENCE[path], (path, word)
        assert word in REFERENCE["lanelab bed"]


def prose(document: Path) -> str:
    return CODE_BLOCK.sub("", document.read_text())


def anchors(document: Path) -> set[str]:
    """What a heading is called in an address."""
    plain = (re.sub(r"[^\w\- ]", "", heading[2].lower()) for heading in HEADING.finditer(prose(document)))
    return {words.replace(" ", "-") for words in plain}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(prose(document)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (document.parent / name) if name else document
        assert file.exists(), f"{target}: there is no such file"
        assert not anchor or anchor in anchors(file), f"{target}: there is no such heading"


EXAMPLE = re.compile(r"^\s+(?:\$ )?\./lanelab (.*)$|`\./lanelab ([^`]*)`", re.MULTILINE)
ELLIPSES = re.compile(r"[…<>$[]|^$")  # a command with something left out, or from a script


def examples(document: Path) -> list[str]:
    """Whole commands that a document shows."""
    shown = (match[1] or match[2] for match in EXAMPLE.finditer(document.read_text()))
    plain = (re.split(r" -- |\s+#", words)[0].strip() for words in shown)
    return [words for words in plain if not ELLIPSES.search(words)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_commands_that_are_shown_can_be_read(document: Path) -> None:
    for example in examples(document):
        words, path = shlex.split(example), "lanelab"
        while words and f"{path} {words[0]}" in TREE:
            path = f"{path} {words.pop(0)}"
        if path in ("lanelab bed exec", "lanelab bed run"):
            words += ["--", "true"]
        try:
            given = TREE[path].make_context(path, words).params
            named = given.get("profile") or given.get("profile_name")
            if "rtt" in given:  # it has the options of a link
                resolve(named, {key: given[key] for key in SETTINGS if given.get(key) is not None})
        except (click.ClickException, LanelabError) as error:
            pytest.fail(f"./lanelab {example}: {error}")


def test_examples_are_found() -> None:
    """It must be able to fail."""
    assert len(examples(PROJECT / "README.md")) > 5
    assert len(examples(PROJECT / "docs" / "guide.md")) > 10


def test_what_the_code_refers_to_is_there() -> None:
    """Error messages send users to these."""
    sources = "\n".join(file.read_text() for file in (PACKAGE / "driver").rglob("*.py"))
    for name in set(re.findall(r"docs/[\w/-]+\.md", sources)):
        assert (PROJECT / name).exists(), name
    for name, heading in re.findall(r"(docs/[\w/-]+\.md), '([^']+)'", sources):
        assert re.search(rf"^#+ {re.escape(heading)}$", (PROJECT / name).read_text(), re.MULTILINE), heading
