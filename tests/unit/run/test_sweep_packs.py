"""Artifacts on their way: what comes out of a pack is what went in, or an error, whatever happens to it between."""

import base64
import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError, PackError
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.copies import Artifact, TrialCopy
from lanelab.driver.run.folder.digests import file_digest
from lanelab.driver.run.sweep.messages import Pack, PieceRequest
from lanelab.driver.run.sweep.packs import PackFile, pack, piece_of, unpack, wanted_of
from lanelab.driver.run.sweep.worker.outbox import Outbox

RECORD = TrialRecord.not_started("page_load", "2026-01-01T00:00:00Z", Reason.BED_LOST, "a bed was lost")
FILES = {"000001/page.har.gz": b"har" * 1000, "000001/empty": b"", "000012/client.pcapng": bytes(range(256)) * 40}


def packed(folder: Path, files: dict[str, bytes] = FILES) -> Path:
    for name, content in files.items():
        (folder / "from" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "from" / name).write_bytes(content)
    path = folder / "a.pack"
    size, sha256 = pack(path, [(name, folder / "from" / name) for name in files])
    assert (size, sha256) == (path.stat().st_size, file_digest(path))
    return path


def sizes(files: dict[str, bytes]) -> dict[str, int]:
    return {name: len(content) for name, content in files.items()}


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def trial(number: int, *names: str) -> TrialCopy:
    artifacts = tuple(Artifact(name, len(FILES.get(f"{number:06d}/{name}", b"")), "") for name in names)
    return TrialCopy(number, 1, "cell", 1, 1, 1.0, RECORD, artifacts, "", "", "")


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    path = packed(tmp_path)
    assert path.stat().st_size < sum(map(len, FILES.values()))
    unpack(path, sizes(FILES), tmp_path / "to")
    assert files_in(tmp_path / "to") == FILES


def of_entries(path: Path, *entries: tuple[tarfile.TarInfo, bytes]) -> Path:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    path.write_bytes(zstandard.ZstdCompressor().compress(plain.getvalue()))
    return path


def link_to(name: str, target: str, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize(
    "entry",
    [
        tarfile.TarInfo("/etc/lanelab"),
        tarfile.TarInfo("../outside"),
        tarfile.TarInfo("000001/../../outside"),
        tarfile.TarInfo("000001/unasked"),
        link_to("000001/page.har.gz", "/etc/passwd", tarfile.SYMTYPE),
        link_to("000001/page.har.gz", "000012/client.pcapng", tarfile.LNKTYPE),
        link_to("000001/page.har.gz", "", tarfile.DIRTYPE),
        link_to("000001/page.har.gz", "", tarfile.FIFOTYPE),
        link_to("000001/page.har.gz", "", tarfile.CHRTYPE),
    ],
    ids=lambda entry: f"{entry.name}-{entry.type.decode()}",
)
def test_nothing_else_comes_out(entry: tarfile.TarInfo, tmp_path: Path) -> None:
    path = of_entries(tmp_path / "a.pack", (entry, b""))
    (tmp_path / "below").mkdir()
    with pytest.raises(PackError, match="nobody asked for"):
        unpack(path, {"000001/page.har.gz": 0}, tmp_path / "below" / "to")
    assert files_in(tmp_path / "below") == {}
    assert list(tmp_path.glob("outside*")) == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({**sizes(FILES), "000001/empty": 5}, "0 bytes instead of 5"),
        ({**sizes(FILES), "000013/more": 5}, "lacks 000013/more"),
        ({name: size for name, size in sizes(FILES).items() if "har" not in name}, "nobody asked for"),
    ],
)
def test_a_pack_has_just_what_is_asked_for(wanted: dict[str, int], said: str, tmp_path: Path) -> None:
    with pytest.raises(PackError, match=said):
        unpack(packed(tmp_path), wanted, tmp_path / "to")


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = of_entries(tmp_path / "a.pack", (tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("a"), b"2"))
    with pytest.raises(PackError, match="nobody asked for"):
        unpack(path, {"a": 1}, tmp_path / "to")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(data=st.data())
def test_a_pack_that_is_damaged_is_an_error_or_the_files(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cut anywhere, bytes changed anywhere, or something behind it."""
    folder = tmp_path_factory.mktemp("damaged")
    path = packed(folder)
    content = bytearray(path.read_bytes())
    damage: Callable[[], bytes] = data.draw(
        st.sampled_from(
            [
                lambda: bytes(content[: data.draw(st.integers(0, len(content) - 1))]),
                lambda: bytes(content) + data.draw(st.binary(min_size=1, max_size=50)),
                lambda: _flipped(content, data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(1, 255))),
            ]
        )
    )
    path.write_bytes(damage())
    try:
        unpack(path, sizes(FILES), folder / "to")
    except PackError:
        pass
    else:  # sizes and names are right; contents are checked by their sha256 when they are stored
        assert sizes(files_in(folder / "to")) == sizes(FILES)
    assert files_in(folder / "to").keys() <= FILES.keys()


def _flipped(content: bytearray, place: int, bits: int) -> bytes:
    content[place] ^= bits
    return bytes(content)


# --- pieces


def received(path: Path, into: Path) -> PackFile:
    return PackFile(into / "received.pack", Pack("a.pack", path.stat().st_size, file_digest(path), ""))


def test_pieces_become_the_pack(tmp_path: Path) -> None:
    path = packed(tmp_path)
    file = received(path, tmp_path)
    while file.have < file.pack.bytes:
        file.add(piece_of(path, file.have, 100))
    file.unpack([trial(1, "page.har.gz", "empty"), trial(12, "client.pcapng"), trial(13)], tmp_path / "to")
    assert files_in(tmp_path / "to") == FILES
    assert (tmp_path / "to" / "000013").is_dir()  # a trial without artifacts has a folder, too
    file.close()
    assert not file.path.exists()


def test_a_small_pack_comes_with_its_delivery(tmp_path: Path) -> None:
    path = packed(tmp_path)
    small = replace(received(path, tmp_path).pack, data=base64.b64encode(path.read_bytes()).decode())
    file = PackFile(tmp_path / "never.pack", small)
    file.add_text(small.data[:-4])
    file.add_text("no base64")
    assert file.have == 0
    file.add_text(small.data)
    file.unpack([trial(1, "page.har.gz", "empty"), trial(12, "client.pcapng")], tmp_path / "to")
    assert files_in(tmp_path / "to") == FILES
    assert not (tmp_path / "never.pack").exists()
    file.close()


def test_a_damaged_piece_is_asked_for_again_and_then_an_error(tmp_path: Path) -> None:
    path = packed(tmp_path)
    file = received(path, tmp_path)
    good = piece_of(path, 0, 100)
    for bad in (_flipped(bytearray(good), 40, 1), good[:-1]):
        file.add(bad)
        assert file.have == 0
    file.add(good)
    assert file.have == 100
    too_much = hashlib.sha256(bytes(file.pack.bytes)).digest() + bytes(file.pack.bytes)
    file.add(too_much)
    file.add(b"")
    assert file.have == 100
    with pytest.raises(PackError, match="came damaged"):
        file.add(too_much)


def test_a_pack_that_is_damaged_where_it_lies_is_fetched_again(tmp_path: Path) -> None:
    """Its pieces are what is read there, and the whole is not what was packed."""
    path = packed(tmp_path)
    file = received(path, tmp_path)
    right = path.read_bytes()
    path.write_bytes(_flipped(bytearray(right), 50, 1))
    file.add(piece_of(path, 0, file.pack.bytes))
    assert file.have == 0
    path.write_bytes(right)
    file.add(piece_of(path, 0, file.pack.bytes))
    file.unpack([trial(1, "page.har.gz", "empty"), trial(12, "client.pcapng")], tmp_path / "to")
    assert files_in(tmp_path / "to") == FILES


def test_a_pack_that_stays_damaged_is_an_error(tmp_path: Path) -> None:
    path = packed(tmp_path)
    file = PackFile(tmp_path / "received.pack", Pack("a.pack", path.stat().st_size, "0" * 64, ""))
    file.add(piece_of(path, 0, file.pack.bytes))
    file.add(piece_of(path, 0, file.pack.bytes))
    with pytest.raises(PackError, match="came damaged"):
        file.add(piece_of(path, 0, file.pack.bytes))


def test_a_pack_that_is_not_whole_is_not_unpacked(tmp_path: Path) -> None:
    path = packed(tmp_path)
    file = received(path, tmp_path)
    file.add(piece_of(path, 0, 100))
    with pytest.raises(PackError, match="not whole: 100 of"):
        file.unpack([trial(1, "page.har.gz")], tmp_path / "to")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "/etc/passwd", "a\0b"])
def test_artifacts_are_plain_names(name: str) -> None:
    with pytest.raises(PackError, match="no name of a file"):
        wanted_of([trial(1, name)])


def test_a_worker_has_one_pack_at_a_time(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "trials" / "000001").mkdir(parents=True)
    (run / "trials" / "000001" / "page.har.gz").write_bytes(FILES["000001/page.har.gz"])
    outbox = Outbox(tmp_path / "outbox")
    one = trial(1, "page.har.gz")
    first = outbox.put("first", [one], run)
    second = outbox.put("second", [replace(one, artifacts=())], run)
    assert [path.name for path in (tmp_path / "outbox").iterdir()] == ["second"]
    with pytest.raises(InputError, match="begun anew"):
        outbox.piece(PieceRequest(first.name, 0, 10))
    assert len(outbox.piece(PieceRequest(second.name, 0, second.bytes))) == 32 + second.bytes
    outbox.clear()
    assert not (tmp_path / "outbox").exists()
