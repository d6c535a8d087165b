"""The folder of a recording, which holds secrets: for this user alone, and gone afterwards."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from lanelab.driver.collect.recording.record import LOCK, NETLOG, _private_folder, _socket_folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    return tmp_path / "recording"


def test_it_is_private_and_goes_with_a_failure_too(place: Path) -> None:
    def stopped() -> None:
        with _private_folder() as folder:
            (folder / NETLOG).write_text("secrets")
            assert folder.parent == place
            assert folder.stat().st_mode & 0o077 == 0
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(place.iterdir()) == []


def test_what_a_killed_recording_left_goes_and_what_is_in_use_stays(place: Path) -> None:
    for name in ("killed", "under-way"):
        (place / name).mkdir(parents=True)
        (place / name / NETLOG).write_text("secrets")
        (place / name / LOCK).touch()
    with (place / "under-way" / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _private_folder():
            assert not (place / "killed").exists()
            assert (place / "under-way" / NETLOG).exists()


def test_the_folder_of_sockets_goes_too(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = tmp_path / "short"
    (short / "lanelab-killed").mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(short))
    (place / "killed").mkdir(parents=True)
    (place / "killed" / LOCK).touch()
    with _private_folder() as folder, _socket_folder(folder) as sockets:
        assert list(short.iterdir()) == [Path(sockets)]
        assert Path(sockets).stat().st_mode & 0o077 == 0
    assert list(short.iterdir()) == []


def test_a_folder_that_is_being_made_is_not_taken_for_one_that_was_left(place: Path) -> None:
    """Between making it and locking it, nobody else looks."""
    place.mkdir(parents=True)
    began, made = threading.Event(), threading.Event()

    def another() -> None:
        began.set()
        with _private_folder():
            made.set()

    being_made = os.open(place, os.O_RDONLY)
    fcntl.flock(being_made, fcntl.LOCK_EX)
    other = threading.Thread(target=another)
    other.start()
    began.wait()
    (place / "being-made").mkdir()
    (place / "being-made" / LOCK).touch()
    assert not made.wait(0.2)
    assert (place / "being-made").exists()
    with (place / "being-made" / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.close(being_made)
        other.join()
        assert made.is_set()
        assert (place / "being-made").exists()
