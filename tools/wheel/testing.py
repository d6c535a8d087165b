"""`lanelab test --installed`: the tests of the checkout, run with the lanelab of a wheel that was just built of it."""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT, build_folder
from tools.test import INSTALLED_VARIABLE, environment_of_tests, pytest_arguments, pytest_command
from tools.wheel.build import build_wheel
from tools.wheel.installed import install_wheel

KINDS = ("unit", "golden")  # the machines of bed tests are made of a checkout
KEPT = 3  # environments, each as large as the wheel unpacked


def run_with_wheel(args: Sequence[str], *, long: bool) -> int:
    """Build the wheel, install it, run the tests, and return pytest's exit status. Raises InputError, BuildError."""
    named = [word for word in args if word in ("wire", "bed", "e2e")]
    if named:
        raise InputError(f"tests of {named[0]} need a checkout", f"With --installed choose from: {', '.join(KINDS)}")
    chosen = any(word in KINDS or word.startswith("tests/") for word in args)
    arguments = pytest_arguments(args if chosen else [*KINDS, *args])
    programs = _installed()
    environment = {**environment_of_tests(long=long), INSTALLED_VARIABLE: str(programs.parent)}
    argv = pytest_command(arguments, "installed", python=programs / "python")
    return subprocess.run(argv, cwd=PROJECT, env=environment, check=False).returncode


def _installed() -> Path:
    """Return the bin folder of an environment that has the wheel of the checkout as it is now."""
    folder = build_folder() / "installed"
    wheel = build_wheel(PROJECT, folder / "wheel", with_pages=False)
    # The environment uses the packages beside this one's, with this one's Python.
    key = sha256(wheel.read_bytes() + f"{sys.version}{sysconfig.get_path('purelib')}".encode()).hexdigest()[:16]
    place = folder / key
    whole = place / "whole"  # written last: what Ctrl-C leaves is not used
    if not whole.exists():
        install_wheel(wheel, place)
    whole.touch()
    print(f"lanelab: testing {wheel.name}, installed in {place}", flush=True)
    wheel.unlink()
    _forget_old(folder)
    return place / "bin"


def _forget_old(folder: Path) -> None:
    for stamp in sorted(folder.glob("*/whole"), key=lambda file: file.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(stamp.parent)
