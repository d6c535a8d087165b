"""Man pages: each command that an installed lanelab has, with all its options, and nothing that groff warns of."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tools import man
from tools.reference import listed_options

COMMANDS = man.commands()


def test_each_command_has_a_page_but_those_of_a_checkout(tmp_path: Path) -> None:
    names = {file.name for file in man.write_pages(tmp_path / "man")}
    assert names == {file.name for file in (tmp_path / "man").iterdir()}
    assert {"lanelab.1", "lanelab-run.1", "lanelab-bed-shell.1"} <= names
    assert "lanelab-check.1" not in names
    assert "lanelab-bench-trials.1" not in names


def test_a_page_has_every_option_and_leads_to_the_commands_below() -> None:
    for path, command in COMMANDS.items():
        text = man.page_text(path, command)
        for option in listed_options(command):
            assert option.opts[-1].replace("-", r"\-") in text, path
    assert r"lanelab\-bed\-shell(1)" in man.page_text("lanelab bed", COMMANDS["lanelab bed"])
    assert ".B 130\ninterrupted with Ctrl\\-C" in man.page_text("lanelab", COMMANDS["lanelab"])


def test_text_is_no_request_and_no_escape() -> None:
    section = list(man._prose(".so /etc/passwd \\n(mo\n\n\b\n'quoted' lines\n  stay"))
    assert section == [
        *(".PP", r"\&.so /etc/passwd \(rsn(mo"),
        *(".PP", ".nf", r"\(aqquoted\(aq lines", "  stay", ".fi"),
    ]


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff here")
def test_groff_warns_of_nothing(tmp_path: Path) -> None:
    argv: list[str | Path] = ["groff", "-man", "-Tutf8", "-ww", "-z", "-k", *man.write_pages(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stderr == ""
