"""Importers: each kind of recording is known by its content, and becomes what was recorded."""

import json
import os
import shutil
import stat
import zipfile
from pathlib import Path

import pytest
import zstandard

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.importer import Imported
from lanelab.driver.collect.importers.registry import IMPORTERS, import_from, importer_of
from lanelab.driver.site.archive.limits import Limits
from tests.kit import recordings
from tests.kit.handles import LanelabCommand
from tests.kit.recordings import PAGE, PIXEL, STYLE


def read(path: Path, limits: Limits | None = None) -> Imported:
    return import_from(path, "files.test", limits or Limits())[1]


def urls(imported: Imported) -> list[str]:
    return [each.url for each in imported.exchanges]


def test_each_kind_is_known_by_its_content(tmp_path: Path) -> None:
    kinds = recordings.all_kinds(tmp_path)
    assert {each.name for each in IMPORTERS} <= set(kinds)
    for name, path in kinds.items():
        assert importer_of(path).name == {"arc": "warc"}.get(name, name)


def test_what_is_none_of_them_is_refused(tmp_path: Path) -> None:
    for name, content in {"text": b"hello", "empty": b"", "zip": b"PK\x03\x04", "json": b'{"a": 1}'}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="nothing that can be imported"):
            read(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        read(tmp_path / "pipe")
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "nothing")


def test_a_wacz_file_has_its_page(tmp_path: Path) -> None:
    imported = read(recordings.wacz(tmp_path / "x"))
    assert (imported.entry, imported.title) == ("http://b.test/", "The other page")
    assert len(imported.exchanges) == 5


@pytest.mark.parametrize("member", ["archive/data.warc.gz", "pages/pages.jsonl", "datapackage.json"])
def test_a_wacz_file_with_a_member_that_was_changed_is_refused(member: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"was changed: {member} has another hash"):
        read(recordings.wacz(tmp_path / "x", changed=member))


def test_what_is_compressed_with_zstd_has_a_message_of_its_own(tmp_path: Path) -> None:
    packed = zstandard.compress(recordings.warc())
    (tmp_path / "x.warc.zst").write_bytes(packed)
    with zipfile.ZipFile(tmp_path / "x.wacz", "w") as out:
        out.writestr("archive/data.warc.zst", packed)
    for name in ("x.warc.zst", "x.wacz"):
        with pytest.raises(InputError, match="compressed with zstd") as raised:
            read(tmp_path / name)
        assert "zstd --decompress" in str(raised.value)


def test_a_large_file_is_no_recording_of_mahimahi_by_its_beginning_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To know what a folder is, the beginnings of its files are enough."""
    folder = recordings.mahimahi(tmp_path / "m")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a").write_bytes(b"\x0a" + bytes(10_000))
    monkeypatch.setattr("lanelab.driver.collect.importers.mahimahi.read_file", lambda *_: pytest.fail("read whole"))
    assert (importer_of(folder).name, importer_of(tmp_path / "other").name) == ("mahimahi", "folder")


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["archive/x.txt"], "has no WARC file"),
        (["archive/link.warc.gz"], "has a link in it"),
        (["archive/zeros.warc"], "larger than 1,000,000 bytes"),
        ([f"archive/{number}.warc" for number in range(200)], "more than 100 files"),
    ],
)
def test_a_zip_file_that_is_made_to_do_harm_is_refused(names: list[str], why: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x", "w", zipfile.ZIP_DEFLATED) as out:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFLNK if "link" in name else stat.S_IFREG) << 16
            out.writestr(info, bytes(5_000_000) if "zeros" in name else b"/etc/passwd")
    with pytest.raises(InputError, match=why):
        read(tmp_path / "x", Limits(record_bytes=1_000_000, answers=100))


@pytest.mark.parametrize("more", [b"PK\x06\x07" + bytes(16), b""], ids=["of another kind", "long"])
def test_a_long_list_of_contents_is_not_read(more: bytes, tmp_path: Path) -> None:
    data = recordings.wacz(tmp_path / "x").read_bytes()
    at = data.rindex(b"PK\x05\x06")
    size = data[at + 12 : at + 16] if more else (60_000_000).to_bytes(4, "little")
    (tmp_path / "x").write_bytes(data[:at] + more + data[at : at + 12] + size + data[at + 16 :])
    with pytest.raises(InputError, match="nothing that can be imported"):
        read(tmp_path / "x")
    mirror = recordings.httrack(tmp_path / "mirror")
    (mirror / "hts-cache" / "new.zip").write_bytes((tmp_path / "x").read_bytes())
    with pytest.raises(InputError, match="too long a list"):
        read(mirror)


def test_names_in_a_zip_file_lead_nowhere(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x", "w") as out:
        out.writestr("archive/../../../evil.warc.gz", recordings.warc())
    before = sorted(tmp_path.rglob("*"))
    assert len(read(tmp_path / "x").exchanges) == 5
    assert sorted(tmp_path.rglob("*")) == before


# --- HTTrack, Mahimahi, folders -----


def test_a_mirror_is_what_its_cache_says(tmp_path: Path) -> None:
    imported = read(recordings.httrack(tmp_path / "x"))
    assert [(each.url, each.status, each.body) for each in imported.exchanges] == [
        ("http://www.a.test/", 200, PAGE),
        ("http://img.b.test/x.gif", 200, PIXEL),
        ("http://a.test/", 301, b""),
    ]
    assert imported.exchanges[0].headers == (("Content-Type", "text/html; charset=utf-8"),)
    assert imported.exchanges[0].at_utc == "2012-05-01T10:00:00Z"
    assert imported.left_out == ("http://img.b.test/up: its file '../../../../etc/passwd' is not in the mirror",)
    assert imported.entry == "http://www.a.test/"


def test_a_mirror_without_its_cache_is_one_host(tmp_path: Path) -> None:
    folder = recordings.httrack(tmp_path / "x")
    (folder / "hts-cache" / "new.zip").unlink()
    imported = read(folder)
    assert imported.entry == "http://files.test/www.a.test/index.html"
    assert "http://files.test/img.b.test/x.gif" in urls(imported)
    assert not [url for url in urls(imported) if "hts" in url or url == "http://files.test/"]


def test_a_link_in_a_mirror_is_not_followed(tmp_path: Path) -> None:
    folder = recordings.httrack(tmp_path / "x")
    (folder / "img.b.test" / "x.gif").unlink()
    (folder / "img.b.test" / "x.gif").symlink_to("/etc/passwd")
    imported = read(folder)
    assert not [each for each in imported.exchanges if b"root" in each.body]
    assert "http://img.b.test/x.gif: its file 'img.b.test/x.gif' is not in the mirror" in imported.left_out
    shutil.move(folder / "hts-cache" / "new.zip", tmp_path / "elsewhere.zip")
    (folder / "hts-cache" / "new.zip").symlink_to(tmp_path / "elsewhere.zip")
    assert "http://www.a.test/" not in urls(read(folder))


def test_mahimahis_files_are_read(tmp_path: Path) -> None:
    folder = recordings.mahimahi(tmp_path / "x")
    (folder / "zzz").write_bytes(b"\x0a\xff\xff")
    imported = read(folder)
    assert {(each.url, each.body) for each in imported.exchanges} == {
        ("http://a.test/", PAGE),
        ("https://b.test/x.gif?1", PIXEL),
    }
    assert imported.left_out == ("zzz: it ends in the middle of a number",)


def test_of_mahimahis_pages_that_of_the_oldest_file_is_first(tmp_path: Path) -> None:
    """Files have names by chance, and a page and its frame come within a second."""
    for name, files_ms in {"page": (300, 700), "frame": (700, 300)}.items():
        folder = recordings.mahimahi(tmp_path / name, media_type="text/html")
        for file, ms in zip(("save.aaaaaa", "save.bbbbbb"), files_ms, strict=True):
            os.utime(folder / file, ns=(0, 1_400_000_000_000_000_000 + ms * 1_000_000))
    assert urls(read(tmp_path / "page")) == ["http://a.test/", "https://b.test/x.gif?1"]
    imported = read(tmp_path / "frame")
    assert urls(imported) == ["https://b.test/x.gif?1", "http://a.test/"]
    assert imported.doubtful == (
        "which of its 2 pages was loaded is not known: the oldest file's is taken, --entry names another",
    )
    assert read(recordings.mahimahi(tmp_path / "one")).doubtful == ()


def test_a_folder_is_served_as_it_lies_there(tmp_path: Path) -> None:
    folder = recordings.plain(tmp_path / "x")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("secret")
    (folder / ".env").write_text("secret")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "around").symlink_to(folder)
    imported = read(folder)
    assert {
        (each.url.removeprefix("http://files.test"), each.body, each.headers[0][1]) for each in imported.exchanges
    } == {
        ("/", PAGE, "text/html"),
        ("/index.html", PAGE, "text/html"),
        ("/css/a.css?v=1", STYLE, "text/css"),
        ("/img/a%20b%C3%A9.gif", PIXEL, "image/gif"),
        ("/sub/", PAGE, "text/html"),
        ("/sub/index.html", PAGE, "text/html"),
    }
    assert imported.entry == "http://files.test/"
    assert set(imported.left_out) == {
        ".git/: a hidden folder",
        "around/: a link",
        ".env: a hidden file",
        "link: a link",
    }


def test_a_folder_has_the_date_of_its_import_and_its_files_theirs(tmp_path: Path) -> None:
    """Files of packages are all from 1985, which is nobody's recording: scripts would see that date."""
    folder = recordings.plain(tmp_path / "x")
    for file in folder.rglob("*"):
        os.utime(file, (499162500, 499162500))
    before = utc_now()
    imported = read(folder)
    assert {before <= each.at_utc <= utc_now() for each in imported.exchanges} == {True}
    changed = {value for each in imported.exchanges for name, value in each.headers if name == "Last-Modified"}
    assert changed == {"Sat, 26 Oct 1985 08:15:00 GMT"}


def test_a_folder_beyond_the_limits_is_refused(tmp_path: Path) -> None:
    folder = recordings.plain(tmp_path / "x")
    for limits, why in (
        (Limits(answers=2), "more than 2 files"),
        (Limits(total_bytes=100), "holds more than 100 bytes"),
        (Limits(record_bytes=50), "larger than 50 bytes"),
    ):
        with pytest.raises(InputError, match=why):
            read(folder, limits)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file in"):
        read(tmp_path / "empty")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "a b", "", "a/b", "A.test"])
def test_a_host_that_no_site_can_have_is_refused(host: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be the host"):
        import_from(recordings.plain(tmp_path), host)


# --- the command -----


def test_the_command_makes_a_site(tmp_path: Path, lanelab: LanelabCommand) -> None:
    (tmp_path / "sites").mkdir()
    (tmp_path / "x.warc.gz").write_bytes(recordings.warc())
    environment = {"LANELAB_SITES": str(tmp_path / "sites")}
    argv = ("site", "import", str(tmp_path / "x.warc.gz"), "--name", "one", "--title", "One", "--licence", "MIT")
    done = lanelab.run(*argv, env=environment)
    assert done.returncode == 0, done.stderr
    assert "one: 5 objects with " in done.stdout
    assert "left out: secret: cookie of a.test: sid" in done.stderr
    again = lanelab.run(*argv, env=environment)
    assert (again.returncode, "add --replace" in again.stderr) == (2, True)
    assert lanelab.run(*argv, "--replace", "--entry", "http://b.test/", env=environment).returncode == 0
    shown = json.loads(lanelab.run("site", "show", "one", "--json", env=environment).stdout)
    assert (shown["entry"], shown["title"], shown["licence"]) == ("http://b.test/", "One", "MIT")
