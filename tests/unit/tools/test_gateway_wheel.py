"""The gateway's programs out of a wheel: used where they were built of the sources that are here, and nowhere else."""

import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.programs.building import gateway
from lanelab.driver.base.programs.building.gateway import PACKAGE, PROGRAM, gateway_program, is_built, key_from, shipped
from lanelab.driver.base.programs.building.go import Go
from lanelab.driver.run.built_programs import Programs
from tools.wheel.gateway import gateway_wheels, licence_texts, write_wheel

GO = "go1.99.1"  # which nobody has


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> Path:
    programs = {f"{PACKAGE}/{key}/{PROGRAM}": b"#!/bin/sh\necho gateway\n"}
    wheel = write_wheel(folder, "1.0", platform.machine(), {f"{PACKAGE}/{gateway.GO_VERSION}": GO.encode()}, programs)
    target = folder / "installed"
    pip = [
        sys.executable,
        "-I",
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(pip, check=True)
    monkeypatch.syspath_prepend(str(target))
    return target


def test_what_was_built_of_these_sources_is_used_and_needs_no_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = key_from(PROGRAM, GO)
    target = install(tmp_path, monkeypatch, key)
    program = gateway_program()
    assert program == target / PACKAGE / key / PROGRAM
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "gateway\n"
    assert is_built()
    assert Programs({"gateway": program}).digests() == {"gateway": key}  # which names the Go that built it


def test_what_was_built_of_others_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, key_from("another", GO))
    assert shipped() is None


def test_without_the_package_there_is_none() -> None:
    assert shipped() is None


MODULE = "example.org/module"


def go_that_lists(place: str, folder: Path) -> Go:
    """Return a Go that links one module, whose folder is said to be that."""
    (folder / "LICENSE").write_text("of Go itself")
    program = folder / "go"
    program.write_text(f"""#!/bin/sh -eu
case $1 in
  env) echo {folder} ;;
  build) shift 3; echo built >"$1" ;;
  list) printf '\\n{MODULE}\\t{place}\\n' ;;
esac
""")
    program.chmod(0o755)
    return Go(program, GO)


def test_licences_are_those_of_the_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "LICENSE").write_text("of the module")
    monkeypatch.setattr("tools.wheel.gateway.toolchain", lambda: go_that_lists(f"{tmp_path}/modules", tmp_path))
    wheels = list(gateway_wheels(tmp_path / "wheels"))
    assert len(wheels) == 2
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as opened:
            assert opened.read(f"{PACKAGE}/licences/go") == b"of Go itself"
            assert opened.read(f"{PACKAGE}/licences/example.org-module") == b"of the module"


def test_a_module_without_a_folder_has_no_licence_of_another_one(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=f"no folder of {MODULE}"):
        licence_texts(go_that_lists("", tmp_path))
