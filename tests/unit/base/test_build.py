"""What lanelab builds for itself: once, whole, by one lanelab at a time, and with words of help where it cannot."""

import io
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building import apache_module, gateway, go, single_build
from lanelab.driver.base.programs.building.go import Go
from lanelab.driver.base.programs.find_program import find
from tests.kit.checkout import run
from tests.kit.machine import ROOT, needs_namespaces, on_changed_machine
from tests.kit.wait import wait_until

WHAT = "making a thing"
OTHERS = 3  # that come while it is made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    return tmp_path / "build" / "things"


def make_thing(folder: Path, _log: single_build.Log) -> None:
    (folder / "thing").write_text("whole")


def made(folder: Path, make: single_build.Make = make_thing, key: str = "a", out: io.StringIO | None = None) -> Path:
    return single_build.made_once(WHAT, folder, key, make, about_s=3, out=out or io.StringIO())


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_makes_it_once_and_says_so(folder: Path) -> None:
    out = io.StringIO()
    assert (made(folder, out=out) / "thing").read_text() == "whole"
    assert out.getvalue() == "lanelab: making a thing (once; about 3 s)\n"
    assert made(folder, lambda _folder, _log: pytest.fail("made again")) == folder / "a"
    assert made(folder, key="b") == folder / "b"


def slowly(folder: Path, _log: single_build.Log) -> None:
    with (folder.parent / "makers").open("a") as makers:
        print(os.getpid(), file=makers)
    wait_until(lambda: said(folder.parent).read_text().count("waiting for another lanelab") == OTHERS)
    make_thing(folder, _log)


def said(folder: Path) -> Path:
    return folder / "said"


def made_slowly(folder: Path) -> Path:
    with said(folder).open("a") as out:
        return single_build.made_once(WHAT, folder, "a", slowly, about_s=3, out=out)


def test_several_at_once_make_one(folder: Path) -> None:
    folder.mkdir(parents=True)
    with multiprocessing.get_context("fork").Pool(1 + OTHERS) as pool:
        places = pool.map(made_slowly, [folder] * (1 + OTHERS), chunksize=1)
    assert places == [folder / "a"] * (1 + OTHERS)
    assert len((folder / "makers").read_text().split()) == 1


def fails(says: str) -> single_build.Make:
    def make(folder: Path, log: single_build.Log) -> None:
        (folder / "half").write_text("")
        log.run(["sh", "-c", 'printf "%s\\n" first "$1" >&2; exit 3', "sh", says], environment=os.environ)

    return make


@pytest.mark.parametrize(
    ("says", "remedy"),
    [
        ("x.c:3: error: expected ';'", "The whole log is"),
        ("write /x: no space left on device", "The disk is full: make room"),
        ("dial tcp: lookup proxy: no such host", "Check the network"),
    ],
)
def test_a_failure_leaves_nothing_and_says_what_to_do(folder: Path, says: str, remedy: str) -> None:
    with pytest.raises(BuildError) as caught:
        made(folder, fails(says))
    said = str(caught.value)
    assert said.startswith(f"making a thing failed: sh ended with status 3. {remedy}")
    assert said.endswith(f"    first\n    {says}")
    assert left(folder) == {"lock", "log"}
    assert made(folder).name == "a"


def test_what_a_killed_maker_left_is_not_used(folder: Path) -> None:
    for name in ("a.new", "other.new"):
        (folder / name).mkdir(parents=True)
        (folder / name / "half").write_text("")
    assert left(made(folder)) == {"thing"}
    assert left(folder) == {"a", "lock", "log"}


def test_throws_away_what_nobody_used_for_long(folder: Path) -> None:
    for key in ("used", "forgotten"):
        made(folder, key=key)
        os.utime(folder / key, (0, 0))
    made(folder, key="used")
    made(folder, key="new")
    assert left(folder) == {"used", "new", "lock", "log"}


def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("a file")
    with pytest.raises(BuildError, match=r"cannot write to .*things.*LANELAB_BUILD"):
        made(folder)


@needs_namespaces
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    script = 'mount -t tmpfs -o size=64k none "$1/disk"; LANELAB_BUILD="$1/disk" PYTHONPATH="$2" "$3" -c "$4"'
    python = """
from pathlib import Path
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.paths import build_folder
try:
    fill = lambda folder, log: (folder / "big").write_bytes(bytes(1 << 20))
    single_build.made_once("x", build_folder() / "x", "a", fill, about_s=1)
except BuildError as error:
    print(error, [path.name for path in (build_folder() / "x").iterdir()])
"""
    said = run(on_changed_machine(script, tmp_path, ROOT, sys.executable, python)).stdout
    assert "No space left on device. Free some space" in said
    assert "'a" not in said


def test_a_key_tells_apart_what_the_parts_are() -> None:
    keys = {single_build.key_of(*parts) for parts in (("a", "b"), ("ab",), ("a", "b", ""), ("b", "a"), ("a1:b",))}
    assert len(keys) == 5
    assert single_build.key_of("a") == single_build.key_of(b"a")


# --- Go -----------------------------------------------------------------------------------------------------------


def test_versions_of_go_are_in_order() -> None:
    order = ["go1.100", "go1.27.3", "go1.27.0", "go1.27rc1", "go1.26.8", "1.26", "go1.9"]
    assert sorted(order, key=go.numbers) == order[::-1]
    assert go.numbers("go1.27") == go.numbers("1.27.0")
    assert go.numbers("devel +abc") == ()


def test_the_locked_go_is_new_enough() -> None:
    assert go.numbers(go.locked_version()) >= go.wanted_version() > (1, 20)


@pytest.mark.parametrize(("version", "chosen"), [("go1.19.8", "locked"), ("go9.9.9", "own"), ("", "locked")])
def test_takes_the_systems_go_only_if_it_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, chosen: str
) -> None:
    for place in ("own", "locked/go/bin"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "gofmt").touch()
        program = tmp_path / place / "go"
        said = version if place == "own" else "go1.27.3"
        program.write_text(f'#!/bin/sh\n[ "$GOTOOLCHAIN" = local ] && echo {said}\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'own'}:{os.environ['PATH']}")
    monkeypatch.setattr(go, "_installed", lambda _out: tmp_path / "locked")
    assert go.toolchain().program.is_relative_to(tmp_path / chosen)


def test_go_keeps_to_the_build_folder_and_to_the_users_proxy(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("GOENV", raising=False)
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    monkeypatch.setenv("GOPROXY", "off")
    environment = Go(Path("/x/go"), "go1.27").environment()
    written = ("GOPATH", "GOCACHE", "GOMODCACHE", "XDG_CONFIG_HOME")
    assert all(Path(environment[name]).is_relative_to(folder.parent) for name in written)
    assert environment["GOENV"] == "/home/someone/.config/go/env"
    assert environment["GOPROXY"] == "off"
    assert "-mod=readonly" in environment["GOFLAGS"]
    assert "-mod=mod" not in environment["GOFLAGS"]


# --- the gateway --------------------------------------------------------------------------------------------------

MAIN = 'package main\n\nfunc main() {\n\tprintln("%s")\n}\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A gateway that only says something. What Go has compiled of its own library is this checkout's."""
    cache = build_folder() / "go" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    (tmp_path / "build" / "go").mkdir(parents=True)
    (tmp_path / "build" / "go" / "cache").symlink_to(cache)
    root = tmp_path / "gateway"
    (root / "cmd" / gateway.PROGRAM).mkdir(parents=True)
    (root / "go.mod").write_text("module lanelab/gateway\n\ngo 1.21\n")
    (root / "cmd" / gateway.PROGRAM / "main.go").write_text(MAIN % "one")
    monkeypatch.setattr(go, "GATEWAY", root)
    monkeypatch.setattr(gateway, "GATEWAY", root)
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    return root


@pytest.mark.skipif(not find("go"), reason="no Go here, and one is not fetched for this")
def test_builds_the_gateway_again_when_its_sources_change(project: Path) -> None:
    out = io.StringIO()
    first = gateway.gateway_program(out=out)
    assert run([first]).stderr == "one\n"
    (project / "cmd" / gateway.PROGRAM / "main_test.go").write_text("package main\n")
    assert gateway.gateway_program(out=out) == first
    assert out.getvalue().count("building the gateway") == 1
    (project / "cmd" / gateway.PROGRAM / "main.go").write_text(MAIN % "two")
    assert run([gateway.gateway_program(out=out)]).stderr == "two\n"
    assert run([first]).stderr == "one\n"  # another lanelab may be using it
    (project / "cmd" / gateway.PROGRAM / "main.go").write_text("package main\n\nfunc main() { missing() }\n")
    with pytest.raises(BuildError, match=r"building the gateway failed: go ended with status 1[^!]*undefined: missing"):
        gateway.gateway_program(out=out)


# --- mod_spdy -----------------------------------------------------------------------------------------------------


def test_says_which_packages_mod_spdy_wants(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    assert folder
    monkeypatch.setattr("lanelab.driver.base.programs.install.family", lambda: "debian-12")
    monkeypatch.setattr(needs, "missing", lambda _wanted: [needs.program("apxs")])
    with pytest.raises(BuildError, match=r"(?s)apxs missing\..*install-packages apache2-dev"):
        apache_module.module("mod_spdy")


@pytest.mark.skipif(bool(needs.missing(needs.programs("module"))), reason="what builds modules is missing")
def test_builds_mod_spdy_again_for_another_apache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    assert folder
    sources = tmp_path / "mod_spdy"
    (sources / "tests").mkdir(parents=True)
    (sources / "Makefile").write_text("all:\n\techo made >$(OUT)/mod_spdy.so\n")
    monkeypatch.setattr(apache_module, "NATIVE", tmp_path)
    monkeypatch.setenv("MAKEFLAGS", "--no-such-flag")
    first = apache_module.module("mod_spdy", out=io.StringIO())
    assert first.read_text() == "made\n"
    (sources / "tests" / "new.c").touch()
    assert apache_module.module("mod_spdy") == first
    assert apache_module.module("mod_spdy", sanitize=True, out=io.StringIO()) != first
    monkeypatch.setattr(apache_module, "_apache_version", lambda _apxs: "Apache 2.4.0\n1")
    assert apache_module.module("mod_spdy", out=io.StringIO()) != first


@pytest.mark.parametrize("name", apache_module.MODULES)
def test_two_checkouts_make_the_same_bytes(tmp_path: Path, name: str) -> None:
    """A run notes the digest of each module; that of another clone of the same commit is no difference."""
    if needs.missing(needs.programs("module")):
        pytest.skip("what builds modules for Apache is not installed")
    made = []
    for place in (tmp_path / "one", tmp_path / "two" / "deeper"):
        for folder in (apache_module.SHARED, apache_module.sources(name)):
            shutil.copytree(folder, place / folder.name)
        words = ["make", "-s", "-C", str(place / name), f"OUT={place / 'out'}", f"APXS={apache_module.apxs_program()}"]
        words += ["CFLAGS_EXTRA=-O0 -U_FORTIFY_SOURCE"]  # paths in the bytes do not depend on how it is optimised
        done = subprocess.run(words, env=apache_module.environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made.append((place / "out" / f"{name}.so").read_bytes())
    assert made[0] == made[1]
