"""`python -m tools.corpus`: what is packed is unpacked to the byte, and nothing is there twice."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.paths import PROJECT
from tools.corpus import GO_HEAD, main, pack, unpack

GO = GO_HEAD + "byte('\\x02')\n[]byte(\"a\\tb\\n\\xff\")\nint(-24)\n"


def contents(folder: Path) -> list[bytes]:
    return sorted(each.read_bytes() for each in folder.iterdir())


def write(folder: Path, *inputs: bytes) -> Path:
    folder.mkdir()
    for number, each in enumerate(inputs):
        (folder / f"{number:040x}").write_bytes(each)
    return folder


@given(st.sets(st.binary(max_size=20), min_size=1, max_size=5))
def test_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, inputs: set[bytes]) -> None:
    tmp_path = tmp_path_factory.mktemp("corpus")
    pack(tmp_path / "packed.txt", write(tmp_path / "in", *inputs))
    unpack(tmp_path / "packed.txt", tmp_path / "out")
    assert contents(tmp_path / "out") == sorted(inputs)


def test_arguments_of_go_stay_readable_and_come_back(tmp_path: Path) -> None:
    pack(tmp_path / "packed.txt", write(tmp_path / "in", GO.encode()))
    assert '[]byte("a\\tb\\n\\xff")\tint(-24)\n' in (tmp_path / "packed.txt").read_text()
    unpack(tmp_path / "packed.txt", tmp_path / "out")
    assert contents(tmp_path / "out") == [GO.encode()]


def test_new_inputs_are_added_to_those_that_are_kept(tmp_path: Path) -> None:
    packed = tmp_path / "packed.txt"
    pack(packed, write(tmp_path / "first", b"one", b"two"))
    pack(packed, write(tmp_path / "second", b"two", b"three"))
    unpack(packed, tmp_path / "out")
    assert contents(tmp_path / "out") == [b"one", b"three", b"two"]


def test_a_name_that_somebody_gave_stays(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "everything").write_bytes(b"\0")
    assert main(["pack", str(tmp_path / "packed.txt"), str(tmp_path / "in")]) == 0
    assert (tmp_path / "packed.txt").read_text() == "everything 00\n"


def test_anything_else_is_answered_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unzip", "a", "b"]) == 2
    assert "pack|unpack FILE FOLDER" in capsys.readouterr().err


PACKED = sorted(
    [*PROJECT.glob("native/*/fuzz/corpus/*.txt"), *PROJECT.glob("native/gateway/internal/*/testdata/*.txt")]
)


@pytest.mark.parametrize("packed", PACKED, ids=lambda path: path.stem)
def test_what_is_kept_is_packed_as_the_program_packs_it(tmp_path: Path, packed: Path) -> None:
    unpack(packed, tmp_path / "unpacked")
    pack(tmp_path / "again.txt", tmp_path / "unpacked")
    assert sorted(line.partition(" ")[2] for line in (tmp_path / "again.txt").read_text().splitlines()) == sorted(
        line.partition(" ")[2] for line in packed.read_text().splitlines()
    )


def test_each_fuzzer_that_has_kept_inputs_has_them_in_a_file() -> None:
    assert len(PACKED) == 10
    assert all(each.read_text() for each in PACKED)
