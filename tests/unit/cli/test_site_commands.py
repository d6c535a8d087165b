"""Looking at sites, comparing and removing them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.collect.fidelity.manifest_notes import keep
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run import start
from lanelab.driver.site.composition import Part, composition_of, type_of
from lanelab.driver.site.difference import difference
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.fidelity import percent, sentence_of
from lanelab.driver.site.load import load_site
from lanelab.driver.site.manifest import parse_manifest, read_manifest
from lanelab.driver.site.remove import folders_of, remove
from lanelab.driver.site.site import SiteObject
from tests.kit.fidelities import FOUND
from tests.kit.machine import ROOT

SITES = ROOT / "tests" / "data" / "sites"
ONE = SiteObject("a.test", "/x", 5, "text/html", "0" * 64, headers=(("Content-Type", "text/html"), ("ETag", "1")))


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sites, one of whose names begins with the other's; everything is made below tmp_path."""
    folder = tmp_path / "archive"
    for name in ("two", "two-origins"):
        shutil.copytree(SITES / "two-origins", folder / name)
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("LANELAB_SITES", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def call(*words: str, answer: str = "") -> str:
    done = CliRunner().invoke(lanelab, ["site", *words], input=answer)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_a_site_that_is_the_same_has_no_difference() -> None:
    found = difference([ONE], [replace(ONE, headers=(("content-type", "text/html"), ("etag", "1")))])
    assert found.nothing
    assert found.same == 1


@pytest.mark.parametrize(("answer", "stays"), [("n\n", True), ("y\n", False)])
def test_who_is_asked_decides(archive: Path, answer: str, stays: bool) -> None:
    done = CliRunner().invoke(lanelab, ["site", "remove", "two"], input=answer)
    assert (done.exit_code, (archive / "two").exists()) == (0, stays)
    assert ("the site two stays" if stays else "removed the site two") in done.output


def test_no_time_is_no_time_to_wait(archive: Path) -> None:
    with pytest.raises(InputError, match="'nan' is no time"):
        CliRunner().invoke(
            lanelab, ["site", "record", "http://a.test/", "--name", "a", "--wait", "nan"],
            catch_exceptions=False, standalone_mode=False,
        )  # fmt: skip
    assert not (archive / "a").exists()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (replace(ONE, status=404, reason="Not Found"), "status 200 OK -> 404 Not Found"),
        (replace(ONE, scheme="https"), "scheme http -> https"),
        (replace(ONE, mime="text/css"), "mime text/html -> text/css"),
        (replace(ONE, headers=(*ONE.headers, ("Vary", "*"))), "vary none -> '*'"),
        (replace(ONE, headers=ONE.headers[:1]), "etag '1' -> none"),
        (replace(ONE, sha256="1" * 64), "body other content"),
        (replace(ONE, sha256="1" * 64, size=6), "body 5 -> 6 bytes"),
        (replace(ONE, late=True), "is late now"),
    ],
)
def test_each_difference_is_told(other: SiteObject, words: str) -> None:
    (change,) = difference([ONE], [other]).changed
    assert change.what == (words,)


def test_another_method_address_or_request_body_is_another_object() -> None:
    for other in (replace(ONE, method="POST"), replace(ONE, path="/y"), replace(ONE, request_sha1="1")):
        found = difference([ONE], [other])
        assert (len(found.added), len(found.removed), found.changed) == (1, 1, ())


def test_a_reason_cannot_write_to_the_terminal() -> None:
    (change,) = difference([ONE], [replace(ONE, reason="\x9b31mred")]).changed
    assert change.what == ("status 200 OK -> 200 ?31mred",)


def test_brackets_in_addresses_and_notes_are_shown(archive: Path) -> None:
    file = archive / "two" / "site.yaml"
    file.write_text(file.read_text() + "left_out: ['http://x.test/[/b]: [red]no']\n")
    assert "http://x.test/[/b]: [red]no" in call("show", "two")


def test_two_sites_and_a_folder_are_compared(archive: Path, tmp_path: Path) -> None:
    assert "4 the same, 0 changed, 0 added, 0 removed" in call("diff", "two", "two-origins")
    elsewhere = tmp_path / "elsewhere" / "two"
    shutil.copytree(archive / "two", elsewhere)
    style = elsewhere / "content" / "www.two.test" / "style.css"
    manifest = read_manifest(elsewhere / "site.yaml")
    kept = tuple(each for each in manifest.objects if each.path != "/style.css")
    (elsewhere / "site.yaml").write_text(replace(manifest, objects=kept).to_yaml())
    style.unlink()
    found = json.loads(call("diff", "two", str(elsewhere), "--json"))
    assert found["removed"] == ["GET www.two.test/style.css"]
    assert (found["same"], found["added"], found["changed"]) == (3, [], [])


@pytest.mark.usefixtures("archive")
def test_a_site_is_described() -> None:
    shown = json.loads(call("show", "two", "--json"))
    assert shown["composition"]["image"] == {"objects": 2, "bytes": 536}
    assert [origin["host"] for origin in shown["origins"]] == ["www.two.test", "img.two.test"]
    assert (shown["statuses"], shown["encodings"], shown["kind"]) == ({"200": 4}, {"none": 4}, "files")
    assert shown["fidelity"] is None
    assert "not verified" in call("show", "two")
    assert [each["name"] for each in json.loads(call("list", "--json"))] == ["two", "two-origins"]


def test_removing_takes_the_site_and_what_was_made_of_it_alone(archive: Path, tmp_path: Path) -> None:
    load_site("two"), load_site("two-origins")
    cache = tmp_path / "build" / "sites"
    assert len([each for each in cache.iterdir() if each.is_dir()]) == 2
    assert "Aborted" in call("remove", "two", answer="n\n") or (archive / "two").is_dir()
    assert (archive / "two").is_dir()
    call("remove", "two", "--yes")
    assert [each.name for each in archive.iterdir()] == ["two-origins"]
    assert [each.name.rpartition("-")[0] for each in cache.iterdir() if each.is_dir()] == ["two-origins"]
    load_site("two-origins")


def test_a_site_that_a_run_is_using_stays(archive: Path, tmp_path: Path) -> None:
    text = "sites: [two]\nlinks: {}\narms: {http: {}}\n"
    begun = start.begin(parse_experiment(text, "one.yaml", ["two"]), "0.1.0", tmp_path / "runs" / "one", 1, {})
    try:
        with pytest.raises(InputError, match="the run runs/one is using the site two"):
            call("remove", "two", "--yes")
        call("remove", "two-origins", "--yes")
    finally:
        begun.store.close()
    call("remove", "two", "--yes")
    assert list(archive.iterdir()) == []


def test_a_site_that_cannot_be_read_can_be_removed(archive: Path) -> None:
    (archive / "two" / "site.yaml").write_text("title: [")
    call("remove", "two", "--yes")
    assert [each.name for each in archive.iterdir()] == ["two-origins"]


def test_of_a_linked_site_the_link_is_removed(archive: Path, tmp_path: Path) -> None:
    (archive / "two").rename(tmp_path / "mine")
    (archive / "two").symlink_to(tmp_path / "mine")
    remove(folders_of("two"))
    assert not (archive / "two").is_symlink()
    assert (tmp_path / "mine" / "site.yaml").is_file()


def test_the_list_tells_of_a_fidelity_that_is_stale(archive: Path) -> None:
    keep(archive / "two", FOUND)
    keep(archive / "two-origins", replace(FOUND, digest=digest_of(load_site("two-origins").objects)))
    listed = {each["name"]: each["fidelity"] for each in json.loads(call("list", "--json"))}
    assert listed == {"two": "100.0% (stale: the site has changed since)", "two-origins": "100.0%"}


@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize("name", ["none", "../archive/two", "."])
def test_only_a_site_can_be_removed(name: str) -> None:
    with pytest.raises(InputError, match="there is no site"):
        folders_of(name)


def test_types_of_objects() -> None:
    known = {"text/html": "html", "text/css": "css", "application/x-javascript": "script", "image/svg+xml": "image"}
    known |= {"application/font-woff2": "font", "video/mp4": "media", "application/ld+json": "data"}
    assert {mime: type_of(mime) for mime in known} == known
    assert type_of("application/octet-stream") == "other"
    assert composition_of([ONE, ONE]) == {"html": Part(2, 10)}


def test_fidelity_and_composition_survive_in_the_manifest() -> None:
    manifest = read_manifest(SITES / "two-origins" / "site.yaml")
    whole = replace(manifest, fidelity=FOUND, composition=composition_of(manifest.objects))
    assert parse_manifest(whole.to_yaml(), "it") == whole
    without = replace(whole, fidelity=replace(FOUND, score=None))
    assert parse_manifest(without.to_yaml(), "it") == without


@pytest.mark.parametrize("key", ["score", "digest", "protocols"])
def test_a_fidelity_that_lacks_something_is_refused(key: str) -> None:
    whole = replace(read_manifest(SITES / "two-origins" / "site.yaml"), fidelity=FOUND).to_yaml()
    cut = whole.replace(f"\n  {key}: ", f"\n  x{key}: ").replace(f"\n  {key}:\n", f"\n  x{key}:\n")
    assert cut != whole
    with pytest.raises(InputError, match=f"fidelity: it is not what lanelab writes: .*{key}"):
        parse_manifest(cut, "it")


def test_fidelity_in_words() -> None:
    assert sentence_of(None, None) == "not verified"
    assert sentence_of(FOUND, "1" * 64) == sentence_of(FOUND, None) == "100.0%"
    assert sentence_of(FOUND, "2" * 64) == "100.0% (stale: the site has changed since)"
    recorded = replace(FOUND, archive="a" * 64)
    assert sentence_of(recorded, None, "a" * 64) == sentence_of(recorded, None) == "100.0%"
    assert sentence_of(recorded, None, "b" * 64) == "100.0% (stale: the site has changed since)"
    assert sentence_of(FOUND, None, "a" * 64) == "100.0% (perhaps stale: it does not say of which recording)"
    assert sentence_of(FOUND, "1" * 64, "a" * 64) == "100.0%"  # its objects were read, and are those of the score
    assert percent(99.99) == "99.9%"  # all but a little is not all
    assert percent(None) == "no score"
