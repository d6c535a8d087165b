"""The lock files agree with each other and with what pyproject.toml asks for."""

import json
import re
import tomllib
from pathlib import Path

from tests.kit.machine import ROOT

TOML = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, GROUPS = TOML["project"], TOML["dependency-groups"]
RUNTIME, DEVELOPMENT = ROOT / "requirements.lock", ROOT / "requirements-dev.lock"
OF_GROUPS = {group: ROOT / f"requirements-{group}.lock" for group in GROUPS}
PEERS = ROOT / "tests" / "peers"


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
    for lock in (RUNTIME, DEVELOPMENT, *OF_GROUPS.values()):
        assert all(pinned(lock).values()), lock


def test_other_languages_packages_are_pinned_with_checksums_and_name_no_registry() -> None:
    packages = json.loads((PEERS / "node" / "package-lock.json").read_text())["packages"]
    wanted = json.loads((PEERS / "node" / "package.json").read_text())["dependencies"]
    for name, package in packages.items():
        assert not name or package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    jars = (PEERS / "java" / "jars.sha256").read_text().splitlines()
    pom = (PEERS / "java" / "pom.xml").read_text()
    for artifact, version in re.findall(r"<artifactId>(spdy-.*)</artifactId>\s*<version>(.*)</version>", pom):
        assert any(re.fullmatch(rf"[0-9a-f]{{64}}  {artifact}-{re.escape(version)}\.jar", jar) for jar in jars), (
            artifact
        )


def test_the_development_lock_contains_the_other_one() -> None:
    development = pinned(DEVELOPMENT)
    assert {key: development.get(key) for key in pinned(RUNTIME)} == pinned(RUNTIME)


def plain(extra: list[str]) -> list[str]:
    """Return what an extra asks for besides other extras."""
    return [name for name in extra if not name.startswith("lanelab[")]


def test_what_pyproject_asks_for_is_locked_and_has_its_reason() -> None:
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    everything = [
        (RUNTIME, PROJECT["dependencies"]),
        *((RUNTIME, plain(PROJECT["optional-dependencies"][extra])) for extra in ("run", "sweep", "tables", "serve")),
        (OF_GROUPS["notebooks"], plain(PROJECT["optional-dependencies"]["notebook"])),
        (DEVELOPMENT, PROJECT["optional-dependencies"]["dev"]),
        *((lock, [re.split("[<>=]", name)[0] for name in GROUPS[group]]) for group, lock in OF_GROUPS.items()),
    ]
    for lock, wanted in everything:
        assert {name.lower() for name in wanted} <= names(lock)
        assert all(re.search(rf"^\|.*\b{re.escape(name)}\b.*\| \S", reasons, re.MULTILINE) for name in wanted), wanted
