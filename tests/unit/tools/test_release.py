"""The version of a build comes from tags, and a release names all that it consists of."""

import json
import re
import shutil
import subprocess
from importlib.metadata import metadata
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs.building.go import GATEWAY, toolchain
from lanelab.driver.site.load import site_names
from tools.wheel.gateway import licence_texts
from tools.wheel.licences import licence_of
from tools.wheel.sbom import sbom
from tools.wheel.version import version_from, version_of


@pytest.mark.parametrize(
    ("description", "version"),
    [
        ("v1.0-0-g0123abcd", "1.0"),
        ("v1.0.2-12-g0123abcd", "1.0.2.post12+g0123abcd"),
        ("v1.0-0-g0123abcd-changed", "1.0.post0+g0123abcd.changed"),
    ],
)
def test_a_tag_is_a_version_and_what_came_later_says_so(description: str, version: str) -> None:
    assert version_from(description) == version


def test_other_words_are_no_version() -> None:
    with pytest.raises(BuildError, match="is no tag like"):
        version_from("vacation-1-g0123abcd")


def test_versions_follow_the_tags_of_a_checkout(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "file").write_text("first")
    git(tmp_path, "add", "file")
    commit(tmp_path)
    clean = version_of(tmp_path, "0.9")
    assert clean.startswith("0.9.dev0+g")
    (tmp_path / "file").write_text("changed")
    assert version_of(tmp_path, "0.9") == f"{clean}.changed"
    git(tmp_path, "checkout", "file")
    git(tmp_path, "tag", "v0.9")
    assert version_of(tmp_path, "0.9") == "0.9"
    with pytest.raises(BuildError, match=r"the tag says 0\.9, and"):
        version_of(tmp_path, "1.0")
    commit(tmp_path)
    assert version_of(tmp_path, "1.0").startswith("0.9.post1+g")


def test_the_list_of_parts_has_everything_that_is_locked_or_shipped() -> None:
    document = json.loads(sbom(PROJECT, "1.0"))
    assert (document["bomFormat"], document["metadata"]["component"]["version"]) == ("CycloneDX", "1.0")
    parts = {part["name"]: part for part in document["components"]}
    assert {"selenium", "vl-convert-python", "std", "tomcat-embed-core-10.1.34.jar", "furo"} <= set(parts)
    assert {f"sites-archive/{name}" for name in site_names(PROJECT / "sites-archive")} <= set(parts)
    assert parts["click"]["licenses"] == [{"license": {"name": "BSD-3-Clause"}}]
    assert (parts["golang.org/x/net"]["scope"], parts["go.k6.io/k6"]["scope"]) == ("required", "optional")
    assert all(part.get("purl") or part.get("hashes") or part["type"] != "library" for part in parts.values())
    assert all(part["licenses"][0]["license"]["name"] for part in document["components"])
    assert sbom(PROJECT, "1.0") == sbom(PROJECT, "1.0")


def test_what_is_shipped_without_a_licence_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"licences.toml says 0 licences of no-such-package"):
        licence_of("pypi", "no-such-package")
    for name in ("requirements.lock", "requirements-notebooks.lock", "requirements-docs.lock", "requirements-go.lock"):
        shutil.copy(PROJECT / name, tmp_path)
    shutil.copytree(PROJECT / "native", tmp_path / "native", ignore=shutil.ignore_patterns("*.c", "*.go", "*.java"))
    shutil.copytree(PROJECT / "sites-archive" / "dummy", tmp_path / "sites-archive" / "dummy")
    manifest = tmp_path / "sites-archive" / "dummy" / "site.yaml"
    manifest.write_text(re.sub(r"^licence: .*\n", "", manifest.read_text(), flags=re.MULTILINE))
    with pytest.raises(BuildError, match="the site dummy says no licence"):
        sbom(tmp_path, "1.0")


def test_the_licences_of_the_gateways_programs_are_in_its_wheel() -> None:
    """Those of what its sources import, so that a new module brings its own."""
    modules = re.findall(r"^(?:require )?\s*(\S+/\S+) v", (GATEWAY / "go.mod").read_text(), re.MULTILINE)
    linked = {name.replace("/", "-") for name in modules} - {"github.com-moby-spdystream"}  # of tests alone
    texts = licence_texts(toolchain())
    assert {Path(name).name for name in texts} == {"lanelab", "go", *linked}
    known = (b"Redistribution", b"Apache License", b"Permission is hereby granted")
    assert all(any(words in text for words in known) for text in texts.values())


@pytest.mark.parametrize("name", ["click", "selenium", "cryptography", "certifi", "rich", "ansible-core"])
def test_the_table_says_what_a_package_says_of_itself(name: str) -> None:
    facts = metadata(name)
    said = str([facts.get_all(key) for key in ("License-Expression", "License", "Classifier")])
    assert {"GPL-3.0-or-later": "GPLv3+"}.get(licence_of("pypi", name), licence_of("pypi", name)) in said


def git(folder: Path, *words: str) -> None:
    person = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", "-C", folder, *person, *words], check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "commit", "-q", "--allow-empty", "-m", "something")
