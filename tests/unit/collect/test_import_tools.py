"""With other people's tools: what they recorded is imported, and what is written here they read."""

import io
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.collect.importers.registry import import_from
from lanelab.driver.collect.new_site import ARCHIVE, Facts, NewSite, add_site
from lanelab.driver.collect.wayback import Wayback, page
from lanelab.driver.site.archive.make import make
from lanelab.driver.site.site import SiteObject, StoredObject
from tests.kit import archive_tools
from tests.kit.archive_tools import FASTWARC, NPM_PACKAGE, READER, WACZ, recording, tool
from tests.kit.exchanges import exchange

pytestmark = pytest.mark.long

IANA = ("pywb==2.10.0", "sample_archive/warcs/iana.warc.gz")


def site_of(path: Path, archive: Path) -> NewSite:
    imported = import_from(path, "files.test")[1]
    facts = Facts(path.name, "a test", likely_entry=imported.entry, left_out=imported.left_out)
    return add_site("one", imported.exchanges, facts, archive)


def objects_in(site: NewSite) -> list[StoredObject]:
    return list(make(site.folder, site.manifest))


@pytest.mark.parametrize(
    ("package", "member", "entry", "objects", "hosts"),
    [
        (*IANA, "www.iana.org/", 43, 1),
        ("pywb==2.10.0", "sample_archive/warcs/example.arc.gz", "example.com/", 1, 1),
        ("pywb==2.10.0", "sample_archive/warcs/example-wget-1-14.warc.gz", "example.com/", 1, 1),
        ("pywb==2.10.0", "sample_archive/warcs/example-bad.warc.gz.bad", "example.com/?example=1", 2, 2),
        ("pywb==2.10.0", "sample_archive/warcs/httpbin-resource.warc.gz", "httpbin.org/anything/resource.json", 1, 1),
        ("pywb==2.10.0", "sample_archive/warcs/missing-status-text.warc", "iana.org/bads", 1, 1),
        ("warcat==2.2.5", "example/at.warc.gz", "www.archiveteam.org/index.php?title=Main_Page", 2, 1),
        ("har2warc==1.0.4", "test/data/http2.github.io.har", "http2.github.io/", 18, 7),
        ("har2warc==1.0.4", "test/data/example.har", "www.iana.org/domains/reserved", 12, 1),
        (NPM_PACKAGE, "test/test.har", "staticxx.facebook.com/connect/xd_arbiter/r/XBwzv5Yrm_1.js?version=42", 129, 30),
    ],
)
def test_what_others_recorded_is_imported(
    package: str, member: str, entry: str, objects: int, hosts: int, tmp_path: Path
) -> None:
    site = site_of(recording(package, member, tmp_path), tmp_path / "sites")
    found = objects_in(site)
    assert (site.manifest.entry, len(found), len({each.object.host for each in found})) == (entry, objects, hosts)


def test_a_revisit_of_others_has_its_body(tmp_path: Path) -> None:
    """123 of the records of this archive say no more than "the same as before"."""
    file = recording(*IANA, tmp_path)
    kinds = [each.rec_type for each in ArchiveIterator(io.BytesIO(file.read_bytes()), no_record_parse=True)]
    assert kinds.count("revisit") == 123
    imported = import_from(file, "files.test")[1]
    assert len(imported.exchanges) == kinds.count("response") + kinds.count("revisit")
    assert imported.left_out == ()


# --- what is written here -----


@pytest.fixture
def written(tmp_path: Path) -> NewSite:
    """Pages of others, and what is rare among them."""
    exchanges = list(import_from(recording(*IANA, tmp_path), "files.test")[1].exchanges)
    exchanges += [
        exchange("http://odd.test/latin", headers=(("Content-Type", "text/html"), ("X", "caf\xe9"))),
        exchange("http://odd.test/h2", protocol="h2", reason=""),
        exchange("http://odd.test/chunked", headers=(("Content-Type", "text/html"), ("Transfer-Encoding", "chunked"))),
        exchange("http://odd.test/gone", status=404, reason="Not Found"),
        exchange("http://odd.test/moved", status=302, headers=(("Location", "/gone"),), body=b""),
    ]
    return add_site("one", exchanges, Facts("One", "a test"), tmp_path / "sites")


def test_fastwarc_reads_every_record_as_http(written: NewSite) -> None:
    ours = [PROJECT / "sites-archive" / name / ARCHIVE for name in ("iana", "thirty-origins")]
    for archive in (written.folder / ARCHIVE, *ours):
        done = tool(FASTWARC, archive, lock=READER)
        assert done.returncode == 0, done.stderr
        counts = Counter(done.stdout.splitlines())
        assert set(counts) == {"warcinfo False True", "response True True", "request True True"}
        assert counts["response True True"] == counts["request True True"] >= 40


def test_wacz_takes_it(written: NewSite, tmp_path: Path) -> None:
    packed = tmp_path / "x.wacz"
    made = tool(WACZ, "create", "-o", packed, written.folder / ARCHIVE)
    assert made.returncode == 0, made.stdout + made.stderr
    valid = tool(WACZ, "validate", "-f", packed)
    assert valid.returncode == 0, valid.stdout + valid.stderr
    assert "Valid" in valid.stdout + valid.stderr
    again = site_of(packed, tmp_path / "again")
    assert _answers(objects_in(again)) == _answers(objects_in(written))


def test_pywb_replays_it(written: NewSite, tmp_path: Path) -> None:
    # pywb takes an address with a slash at its end, and one without, for the same.
    addresses = Counter(each.object.url.rstrip("/") for each in objects_in(written))
    objects = [each for each in objects_in(written) if addresses[each.object.url.rstrip("/")] == 1]
    assert len(objects) >= 20
    with archive_tools.pywb(written.folder / ARCHIVE, tmp_path / "pywb") as endpoint:
        for each in objects:
            status, body = _asked(f"{endpoint}/2014id_/{each.object.scheme}://{each.object.url}")
            assert (status, body) == (each.object.status, each.body), each.object.url


def test_a_page_comes_from_pywb_as_it_was_archived(tmp_path: Path) -> None:
    file = recording(*IANA, tmp_path)
    direct = {each.object.url: each for each in objects_in(site_of(file, tmp_path / "direct"))}
    with archive_tools.pywb(file, tmp_path / "pywb") as endpoint:
        imported = page(Wayback(endpoint), "www.iana.org", "20140101")
    site = add_site("page", imported.exchanges, Facts("IANA", endpoint, entry=imported.entry), tmp_path / "sites")
    found = {each.object.url: each for each in objects_in(site)}
    assert (site.manifest.entry, site.manifest.date) == ("www.iana.org/", "2014-01-26T20:06:24Z")
    assert {"www.iana.org/", "www.iana.org/_css/2013.1/screen.css", "www.iana.org/_js/2013.1/jquery.js"} <= set(found)
    for url, each in found.items():
        assert (each.body, each.object.mime) == (direct[url].body, direct[url].object.mime), url
    assert "www.iana.org/_css/2013.1/fonts/OpenSans-Light.ttf" in imported.unanswered
    assert not set(imported.unanswered) & set(direct)


def _answers(objects: list[StoredObject]) -> set[tuple[SiteObject, bytes]]:
    return {(each.object, each.body) for each in objects}


def _asked(url: str) -> tuple[int, bytes]:
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            return None

    try:
        with urllib.request.build_opener(Stay).open(url, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
