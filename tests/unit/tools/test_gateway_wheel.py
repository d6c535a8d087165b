"""The gateway's programs out of a wheel: used where they were built of the sources that are here, and nowhere else."""

import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lanelab.driver.base.programs.building import gateway
from lanelab.driver.base.programs.building.gateway import PACKAGE, PROGRAM, gateway_program, is_built, key_from, shipped
from lanelab.driver.base.programs.building.go import Go
from lanelab.driver.run.built_programs import Programs
from tools.wheel.gateway import LICENSED, gateway_wheels, write_wheel

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


def test_licences_are_those_of_the_modules_also_where_go_has_none_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it downloads a module Go says no folder of it: the licence was then that of the folder one was in."""
    (tmp_path / "LICENSE").write_text("of Go itself")
    modules = tmp_path / "modules"
    program = tmp_path / "go"
    program.write_text(f"""#!/bin/sh -eu
case $1 in
  env) echo {tmp_path} ;;
  build) shift 3; echo built >"$1" ;;
  mod) shift 2; for name; do mkdir -p {modules}/$name; echo "of $name" >{modules}/$name/LICENSE; done ;;
  list) shift 4; ! [ -e {modules}/$1 ] || echo {modules}/$1 ;;
esac
""")
    program.chmod(0o755)
    monkeypatch.setattr("tools.wheel.gateway.toolchain", lambda: Go(program, GO))
    wheels = list(gateway_wheels(tmp_path / "wheels"))
    assert len(wheels) == 2
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as opened:
            for name in LICENSED:
                text = opened.read(f"{PACKAGE}/licences/{name.replace('/', '-')}").decode()
                assert text == f"of {name}\n"
