"""The launcher, with real environments made from lock files that need nothing from the network."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.kit import checkout
from tests.kit.checkout import answer, make_checkout, quick_python, tools
from tests.kit.machine import needs_namespaces, on_changed_machine

FIRST_USE = "first use"


def environment(**changes: str) -> dict[str, str]:
    """Where environments are made quickly."""
    return checkout.environment(**{"LANELAB_PYTHON": str(quick_python()), **changes})


def run(argv: Sequence[str | Path], env: dict[str, str] | None = None, **how: Any) -> subprocess.CompletedProcess[str]:
    return checkout.run(argv, env or environment(), **how)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose path has a space in it, with its environment made, as users make it."""
    folder = make_checkout(tmp_path_factory.mktemp("launcher") / "a check out")
    result = checkout.run([folder / "lanelab"])
    assert FIRST_USE in result.stderr
    answer(result)
    return folder


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


def test_passes_arguments_and_folder_on_through_a_symlink(made: Path, tmp_path: Path) -> None:
    link = tmp_path / "a link"
    link.symlink_to(made / "lanelab")
    result = run([link, "link", "test", "--rtt", "40 ms", ""], environment(PYTHONPATH="/elsewhere"), cwd=tmp_path)
    assert answer(result) == {
        "argv": ["link", "test", "--rtt", "40 ms", ""],
        "cwd": str(tmp_path),
        "build": str(made / "build"),
        "prefix": str(made / "build" / "env"),
        "here": str(made),
        "pythonpath": "/elsewhere",
    }
    assert result.stderr == ""


def test_a_module_in_the_users_folder_does_not_get_in_between(made: Path, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('wrong json')")
    (tmp_path / "driver").mkdir()
    (tmp_path / "driver" / "__init__.py").write_text("raise SystemExit('wrong driver')")
    result = run([made / "lanelab"], environment(PYTHONPATH=str(tmp_path)), cwd=tmp_path)
    assert answer(result)["here"] == str(made)


def test_check_and_test_add_what_developers_need_once(made: Path) -> None:
    first = run([made / "lanelab", "check"])
    assert "requirements-dev.lock" in first.stderr
    assert FIRST_USE not in first.stderr
    assert answer(run([made / "lanelab", "test", "unit"]))["argv"] == ["test", "unit"]
    assert run([made / "lanelab", "test"]).stderr == ""


def test_makes_it_again_when_moved_and_when_the_lock_changes(made: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(made, tmp_path / "moved", symlinks=True))
    result = run([moved / "lanelab"])
    assert FIRST_USE in result.stderr
    assert answer(result)["here"] == str(moved)
    (moved / "requirements.lock").write_text("# nothing, but otherwise\n")
    assert FIRST_USE in run([moved / "lanelab"]).stderr
    assert run([moved / "lanelab"]).stderr == ""


@pytest.mark.parametrize("without_flock", [False, True])
def test_two_at_once_make_one_environment(fresh: Path, tmp_path: Path, without_flock: bool) -> None:
    env = environment(PATH=str(tools(tmp_path / "bin"))) if without_flock else environment()
    both = [
        subprocess.Popen([fresh / "lanelab"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [one.communicate() for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert sum(FIRST_USE in errors for _, errors in said) == 1
    assert run([fresh / "lanelab"], env).stderr == ""


def test_what_a_killed_launcher_left_is_not_used(fresh: Path) -> None:
    lock = fresh / "requirements.lock"
    written = lock.read_text()
    lock.write_text(f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n")
    with socket.create_server(("127.0.0.1", 0)) as index:  # which never answers, so the launcher is in mid-work
        url = f"http://127.0.0.1:{index.getsockname()[1]}/"
        env = environment(PIP_NO_INDEX="0", PIP_INDEX_URL=url, PIP_EXTRA_INDEX_URL="", PIP_RETRIES="0")
        with subprocess.Popen([fresh / "lanelab"], env=env, stderr=subprocess.DEVNULL, start_new_session=True) as one:
            index.settimeout(60)
            asked, _ = index.accept()
            os.killpg(one.pid, signal.SIGKILL)
        asked.close()
    assert any((fresh / "build" / "env").glob("lib/*/site-packages/lanelab.pth"))
    lock.write_text(written)
    result = run([fresh / "lanelab"])
    assert FIRST_USE in result.stderr
    answer(result)


def test_a_failed_download_leaves_nothing_that_counts(fresh: Path) -> None:
    (fresh / "requirements.lock").write_text(f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n")
    result = run([fresh / "lanelab"])
    assert result.returncode == 1
    assert "could not install the Python packages of requirements.lock" in result.stderr
    assert "no-such-package" in result.stderr  # pip's own words
    assert not (fresh / "build" / "env").exists()


def test_failing_to_add_developers_packages_keeps_the_environment(made: Path) -> None:
    lock = made / "requirements-dev.lock"
    before = lock.read_text()
    lock.write_text(f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n")
    try:
        assert run([made / "lanelab", "check"]).returncode == 1
        assert run([made / "lanelab", "check"]).returncode == 1
        assert run([made / "lanelab"]).stderr == ""
    finally:
        lock.write_text(before)


@needs_namespaces
def test_a_full_disk_is_named(fresh: Path) -> None:
    (fresh / "build").mkdir()
    small = 'mount -t tmpfs -o size=4m none "$1/build"; set +e; "$1/lanelab"; echo "$?"; ls "$1/build"'
    result = run(on_changed_machine(small, fresh))
    assert "the disk is full. Make room" in result.stderr
    assert result.stdout.split() == ["1", "env.lock", "env.log"]


@needs_namespaces
def test_a_read_only_checkout_uses_the_cache(fresh: Path, tmp_path: Path) -> None:
    read_only = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; "$1/lanelab" x'
    result = run(on_changed_machine(read_only, fresh), environment(XDG_CACHE_HOME=str(tmp_path / "cache")))
    build = Path(answer(result)["build"])
    assert build.parent == tmp_path / "cache" / "lanelab"
    assert list((build / "pycache").rglob("*.pyc"))
    assert not (fresh / "build").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="takes root: it gives a folder to somebody else")
def test_runs_no_program_of_a_folder_that_everybody_may_write_to(made: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    env = environment(LANELAB_BUILD=str(shared))
    os.chown(shared, 65534, 65534)
    refused = run([made / "lanelab"], env)
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()
    assert line.startswith(f"lanelab: {shared} is somebody else's, and everybody may write to it")
    assert list(shared.iterdir()) == []


def test_refuses_a_python_that_will_not_do(made: Path) -> None:
    result = run([made / "lanelab"], environment(LANELAB_PYTHON="/bin/false"))
    assert result.returncode == 1
    assert "LANELAB_PYTHON=/bin/false is not a Python 3.11 or later" in result.stderr
    assert run([made / "lanelab"]).stderr == ""
