"""Files appear whole or not at all, whoever else writes them."""

from pathlib import Path

import pytest

from lanelab.analysis.results.report.atomic_files import write_together, write_whole
from lanelab.driver.base.errors import StoreError


def test_two_writers_at_once_both_end_and_the_last_one_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one writes and ends between what the first one writes and its end."""
    replace, others = Path.replace, [b"second"]

    def later(part: Path, target: Path) -> Path:
        if others:
            write_whole(target, others.pop())
        return replace(part, target)

    monkeypatch.setattr(Path, "replace", later)
    write_whole(tmp_path / "page.html", b"first")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("page.html", b"first")]


def test_where_one_cannot_be_written_none_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "old").write_bytes(b"old")
    files = {tmp_path / "old": b"new", tmp_path / "a" / "b" / "c": b"", tmp_path / "file" / "d": b""}
    with pytest.raises(StoreError, match=r"cannot write .*d: "):
        write_together(files)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "old"]
    assert (tmp_path / "old").read_bytes() == b"old"
