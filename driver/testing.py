"""`lanelab test [unit|golden|bed|e2e] [pytest's own arguments]`: pytest, in the project, from the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from driver.errors import InputError
from driver.paths import PROJECT, build_folder

KINDS = ("unit", "golden", "bed", "e2e")


def run_tests(args: Sequence[str]) -> int:
    """Run the tests and return pytest's exit status. Its own closing line is the last thing printed."""
    build = build_folder()
    environment = {
        **os.environ,
        "HYPOTHESIS_STORAGE_DIRECTORY": str(build / "hypothesis"),
        "LANELAB_BUILD": str(build),
    }
    # -rs: what is skipped, and why. The cache is not in the checkout, which may be read-only.
    settings = ["-rs", "-o", f"cache_dir={build / 'pytest_cache'}"]
    sys.stdout.flush()
    argv = [sys.executable, "-I", "-m", "pytest", *settings, *pytest_arguments(args)]
    return subprocess.run(argv, cwd=PROJECT, env=environment, check=False).returncode


def pytest_arguments(args: Sequence[str]) -> list[str]:
    """Kinds of tests at the beginning become their folders; everything else is pytest's."""
    rest = list(args)
    folders = []
    while rest and rest[0] in KINDS:
        kind = rest.pop(0)
        folder = PROJECT / "tests" / kind
        if not any(folder.rglob("test_*.py")):
            raise InputError(f"there are no {kind} tests", f"Choose from: {', '.join(kinds_there())}")
        folders.append(str(folder.relative_to(PROJECT)))
    return folders + rest


def kinds_there() -> list[str]:
    """The kinds that have tests."""
    return [kind for kind in KINDS if any((PROJECT / "tests" / kind).rglob("test_*.py"))]
