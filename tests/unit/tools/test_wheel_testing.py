"""`lanelab test --installed`: the tests of the checkout, with the lanelab of its wheel."""

import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from tools.test import INSTALLED_VARIABLE, environment_of_tests
from tools.wheel.testing import run_with_wheel

needs_git = pytest.mark.skipif(not (PROJECT / ".git").exists(), reason="the wheel is built of what git tracks")
QUICK = ("tests/unit/base/test_version.py", "tests/unit/tools/test_wheel_testing.py", "-q", "-p", "no:hypothesispytest")


@needs_git
def test_tests_run_with_the_wheel_and_those_of_the_checkout_say_that_they_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    for _ in range(2):
        assert run_with_wheel(QUICK, long=False) == 0
        output = capfd.readouterr().out
        assert "tools/, which is no part of the wheel" in output
        assert " passed, 1 skipped" in output.splitlines()[-1]
    assert len(list(tmp_path.glob("installed/*/whole"))) == 1


def test_where_lanelab_is_not_the_wheels_no_test_runs(tmp_path: Path) -> None:
    environment = {**environment_of_tests(long=False), INSTALLED_VARIABLE: str(tmp_path)}
    argv = [sys.executable, "-I", "-m", "pytest", "-n0", "-p", "no:cacheprovider", QUICK[0]]
    done = subprocess.run(argv, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "not from the wheel" in done.stderr


def test_what_needs_beds_is_refused() -> None:
    with pytest.raises(InputError, match="tests of bed need a checkout"):
        run_with_wheel(["bed"], long=False)
