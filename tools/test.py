"""`lanelab test [unit|golden|wire|bed|e2e] [pytest's own arguments]`: pytest, in the project, from the environment.

Without any argument all tests run, in three parts. Those that need a processor run beside those of beds, which mostly
wait for packets; both use several workers. Those that measure a link run last, one after the other, with the machine to
themselves.

A test that fails is run once more, by itself, when all parts have ended. One that then passes is reported as unsteady:
it says more about a machine that was busy than about the code. One that fails twice has failed.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT, build_folder

KINDS = ("unit", "golden", "wire", "bed", "e2e")
# No kind: they change what this machine runs, and take long, so they are asked for by --vm. -s: one sees how far it is.
VM_TESTS = ("tests/vm", "-x", "-s")
VM_VARIABLE = "LANELAB_TEST_VM"
LONG_VARIABLE = "LANELAB_TEST_LONG"
INSTALLED_VARIABLE = "LANELAB_TEST_INSTALLED"  # the environment that lanelab has to come from
PASSED, FAILED, NOTHING_TO_RUN = 0, 1, 5
ENDING_S = 30
MOST_RERUN = 20  # more failures than these have a cause that no second run removes
BACKGROUND_NICENESS = 5  # others come first, and still it ends in time on a machine that is busy with other things


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the tests, and how they run."""

    name: str
    kinds: tuple[str, ...]
    options: tuple[str, ...]


# A file's tests stay with one worker: they share a bed or a server that takes seconds to start. Files come in the order
# of `in_order`, and not those with the most tests first: of what takes longest, one test is minutes.
BY_FILE = ("--dist", "loadfile", "--no-loadscope-reorder")
# What takes longest begins first, so that nothing is left at the end that one worker does alone.
SLOW_FILES = (
    "wire/test_suites.py",
    "wire/test_gateway_peers.py",
    "wire/test_back_ends.py",
    "wire/test_mod_spdy_peers.py",
    "golden/test_back_end_files.py",
    "unit/project/test_launcher.py",
    "e2e/test_failures.py",
    "e2e/test_browser.py",
    "e2e/test_resume.py",
    "bed/test_ssh_kills.py",
    "e2e/test_static_load.py",
    "e2e/test_moving_links.py",
    "bed/test_sweep_worker.py",
    "e2e/test_gateway.py",
    "e2e/test_run.py",
    "bed/test_commands.py",
    "e2e/test_sites.py",
)
COMPUTING = Part("unit, golden, wire", ("unit", "golden", "wire"), ("-n", "2", *BY_FILE))  # in the background
WAITING = Part("e2e, bed", ("e2e", "bed"), ("-n", "4", *BY_FILE, "-m", "not measures"))
MEASURING = Part("what measures links", ("bed", "e2e"), ("-n", "0", "-m", "measures"))
PARTS = (COMPUTING, WAITING, MEASURING)


def in_order(file: Path) -> int:
    """Return when the tests of a file begin: a smaller number is earlier."""
    tests = PROJECT / "tests"
    name = file.relative_to(tests).as_posix() if file.is_relative_to(tests) else ""
    return SLOW_FILES.index(name) if name in SLOW_FILES else len(SLOW_FILES)


def run_tests(args: Sequence[str], *, vm: bool = False, long: bool = False) -> int:
    """Run the tests and return pytest's exit status. Of those that were named, its closing line is the last printed."""
    sys.stdout.flush()
    environment = environment_of_tests(long=long)
    if vm:
        argv = pytest_command([*VM_TESTS, *args], "vm")
        return subprocess.run(argv, cwd=PROJECT, env={**environment, VM_VARIABLE: "1"}, check=False).returncode
    arguments = pytest_arguments(args)
    if not args:
        return _all_parts(environment)
    return subprocess.run(pytest_command(arguments, "some"), cwd=PROJECT, env=environment, check=False).returncode


def _all_parts(environment: Mapping[str, str]) -> int:
    """Run every part, then the failed tests once more. The status of the first part that failed twice, or 0."""
    started = time.monotonic()
    for part in PARTS:
        shutil.rmtree(_cache(part.name), ignore_errors=True)
    statuses = {}
    with _in_background(COMPUTING, environment) as computing:
        statuses[WAITING] = _run(WAITING, environment)
        statuses[COMPUTING] = computing.wait()
    print(_log().read_text(errors="replace"), flush=True)
    statuses[MEASURING] = _run(MEASURING, environment)
    outcomes = {part: _run_again(part, statuses[part], environment) for part in PARTS}
    _print_outcomes(outcomes, time.monotonic() - started)
    return next((outcome.status for outcome in outcomes.values() if outcome.status != PASSED), PASSED)


def _run(part: Part, environment: Mapping[str, str]) -> int:
    return subprocess.run(
        _command(part), cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, check=False
    ).returncode


def _command(part: Part) -> list[str]:
    folders = _folders(part.kinds)
    if not folders:  # pytest would take every test
        return [sys.executable, "-c", f"raise SystemExit({NOTHING_TO_RUN})"]
    return pytest_command([*part.options, *folders], part.name)


@contextlib.contextmanager
def _in_background(part: Part, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A part that gives way to the others: whoever waits for a packet goes first."""
    log = _log()
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"lanelab: {part.name} run in the background meanwhile (log: {log})", flush=True)
    with log.open("w") as output:
        process = subprocess.Popen(
            _command(part), cwd=PROJECT, env=environment,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
        )  # fmt: skip
    os.setpriority(os.PRIO_PROCESS, process.pid, BACKGROUND_NICENESS)
    try:
        yield process
    finally:
        _end(process)


def _end(tests: subprocess.Popen[bytes]) -> None:
    """End the tests as Ctrl-C does, so that they end what they started."""
    if tests.poll() is None:
        tests.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            tests.wait(ENDING_S)
        tests.kill()
        tests.wait()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a part came to, with the second run of its failed tests."""

    status: int
    unsteady: tuple[str, ...] = ()


def _run_again(part: Part, status: int, environment: Mapping[str, str]) -> Outcome:
    if status in (PASSED, NOTHING_TO_RUN):
        return Outcome(PASSED)
    failed = _failed_tests(part)
    if status != FAILED or not 0 < len(failed) <= MOST_RERUN:
        return Outcome(status)
    print(f"lanelab: {part.name}: running {counted(len(failed), 'test')} again, alone", flush=True)
    argv = pytest_command(["-n", "0", *failed], f"{part.name} again")
    shutil.rmtree(_cache(f"{part.name} again"), ignore_errors=True)
    second = subprocess.run(argv, cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, check=False).returncode
    return Outcome(second, tuple(failed) if second == PASSED else ())


def _failed_tests(part: Part) -> list[str]:
    """Return the names of the tests that failed, as pytest notes them down."""
    try:
        noted = json.loads((_cache(part.name) / "v" / "cache" / "lastfailed").read_text())
    except (OSError, ValueError):
        return []
    return sorted(noted)


def _print_outcomes(outcomes: Mapping[Part, Outcome], seconds: float) -> None:
    for outcome in outcomes.values():
        for test in outcome.unsteady:
            print(f"lanelab: unsteady: {test} failed beside other tests and passed alone")
    print(f"lanelab: all tests took {seconds / 60:.1f} min")
    for part, outcome in outcomes.items():
        words = "passed" if outcome.status == PASSED else f"FAILED (status {outcome.status})"
        unsteady = f", {counted(len(outcome.unsteady), 'test')} only alone" if outcome.unsteady else ""
        print(f"lanelab: {part.name}: {words}{unsteady}", flush=True)


def pytest_command(arguments: Sequence[str], name: str, python: str | Path = sys.executable) -> list[str]:
    """Return how pytest is called. The name is that of what it remembers."""
    # -rs: what is skipped, and why. The cache is not in the checkout, which may be read-only.
    settings = ["-rs", "-o", f"cache_dir={_cache(name)}"]
    return [str(python), "-I", "-m", "pytest", *settings, *arguments]


def _cache(name: str) -> Path:
    return build_folder() / "pytest" / name.replace(", ", "-").replace(" ", "-")


def _log() -> Path:
    return build_folder() / "test-background.log"


def environment_of_tests(*, long: bool) -> dict[str, str]:
    """Return the variables that pytest starts with."""
    build = build_folder()
    return {
        **os.environ,
        "HYPOTHESIS_STORAGE_DIRECTORY": str(build / "hypothesis"),
        "LANELAB_BUILD": str(build),
        **({LONG_VARIABLE: "1"} if long else {}),
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
