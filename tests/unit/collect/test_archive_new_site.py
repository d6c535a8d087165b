"""A new site is in the archive whole, or not at all; what is there is what was recorded."""

import errno
import fcntl
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.collect import new_site
from lanelab.driver.collect.new_site import ARCHIVE, Facts, add_site
from lanelab.driver.site.archive.read_warc import read_warc
from lanelab.driver.site.load import load_site, site_names
from lanelab.driver.site.manifest import read_manifest
from tests.kit.exchanges import DATE, HTML, PAGE, exchange
from tests.kit.machine import ROOT

FACTS = Facts("A page", "a test")
RECORDED = (
    exchange("http://a.test/", status=301, headers=(("Location", "https://a.test/"),), body=b""),
    exchange("https://a.test/", request_headers=(("User-Agent", "Browser/1"), ("Cookie", "sid=1"))),
    exchange("https://b.test/late.js", headers=(("Content-Type", "text/javascript"),), body=b"1", late=True),
    exchange("http://127.0.0.1/", headers=HTML),
)


@pytest.fixture(autouse=True)
def _own_build(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path_factory.mktemp("build")))


def test_a_recording_becomes_a_site_that_can_be_served(tmp_path: Path) -> None:
    made = add_site("one", RECORDED, FACTS, tmp_path)
    manifest = made.manifest
    assert (manifest.entry, manifest.entry_scheme, manifest.date) == ("a.test/", "https", DATE)
    assert (manifest.user_agent, manifest.late) == ("Browser/1", ("b.test/late.js",))
    assert manifest.left_out == ("http://127.0.0.1/: its host is an IP address", "secret: cookie of a.test: sid")
    assert sorted(each.name for each in made.folder.iterdir()) == [ARCHIVE, "site.yaml"]
    assert read_manifest(made.folder / "site.yaml") == manifest
    site = load_site("one", tmp_path)
    assert [(each.scheme, each.url, each.status, each.late) for each in site.objects] == [
        ("http", "a.test/", 301, False),
        ("https", "a.test/", 200, False),
        ("https", "b.test/late.js", 200, True),
    ]
    assert site.file(site.objects[1]).read_bytes() == PAGE


def test_what_the_page_does_not_name_is_late_where_the_archive_has_more_pages(tmp_path: Path) -> None:
    css = (("Content-Type", "text/css"), ("Content-Encoding", "gzip"))
    page = b"<link rel=stylesheet href=//b.test/a.css><a href=/other><img src=y.gif><img loading=lazy src=lazy.gif>"
    exchanges = [
        exchange("http://a.test/", status=301, headers=(("Location", "/home"),), body=b""),
        exchange("http://a.test/home", body=page),
        exchange(
            "https://b.test/a.css", headers=css, body=gzip.compress(b"@import url(b.css); a { background: url(x.gif) }")
        ),
        exchange("https://b.test/x.gif"),
        exchange("https://b.test/b.css"),
        exchange("http://a.test/y.gif"),
        exchange("http://a.test/lazy.gif"),
        exchange("http://a.test/other"),
        exchange("http://a.test/home", method="POST"),
    ]
    facts = Facts("a", "b", entry="http://a.test/", of_one_load=False)
    made = add_site("one", exchanges, facts, tmp_path)
    assert made.manifest.late == ("b.test/x.gif", "a.test/lazy.gif", "a.test/other")


def test_a_page_has_its_own_think_time_and_not_that_of_what_leads_to_it(tmp_path: Path) -> None:
    """In the manifest an address has no scheme: that in clear is the same."""
    away = exchange("http://a.test/", status=301, headers=(("Location", "https://a.test/"),), body=b"", think_ms=2)
    moved = exchange("http://a.test/old", status=301, headers=(("Location", "/"),), body=b"", think_ms=3)
    made = add_site("one", (away, moved, exchange("https://a.test/", think_ms=110)), FACTS, tmp_path)
    assert made.manifest.think == {"a.test/": 110, "a.test/old": 3}
    quick = add_site("two", (away, exchange("https://a.test/")), FACTS, tmp_path)
    assert quick.manifest.think == {}


def test_the_archive_has_what_is_served_and_no_secrets(tmp_path: Path) -> None:
    made = add_site("one", RECORDED, FACTS, tmp_path)
    exchanges = read_warc((made.folder / ARCHIVE).read_bytes(), "").exchanges
    assert [each.url for each in exchanges] == [each.url for each in RECORDED[:3]]
    assert b"sid" not in repr(exchanges).encode()
    kept = add_site("two", RECORDED, FACTS, tmp_path, keep_secrets=True)
    assert "sid=1" in repr(read_warc((kept.folder / ARCHIVE).read_bytes(), "").exchanges)


def test_what_a_killed_lanelab_left_is_swept_away(tmp_path: Path) -> None:
    left, young, used = (tmp_path / f".{name}-x{new_site.MAKING}" for name in ("left", "young", "used"))
    for folder in (left, young, used):
        folder.mkdir()
        (folder / ARCHIVE).write_bytes(b"half")
    for folder in (left, used):
        os.utime(folder, (0, 0))
    holder = os.open(used, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        add_site("one", RECORDED, FACTS, tmp_path)
    finally:
        os.close(holder)
    assert {each.name for each in tmp_path.iterdir()} == {"one", young.name, used.name}


def test_the_same_recording_gives_the_same_archive(tmp_path: Path) -> None:
    one, two = (add_site(name, RECORDED, FACTS, tmp_path).folder / ARCHIVE for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("wanted", "entry"),
    [("b.test/late.js", "b.test/late.js"), ("http://a.test/", "a.test/"), ("https://a.test", "a.test/")],
)
def test_the_entry_is_what_was_asked_for(wanted: str, entry: str, tmp_path: Path) -> None:
    assert add_site("one", RECORDED, Facts("a", "b", entry=wanted), tmp_path).manifest.entry == entry


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("a.test/latte", "no answer for a.test/latte"),
        ("http://127.0.0.1/", "an IP address"),
        ("", "cannot be the entry"),
    ],
)
def test_an_entry_that_is_not_there_is_refused(wanted: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=why):
        add_site("one", RECORDED, Facts("a", "b", entry=wanted), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert add_site("one", RECORDED, Facts("a", "b", likely_entry=wanted), tmp_path).manifest.entry == "a.test/"


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", ".x", "-x", "x-", "a b", "x" * 65, "caf\u00e9", "a\n"])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no name for a site"):
        add_site(name, RECORDED, FACTS, tmp_path)


def test_a_site_that_is_there_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    add_site("one", RECORDED, FACTS, tmp_path)
    with pytest.raises(InputError, match="add --replace"):
        add_site("one", RECORDED[1:2], FACTS, tmp_path)
    with pytest.raises(InputError, match="has no page"):
        add_site("one", RECORDED[3:], FACTS, tmp_path, replace=True)
    assert len(load_site("one", tmp_path).objects) == 3
    add_site("one", RECORDED[1:2], FACTS, tmp_path, replace=True)
    assert len(load_site("one", tmp_path).objects) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["one"]


def test_facts_of_any_kind_make_a_manifest(tmp_path: Path) -> None:
    words = tuple(f"word {number}\n\x1b[31m" for number in range(2_000))
    left_out = (*words, "", "~", "x" * 9_999)
    asked = ("a.test/?" + "q" * 5_000, "a.test/\n")
    facts = Facts("\x00\n", "a: b # c\u2028", left_out=left_out, licence="'\"", unanswered=asked)
    manifest = add_site("one", RECORDED, facts, tmp_path).manifest
    assert (manifest.title, manifest.source) == ("a.test/", "a: b # c")
    assert manifest.unanswered == asked[:1]
    assert len(manifest.left_out) == 1_001
    assert manifest.left_out[-1] == "and 1,004 more"


# --- nothing is left of what fails -----


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """A file that may not grow is as a disk that is full, for this process alone."""
    script = f"""
import resource, signal, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from lanelab.driver.collect.new_site import Facts, add_site
from tests.kit.exchanges import exchange
import random
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    add_site("one", [exchange(body=random.Random(1).randbytes(100_000))], Facts("a", "b"), Path({str(tmp_path)!r}))
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("StoreError cannot write the site one"), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["write_warc", "read_warc", "_put"])
def test_a_failure_at_any_step_leaves_the_old_site(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_site("one", RECORDED, FACTS, tmp_path)
    before = (tmp_path / "one" / ARCHIVE).read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(new_site, step, fail)
    with pytest.raises(StoreError, match="No space left"):
        add_site("one", RECORDED[1:2], FACTS, tmp_path, replace=True)
    assert [each.name for each in tmp_path.iterdir()] == ["one"]
    assert (tmp_path / "one" / ARCHIVE).read_bytes() == before


def test_a_site_that_is_being_made_is_none_yet(tmp_path: Path) -> None:
    made = add_site("one", RECORDED, FACTS, tmp_path).folder
    made.rename(tmp_path / ".one-x.making")
    assert site_names(tmp_path) == []


def test_an_archive_that_was_changed_is_refused(tmp_path: Path) -> None:
    file = add_site("one", RECORDED, FACTS, tmp_path).folder / ARCHIVE
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(InputError, match="another sha256"):
        load_site("one", tmp_path)
    file.unlink()
    with pytest.raises(InputError, match="cannot read"):
        load_site("one", tmp_path)
