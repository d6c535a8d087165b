"""Every link in links/ comes to exactly the lines that its file shows.

A file holds settings, a line of dashes, and the lines. To add one, write the settings. After a change that is meant,

    pytest tests/golden --update-golden

writes the lines of every file again: read the difference before you commit it. Besides the settings of a link a file
may name a `profile`, and a `compensation`: what the router itself is said to add to each direction's delay.
"""

import difflib
from pathlib import Path

import pytest

from lanelab.driver.base.units import Duration
from lanelab.driver.link import SETTINGS, Link
from lanelab.driver.link.profiles import PROFILES, resolve
from lanelab.driver.link.shaping.shaping import Shaping, explain, shape

FOLDER = Path(__file__).parent / "links"
FILES = sorted(FOLDER.glob("*.txt"))
DASHES = "----"


def read(file: Path) -> tuple[str, dict[str, object], list[str]]:
    """The head as written, its settings, and the lines."""
    head, _, lines = file.read_text().partition(DASHES + "\n")
    settings: dict[str, object] = {}
    for text in head.splitlines():
        key, colon, value = text.partition(": ")
        assert colon, f"{file.name}: {text!r} is not 'setting: value'"
        settings[key] = value
    return head, settings, lines.splitlines()


def make(settings: dict[str, object]) -> tuple[Link, Duration]:
    profile, compensation = settings.pop("profile", None), settings.pop("compensation", "0ms")
    return resolve(str(profile) if profile else None, settings), Duration.parse(compensation)


def commands(shaping: Shaping) -> list[str]:
    parts = (
        ("router", "ip", shaping.router_ip),
        ("router", "tc", shaping.router_tc),
        ("client", "ip", shaping.client_ip),
        ("server", "ip", shaping.server_ip),
        ("client", "sysctl -w", shaping.client_kernel),
        ("server", "sysctl -w", shaping.server_kernel),
    )
    return [f"{node}$ {program} {line}" for node, program, lines in parts for line in lines]


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_link(file: Path, update_golden: bool) -> None:
    head, settings, expected = read(file)
    link, compensation = make(settings)
    found = commands(shape(link, compensation))
    if update_golden:
        file.write_text("\n".join([head + DASHES, *found, ""]))
        return
    difference = list(difflib.unified_diff(expected, found, "expected", "found", lineterm="", n=1))
    if difference:
        pytest.fail("\n".join([f"{file.name} has changed (see {Path(__file__).name}):", *difference]), pytrace=False)


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_each_line_is_explained(file: Path) -> None:
    link, compensation = make(read(file)[1])
    explained = explain(link, compensation)
    assert [line.text for line in explained] == [
        command.partition("$ ")[2] for command in commands(shape(link, compensation))
    ]
    for line in explained:
        assert line.meaning.endswith(".")
        assert "\n" not in line.meaning
        assert "None" not in line.meaning


def test_every_profile_has_a_file() -> None:
    assert {f"profile-{name}" for name in PROFILES} == {f.stem for f in FILES if f.stem.startswith("profile-")}


def test_every_setting_is_in_a_file() -> None:
    written = {key for file in FILES for key in read(file)[1]}
    for setting in SETTINGS.settings:
        assert any(key.name in written for key in setting.keys), f"no golden file sets {setting.name}"
