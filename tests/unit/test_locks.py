"""The lock files agree with each other and with what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.machine import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME, DEVELOPMENT = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"


def pinned(lock: Path) -> dict[tuple[str, str], set[str]]:
    """(name, version) -> hashes. Where Python versions differ, a name has several versions."""
    found: dict[tuple[str, str], set[str]] = {}
    entry: set[str] = set()
    for line in lock.read_text().splitlines():
        if match := re.match(r"([a-z0-9.-]+)==(\S+)", line):
            entry = found.setdefault((match[1], match[2]), set())
        elif match := re.match(r"    --hash=(sha256:[0-9a-f]{64})", line):
            entry.add(match[1])
        else:
            assert re.match(r" *#", line), line
    return found


def names(lock: Path) -> set[str]:
    return {name for name, _ in pinned(lock)}


def test_everything_is_pinned_with_hashes() -> None:
    for lock in (RUNTIME, DEVELOPMENT):
        assert all(pinned(lock).values()), lock


def test_the_development_lock_contains_the_other_one() -> None:
    development = pinned(DEVELOPMENT)
    assert {key: development.get(key) for key in pinned(RUNTIME)} == pinned(RUNTIME)


def test_what_pyproject_asks_for_is_locked_and_has_its_reason() -> None:
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    for lock, wanted in ((RUNTIME, PROJECT["dependencies"]), (DEVELOPMENT, PROJECT["optional-dependencies"]["dev"])):
        assert {name.lower() for name in wanted} <= names(lock)
        assert all(re.search(rf"^\|.*\b{re.escape(name)}\b.*\| \S", reasons, re.MULTILINE) for name in wanted), wanted
