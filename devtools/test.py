"""`lanelab test [unit|golden|wire|bed|e2e] [pytest's own arguments]`: pytest, in the project, from the environment.

Without any argument all tests run, in two halves at once: those that need a processor, and those of beds, which mostly
wait for packets. They begin with whole runs, so that links are measured when the other half is done.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from model.errors import InputError
from model.paths import PROJECT, build_folder

KINDS = ("unit", "golden", "wire", "bed", "e2e")
# No kind: they change what this machine runs, and take long, so they are asked for by --vm. -s: one sees how far it is.
VM_TESTS = ("tests/vm", "-x", "-s")
VM_VARIABLE = "LANELAB_TEST_VM"
IN_THE_BACKGROUND: tuple[str, ...] = ("unit", "golden", "wire")
IN_THE_FOREGROUND: tuple[str, ...] = ("e2e", "bed")
ENDED_WELL = (0, 5)  # 5: there was nothing to run
ENDING_S = 30


def run_tests(args: Sequence[str], *, vm: bool = False) -> int:
    """Run the tests and return pytest's exit status. Of those that were named, its closing line is the last printed."""
    sys.stdout.flush()
    if vm:
        argv = _pytest([*VM_TESTS, *args], "pytest")
        return subprocess.run(argv, cwd=PROJECT, env={**_environment(), VM_VARIABLE: "1"}, check=False).returncode
    folders = pytest_arguments(args)
    if not args and all(_folders(half) for half in (IN_THE_BACKGROUND, IN_THE_FOREGROUND)):
        return _both_halves()
    return subprocess.run(_pytest(folders, "pytest"), cwd=PROJECT, env=_environment(), check=False).returncode


def _both_halves() -> int:
    log = build_folder() / "test-background.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    names = {half: ", ".join(half) for half in (IN_THE_BACKGROUND, IN_THE_FOREGROUND)}
    print(f"lanelab: {names[IN_THE_BACKGROUND]} run in the background meanwhile (log: {log})", flush=True)
    with log.open("w") as output:
        background = subprocess.Popen(
            _pytest(_folders(IN_THE_BACKGROUND), "pytest-background"),
            cwd=PROJECT, env=_environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        # Whoever waits for a packet goes first, at once: a link that is held up is not the one that was asked for.
        os.sched_setscheduler(background.pid, os.SCHED_IDLE, os.sched_param(0))
        argv = _pytest(_folders(IN_THE_FOREGROUND), "pytest")
        foreground = subprocess.run(argv, cwd=PROJECT, env=_environment(), check=False).returncode
        statuses = {IN_THE_BACKGROUND: background.wait(), IN_THE_FOREGROUND: foreground}
    finally:
        _end(background)
    print(log.read_text(errors="replace"))
    for half, status in statuses.items():
        print(f"lanelab: {names[half]}: {'passed' if status in ENDED_WELL else f'FAILED (status {status})'}")
    return next((status for status in statuses.values() if status not in ENDED_WELL), 0)


def _end(tests: subprocess.Popen[bytes]) -> None:
    """What they started is theirs to end."""
    if tests.poll() is None:
        tests.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            tests.wait(ENDING_S)
        tests.kill()
        tests.wait()


def _pytest(arguments: Sequence[str], cache: str) -> list[str]:
    # -rs: what is skipped, and why. The cache is not in the checkout, which may be read-only.
    settings = ["-rs", "-o", f"cache_dir={build_folder() / f'{cache}_cache'}"]
    return [sys.executable, "-I", "-m", "pytest", *settings, *arguments]


def _environment() -> dict[str, str]:
    build = build_folder()
    return {
        **os.environ,
        "HYPOTHESIS_STORAGE_DIRECTORY": str(build / "hypothesis"),
        "LANELAB_BUILD": str(build),
    }


def pytest_arguments(args: Sequence[str]) -> list[str]:
    """Kinds of tests at the beginning become their folders; everything else is pytest's."""
    rest = list(args)
    kinds = []
    while rest and rest[0] in KINDS:
        kind = rest.pop(0)
        if kind not in kinds_there():
            raise InputError(f"there are no {kind} tests", f"Choose from: {', '.join(kinds_there())}")
        kinds.append(kind)
    return _folders(kinds) + rest


def kinds_there() -> list[str]:
    """The kinds that have tests."""
    return [kind for kind in KINDS if any((PROJECT / "tests" / kind).rglob("test_*.py"))]


def _folders(kinds: Sequence[str]) -> list[str]:
    there = kinds_there()
    return [str(Path("tests") / kind) for kind in kinds if kind in there]
