"""The archive of an artifact: the same bytes for the same files, and nothing in it can do harm."""

import gzip
import io
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelab.driver.base.errors import ArtifactError
from lanelab.driver.run.study import archive
from lanelab.driver.run.study.archive import unpack, write_archive

FILES = {"ARTIFACT.md": b"# An artifact\n", "run/study.json": b"{}", "sites/dummy/site.yaml": b"title: x\n" * 200}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def packed(folder: Path, members: Mapping[str, bytes | tarfile.TarInfo]) -> Path:
    """An archive as anybody could make it: bytes are files, a TarInfo is put in as it is."""
    path = folder / "made.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, what in members.items():
            info = what if isinstance(what, tarfile.TarInfo) else tarfile.TarInfo(name)
            data = b"" if isinstance(what, tarfile.TarInfo) else what
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def link(name: str, to: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


def test_what_was_packed_is_there_again_with_its_digests(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 3_000_000)
    write_archive(tmp_path / "a.tar.gz", {**FILES, "large": tmp_path / "large"})
    unpack(tmp_path / "a.tar.gz", tmp_path / "out")
    found = tree(tmp_path / "out")
    sums = found.pop("SHA256SUMS").decode()
    assert found == {**FILES, "large": b"x" * 3_000_000}
    assert [line.split("  ")[1] for line in sums.splitlines()] == sorted(found)


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "file").write_bytes(b"content")
        write_archive(tmp_path / f"{place}.tar.gz", {**FILES, "file": tmp_path / place / "file"})
    (tmp_path / "three").mkdir()
    backwards = dict(reversed(FILES.items()))
    write_archive(tmp_path / "three.tar.gz", {"file": b"content", **backwards})
    assert len({(tmp_path / f"{name}.tar.gz").read_bytes() for name in ("one", "two", "three")}) == 1


def altered(folder: Path, change: Mapping[str, bytes | None]) -> Path:
    """A good archive with other files in it, and its list of digests as it was."""
    write_archive(folder / "good.tar.gz", FILES)
    with tarfile.open(folder / "good.tar.gz") as tar:
        members = {info.name: tar.extractfile(info).read() for info in tar}  # type: ignore[union-attr]
    named = {f"artifact/{name}": data for name, data in change.items()}
    return packed(folder, {name: data for name, data in {**members, **named}.items() if data is not None})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run/study.json": b"[]"}, r"run/study\.json is not what SHA256SUMS says: it was changed"),
        ({"run/study.json": None}, r"run/study\.json is missing"),
        ({"more": b"x"}, "more is not in SHA256SUMS"),
        ({"SHA256SUMS": None}, "has no SHA256SUMS"),
        ({"SHA256SUMS": b"nothing\n"}, "SHA256SUMS, line 1"),
        ({"SHA256SUMS": b"\xff\xfe"}, "SHA256SUMS is no text"),
        ({"run/study.json/below": b"x"}, "is a file and a folder at once"),
    ],
)
def test_a_file_that_was_changed_taken_or_added_is_named(
    tmp_path: Path, change: dict[str, bytes | None], words: str
) -> None:
    with pytest.raises(ArtifactError, match=words):
        unpack(altered(tmp_path, change), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "name",
    ["artifact/../../escaped", "/etc/escaped", "escaped", "artifact/", "artifact/a//b", "artifact/a\\b",
     "artifact/.ssh/config", "artifact/a\nb", "artifact/-rf", f"artifact/{'x' * 300}"],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    place = tmp_path / "deep" / "place"
    place.mkdir(parents=True)
    with pytest.raises(ArtifactError, match="is no name within the artifact"):
        unpack(packed(place, {name: b"x"}), place / "out")
    assert sorted(tree(tmp_path)) == ["deep/place/made.tar.gz"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(ArtifactError, match="is no plain file"):
        unpack(packed(tmp_path, {"x": link("artifact/x", "/etc/passwd", kind)}), tmp_path / "out")


@pytest.mark.parametrize("packing", ["w", "w:gz"])
def test_what_tar_itself_packed_again_is_read(tmp_path: Path, packing: str) -> None:
    """As `tar -c artifact` does it: with entries of folders, and with gzip or without."""
    write_archive(tmp_path / "a.tar.gz", FILES)
    unpack(tmp_path / "a.tar.gz", tmp_path / "artifact")
    with tarfile.open(tmp_path / "again", packing) as tar:  # type: ignore[call-overload]
        tar.add(tmp_path / "artifact", "artifact")
        assert any(info.isdir() for info in tar.getmembers())
    unpack(tmp_path / "again", tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "artifact")


@pytest.mark.parametrize("name", ["escaped", "artifact/../escaped", "/escaped", "artifact/.ssh"])
def test_folders_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArtifactError, match="is no name within the artifact"):
        unpack(packed(tmp_path, {"x": link(name, "", tarfile.DIRTYPE)}), tmp_path / "out")
    assert sorted(tree(tmp_path)) == ["made.tar.gz"]


def test_what_would_unpack_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed(tmp_path, {"artifact/zeros": bytes(80 << 20)})
    assert bomb.stat().st_size < 200_000
    with pytest.raises(ArtifactError, match="would unpack to more than 64 MiB"):
        unpack(bomb, tmp_path / "out")
    monkeypatch.setattr(archive, "MOST_FILES", 2)
    with pytest.raises(ArtifactError, match="or 2 files"):
        unpack(packed(tmp_path, {f"artifact/{number}": b"" for number in range(3)}), tmp_path / "out")
    folders = {str(number): link(f"artifact/{number}", "", tarfile.DIRTYPE) for number in range(3)}
    with pytest.raises(ArtifactError, match="or 2 files"):
        unpack(packed(tmp_path, folders), tmp_path / "out")


def test_a_header_as_large_as_memory_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("artifact/x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 33
    path = tmp_path / "made.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(4 << 20)))
    with pytest.raises(ArtifactError, match="a header of it is too large"):
        unpack(path, tmp_path / "out")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ArtifactError, match="is damaged or no artifact"):
        unpack(tmp_path / "text", tmp_path / "out")
    with pytest.raises(ArtifactError, match="there is no archive"):
        unpack(tmp_path / "missing", tmp_path / "out")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damage_anywhere_is_a_typed_error_or_does_no_harm(data: st.DataObject) -> None:
    """Bytes changed, cut and put in: in the packed archive, and in the tar within."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "inner"
        folder.mkdir()
        path = folder / "a.tar.gz"
        write_archive(path, FILES)
        within = data.draw(st.booleans(), "within")
        content = bytearray(gzip.decompress(path.read_bytes()) if within else path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4), "changes")):
            where = data.draw(st.integers(0, max(0, len(content) - 1)), "where")
            length = data.draw(st.integers(0, 600), "length")
            content[where : where + length] = data.draw(st.binary(max_size=64), "instead")
        path.write_bytes(gzip.compress(bytes(content)) if within else bytes(content))
        try:
            unpack(path, folder / "out")
        except ArtifactError:
            assert not (folder / "out").exists()
        else:
            found = tree(folder / "out")
            del found["SHA256SUMS"]
            assert found == FILES
        assert {each.name for each in Path(name).iterdir()} == {"inner"}
        assert {each.name for each in folder.iterdir()} <= {"a.tar.gz", "out"}
