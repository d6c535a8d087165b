"""Who is asked to stop a run: the process that has its lock, and no other."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lanelab.analysis.results import run_folder
from lanelab.driver.base.errors import StoreError
from lanelab.driver.run.folder.writer import interrupt_writer
from tests.kit.wait import wait_until


def test_who_would_be_killed_by_it_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "in-use").touch()
    deaf = subprocess.Popen(["flock", str(tmp_path / "in-use"), "sleep", "60"], start_new_session=True)
    try:
        wait_until(lambda: (tmp_path / "in-use").name in locks_of(tmp_path), 10)
        with pytest.raises(StoreError, match="listens to no signal"):
            interrupt_writer(tmp_path)
        assert deaf.poll() is None
    finally:
        os.killpg(deaf.pid, signal.SIGKILL)
        deaf.wait()


def locks_of(folder: Path) -> str:
    with (folder / "in-use").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "in-use"
    return ""


def test_a_process_that_only_has_the_number_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in-use").touch()
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    inode = (tmp_path / "in-use").stat().st_ino
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "locks").write_text(f"1: FLOCK  ADVISORY  WRITE {other.pid} 00:1:{inode} 0 EOF\n")
    (proc / str(other.pid)).symlink_to(f"/proc/{other.pid}")
    monkeypatch.setattr("lanelab.driver.run.folder.writer.PROC", proc)
    try:
        with pytest.raises(StoreError, match="nobody on this machine"):
            interrupt_writer(tmp_path)
        time.sleep(0.2)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_the_writer_is_asked_also_where_another_disk_has_a_file_of_that_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in-use").touch()
    inode = (tmp_path / "in-use").stat().st_ino
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    holds = "import fcntl, sys, time; a = open(sys.argv[1]); fcntl.flock(a, fcntl.LOCK_EX); time.sleep(60)"
    writes = subprocess.Popen([sys.executable, "-c", holds, str(tmp_path / "in-use")], stderr=subprocess.DEVNULL)
    proc = tmp_path / "proc"
    proc.mkdir()
    try:
        wait_until(lambda: locks_of(tmp_path) != "", 10)
        line = "1: FLOCK  ADVISORY  WRITE {} 00:1:{} 0 EOF\n"
        (proc / "locks").write_text("".join(line.format(each.pid, inode) for each in (other, writes)))
        for each in (other, writes):
            (proc / str(each.pid)).symlink_to(f"/proc/{each.pid}")
        monkeypatch.setattr("lanelab.driver.run.folder.writer.PROC", proc)
        interrupt_writer(tmp_path)
        assert writes.wait(10) != 0
        assert other.poll() is None
    finally:
        for each in (other, writes):
            each.kill()
            each.wait()


def test_who_only_has_the_file_open_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in-use").touch()
    reads = subprocess.Popen(["tail", "-f", str(tmp_path / "in-use")], stdout=subprocess.DEVNULL)
    proc = tmp_path / "proc"
    proc.mkdir()
    inode = (tmp_path / "in-use").stat().st_ino
    (proc / "locks").write_text(f"1: FLOCK  ADVISORY  WRITE {reads.pid} 00:1:{inode} 0 EOF")
    (proc / str(reads.pid)).symlink_to(f"/proc/{reads.pid}")
    monkeypatch.setattr("lanelab.driver.run.folder.writer.PROC", proc)
    try:
        wait_until(lambda: str(tmp_path / "in-use") in opened_by(reads), 10)
        with pytest.raises(StoreError, match="nobody on this machine"):
            interrupt_writer(tmp_path)
    finally:
        reads.kill()
        reads.wait()


def test_a_lock_on_another_disk_makes_no_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in-use").touch()
    lock = (tmp_path / "in-use").stat()
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / str(other.pid)).symlink_to(f"/proc/{other.pid}")
    monkeypatch.setattr(run_folder, "PROC", tmp_path / "proc")
    line = "1: FLOCK  ADVISORY  WRITE {} {:02x}:{:02x}:{} 0 EOF\n"
    device = os.major(lock.st_dev), os.minor(lock.st_dev)
    try:
        wait_until(lambda: bool(opened_by(other)), 10)
        for pid, (major, minor), expected in (
            (other.pid, (250, 250), False),
            (other.pid, device, True),
            (1 << 30, (250, 250), True),  # nobody can look at that one
        ):
            (tmp_path / "proc" / "locks").write_text(line.format(pid, major, minor, lock.st_ino))
            assert run_folder.has_writer(tmp_path) is expected
    finally:
        other.kill()
        other.wait()


def opened_by(process: "subprocess.Popen[bytes]") -> list[str]:
    return [str(path.readlink()) for path in Path(f"/proc/{process.pid}/fd").iterdir()]
