"""The documentation keeps up with the code: the reference is what commands say of themselves, links lead somewhere, and
what is shown as an example can be typed."""

import re
import shlex
from pathlib import Path

import click
import pytest

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.paths import PACKAGE, PROJECT
from lanelab.driver.cli.main import lanelab
from lanelab.driver.link import SETTINGS
from lanelab.driver.link.profiles import resolve
from tools.reference import LINK_OPTIONS, PAGE, page_text, walk

DOCUMENTS = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")])

HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
TREE = dict(walk(lanelab))


def test_the_reference_of_commands_is_their_own_help() -> None:
    assert PAGE.read_text() == page_text(PAGE.read_text()), "build/env/bin/python -m tools.reference writes it again"


@pytest.mark.parametrize("path", TREE)
def test_every_option_of_a_command_is_in_the_reference_once(path: str) -> None:
    """With it or, where several commands have it, in one place to which the command's section leads."""
    text = PAGE.read_text()
    section = text[text.index(f"# `{path}`\n") :].split("\n##")[0]
    for option in (one for one in TREE[path].params if isinstance(one, click.Option) and not one.hidden):
        if option.name in LINK_OPTIONS:
            assert "[link options](#link-options)" in section, option.name
        else:
            assert re.search(rf"`{option.opts[-1]}\b", section), option.name


def test_a_page_without_a_place_for_its_commands_is_refused() -> None:
    with pytest.raises(ValueError, match="has no place for bed options"):
        page_text("# Commands\n")


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


def test_every_page_is_in_the_index() -> None:
    index = PROJECT / "docs" / "README.md"
    named = {(index.parent / target.partition("#")[0]).resolve() for target in LINK.findall(index.read_text())}
    assert not [page for page in (PROJECT / "docs").rglob("*.md") if page != index and page not in named]


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
