"""`python -m tools.corpus pack|unpack FILE FOLDER`: the inputs of a fuzzer in one file, a line for each.

Fuzzers want a folder with a file for each input. The tests read the packed file itself: native/c_kit/corpus.c and
native/gateway/internal/spdy/kept_test.go. So a folder is needed only while a fuzzer runs:

    build/env/bin/python -m tools.corpus unpack native/mod_spdy/fuzz/corpus/block.txt /tmp/block
    /tmp/mod_spdy/fuzz/fuzz_block /tmp/block
    build/env/bin/python -m tools.corpus pack native/mod_spdy/fuzz/corpus/block.txt /tmp/block

A line is the input's name, a space and the input: its bytes in hexadecimal digits, or, of a fuzzer in Go, the arguments
as Go writes them, with tabs between.
"""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

GO_HEAD = "go test fuzz v1\n"
USAGE = "usage: python -m tools.corpus pack|unpack FILE FOLDER"


def pack(file: Path, folder: Path) -> None:
    """Add every input of a folder to the file. What is there already is kept once."""
    kept = dict(_lines(file)) if file.exists() else {}
    known = set(kept.values())
    for path in sorted(folder.iterdir()):
        written = _written(path.read_bytes())
        if written not in known:
            known.add(written)
            kept[_name(path, written)] = written
    file.write_text("".join(f"{name} {written}\n" for name, written in sorted(kept.items())))


def unpack(file: Path, folder: Path) -> None:
    """Write every input of the file into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, written in _lines(file):
        (folder / name).write_bytes(_bytes(written))


def _lines(file: Path) -> list[tuple[str, str]]:
    lines = (line.partition(" ") for line in file.read_text().split("\n") if line)
    return [(name, written) for name, _, written in lines]


def _written(content: bytes) -> str:
    if content.startswith(GO_HEAD.encode()):
        return content.decode().removeprefix(GO_HEAD).strip("\n").replace("\n", "\t")
    return content.hex()


def _bytes(written: str) -> bytes:
    if "(" in written:
        return (GO_HEAD + written.replace("\t", "\n") + "\n").encode()
    return bytes.fromhex(written)


def _name(path: Path, written: str) -> str:
    """A name that somebody gave stays. Fuzzers give digests, of which the beginning is enough."""
    given = path.name.isalpha()
    return path.name if given else hashlib.sha256(written.encode()).hexdigest()[:12]


def main(arguments: list[str]) -> int:
    actions: dict[str, Callable[[Path, Path], None]] = {"pack": pack, "unpack": unpack}
    if len(arguments) != 3 or arguments[0] not in actions:
        print(USAGE, file=sys.stderr)
        return 2
    actions[arguments[0]](Path(arguments[1]), Path(arguments[2]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
