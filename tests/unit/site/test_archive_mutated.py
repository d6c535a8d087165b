"""Archives of every kind, changed at random: each is refused with one line, or becomes a site that is contained.

To look into one that failed: `mutated(NUMBER)` is always the same.
"""

import gzip
import io
import random
import re
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.registry import import_from
from lanelab.driver.collect.new_site import ARCHIVE, Facts, add_site
from lanelab.driver.site.archive.limits import Limits
from lanelab.driver.site.archive.make import make
from lanelab.driver.site.manifest import read_manifest
from lanelab.driver.site.site import SiteObject
from tests.kit import recordings

MUTATED, MUTATED_LONG = 300, 10_000
SECRET = b"nobody may read this"  # in a file beside what is imported
SMALL = Limits(total_bytes=3_000_000, record_bytes=1_000_000, records=2_000, damages=100)
HOST = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
PATH = re.compile(r"/[!-~]*")
# What somebody who means harm would write.
HOSTILE = (
    b"../../../../", b"/etc/passwd", b"http://localhost/", b"http://127.0.0.1/", b"http://[::1]/", b"file:///etc/passwd",
    b"\r\nSet-Cookie: x=1\r\n", b"\r\n\r\n", b"\0", b"\xff\xfe", b"%2e%2e/", b"..\\", b"9" * 30, b"-1", b"WARC/1.0\r\n",
    b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: br\r\n", b"WARC-Type: revisit\r\n", b"\x1f\x8b\x08", b"PK\x03\x04",
    b"x" * 70_000, b"\n" * 5_000,
    b"ffffffff\r\n", b"{" * 3_000, b'":[{}],"', b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"HTTP/1.1 304 \r\n",
    gzip.compress(bytes(5_000_000)),
)  # fmt: skip


Changes = Sequence[Callable[[bytes, random.Random], bytes]]


@dataclass(frozen=True)
class Mutated:
    path: Path
    kind: str
    what: str


def mutated(number: int, kinds: dict[str, Path], folder: Path) -> Mutated:
    """A copy of one of the recordings with one to four changes."""
    chance = random.Random(number)
    kind = chance.choice(sorted(kinds))
    path = folder / kind
    if kinds[kind].is_dir():
        shutil.copytree(kinds[kind], path)
        file = chance.choice(sorted(each for each in path.rglob("*") if each.is_file()))
    else:
        path.write_bytes(kinds[kind].read_bytes())
        file = path
    changes = [chance.choice(CHANGES) for _ in range(chance.randint(1, 4))]
    inner = chance.random() < 0.7
    data = file.read_bytes()
    file.write_bytes(_inside(data, chance, changes) if inner else _changed(data, chance, changes))
    return Mutated(path, kind, f"{number}: {kind}, {file.name}, {[each.__name__ for each in changes]}")


def _inside(data: bytes, chance: random.Random, changes: Changes) -> bytes:
    """What is compressed is changed within, so that the changes get past the checks of the compression."""
    if data[:2] == b"\x1f\x8b":
        members = list(_members(data))
        chosen = chance.randrange(len(members))
        members[chosen] = _changed(members[chosen], chance, changes)
        return b"".join(gzip.compress(each, 1, mtime=0) for each in members)
    if data[:4] == b"PK\x03\x04":
        return _zip_changed(data, chance, changes)
    return _changed(data, chance, changes)


def _zip_changed(data: bytes, chance: random.Random, changes: Changes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = chance.choice(names)
        for name in names:
            content = old.read(name)
            info = zipfile.ZipInfo(name, (2012, 5, 1, 10, 0, 0))
            header = old.infolist()[names.index(name)].header_offset
            size = int.from_bytes(data[header + 28 : header + 30], "little")
            begin = header + 30 + int.from_bytes(data[header + 26 : header + 28], "little")
            info.extra = data[begin : begin + size]
            if name == chosen:
                content = _inside(content, chance, changes)
                info.extra = _changed(info.extra, chance, changes)[:60_000] if info.extra else b""
            new.writestr(info, content)
            info.extra = b""
    return out.getvalue()


def _members(data: bytes) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(31)
        yield member.decompress(data)
        data = member.unused_data


def _changed(data: bytes, chance: random.Random, changes: Changes) -> bytes:
    for change in changes:
        data = change(data, chance)
    return data


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 3, 30))):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _drop(data: bytes, chance: random.Random) -> bytes:
    at, length = chance.randint(0, len(data)), chance.choice((1, 2, 10, 100))
    return data[:at] + data[at + length :]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    at, length = chance.randint(0, len(data)), chance.choice((1, 10, 100, 1_000))
    return data[: at + length] + data[at : at + length] * chance.choice((1, 2, 20)) + data[at + length :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(HOSTILE) + data[at:]


WORDS = (b"http://a.test/", b"a.test", b"Content-Length", b"200", b"text/html", b"GET", b"response", b"b.test", b"1")


def _replace(data: bytes, chance: random.Random) -> bytes:
    """Something that means something by something that means harm."""
    word = chance.choice([each for each in WORDS if each in data] or [data[:1]])
    return data.replace(word, chance.choice(HOSTILE), chance.choice((1, -1))) if word else data


CHANGES = (_flip, _cut, _drop, _repeat, _insert, _replace)


def _require_contained(each: SiteObject) -> None:
    assert HOST.fullmatch(each.host), each.host
    assert not each.host.endswith("localhost")
    assert not re.fullmatch(r"[0-9]+|0x[0-9a-f]*", each.host.rpartition(".")[2])
    assert PATH.fullmatch(each.path), each.path
    assert "#" not in each.path
    assert not {".", ".."} & set(each.path.partition("?")[0].lower().replace("%2e", ".").split("/"))
    assert 200 <= each.status <= 599
    text = "".join(name + value for name, value in each.headers) + each.reason + each.method + each.mime
    assert not set(text) & set("\r\n\0")
    assert not [name for name, _ in each.headers if name.lower() in ("set-cookie", "cookie", "authorization")]


def _try(number: int, kinds: dict[str, Path], folder: Path) -> bool:
    """Whether it became a site."""
    source, archive = folder / "source", folder / "sites"
    source.mkdir(parents=True)
    archive.mkdir()
    (folder / "secret").write_bytes(SECRET)
    case = mutated(number, kinds, source)
    before = sorted(folder.rglob("*"))
    try:
        imported = import_from(case.path, "files.test", SMALL)[1]
        made = add_site("x", imported.exchanges, Facts("x", case.kind, left_out=imported.left_out), archive)
    except InputError as error:
        told = str(error)
        assert told.isprintable(), case.what
        assert sorted(folder.rglob("*")) == before, case.what
        return False
    assert sorted(each.name for each in archive.rglob("*")) == [ARCHIVE, "site.yaml", "x"], case.what
    manifest = read_manifest(made.folder / "site.yaml")
    stored = list(make(made.folder, manifest))
    assert len(stored) == made.objects > 0, case.what
    assert sum(len(each.body) for each in stored) <= SMALL.total_bytes, case.what
    for each in stored:
        _require_contained(each.object)
        assert SECRET not in each.body, case.what
    return True


def _try_all(numbers: range, folder: Path) -> None:
    kinds = recordings.all_kinds(folder / "kinds")
    became = {True: 0, False: 0}
    for number in numbers:
        became[_try(number, kinds, folder / str(number))] += 1
        shutil.rmtree(folder / str(number))
    print(f"sites: {became[True]}, refused: {became[False]}")
    assert min(became.values()) > len(numbers) // 20, became  # both happen, or the test tests nothing


def test_a_changed_archive_is_refused_or_contained(tmp_path: Path) -> None:
    _try_all(range(MUTATED), tmp_path)


@pytest.mark.long
def test_ten_thousand_changed_archives_are_refused_or_contained(tmp_path: Path) -> None:
    _try_all(range(MUTATED, MUTATED + MUTATED_LONG), tmp_path)
