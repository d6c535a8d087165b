"""The tests that Go and C have of their own."""

import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building import apache_module
from lanelab.driver.base.programs.building.go import GATEWAY, LOAD, Go

COMPILES_S = 3000  # the race detector's standard library, once, at idle priority beside all other tests


@pytest.mark.timeout(COMPILES_S)
def test_the_gateways_own_tests(go: Go) -> None:
    """With the race detector, where there is the C compiler that it takes."""
    race = not needs.missing(needs.programs("compiler"))
    argv = [str(go.program), "test", *(["-race"] if race else []), f"-timeout={COMPILES_S}s", "./..."]
    done = subprocess.run(
        argv,
        cwd=GATEWAY,
        env=go.environment(cgo=race),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok " in done.stdout


@pytest.mark.timeout(COMPILES_S)
@pytest.mark.parametrize("name", apache_module.MODULES)
def test_the_cores_own_tests(tmp_path: Path, name: str) -> None:
    """Under the address and undefined behaviour sanitizers."""
    missing = [program.name for program in needs.missing(needs.programs("module")) if program.name != "apxs"]
    if missing:
        pytest.skip(f"missing to build a module's core: {', '.join(missing)}")
    done = subprocess.run(
        ["make", "-j2", "-C", apache_module.sources(name), f"OUT={tmp_path}", "test"],
        env=apache_module.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long  # what it depends on is compiled first, once
@pytest.mark.timeout(COMPILES_S)
def test_the_load_generators_own_tests(go: Go) -> None:
    """And its vet, which `check` leaves out where it was never built."""
    race = not needs.missing(needs.programs("compiler"))
    for argv in (["vet", "./..."], ["test", *(["-race"] if race else []), "./..."]):
        done = subprocess.run(
            [str(go.program), *argv],
            cwd=LOAD,
            env=go.environment(cgo=race),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
