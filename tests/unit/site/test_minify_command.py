"""lanelab site minify, and who needs jpegtran."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.site.minify import SETS, Minified, parse_minify
from lanelab.driver.site.minify.report import gzipped, report_of
from lanelab.driver.site.site import SiteObject, StoredObject
from tests.kit.skipping import needs_program


def call(*words: str) -> str:
    done = CliRunner().invoke(lanelab, ["site", "minify", *words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))


def test_figures_are_of_the_bodies_before_and_after() -> None:
    page, style = b"<p>word word word word word word word</p>" * 9, b"p { color: red }" * 20
    before = [
        StoredObject(SiteObject("a.test", path, len(body), mime, "", compressed=None), body)
        for path, mime, body in (("/", "text/html", page), ("/a.css", "text/css", style), ("/a.png", "image/png", b"x"))
    ]
    after = StoredObject(SiteObject("a.test", "/", len(page), "text/html", "", compressed="gzip"), page)
    report = report_of("a", {"inline_css"}, "2012", before, Minified((after, before[2]), ()))
    assert [each.type for each in report.types] == ["html", "css", "image"]
    assert report.total.before.bytes == report.total.before.sent == len(page + style) + 1
    assert report.total.before.gzipped == gzipped(page) + gzipped(style) + 1
    assert report.total.after.bytes == len(page) + 1
    assert report.total.after.sent == gzipped(page) + 1
    waiting = replace(before[2], object=replace(before[2].object, late=True))
    assert report_of("a", {"x"}, "2012", before, Minified((after, waiting), ())).total.after.objects == 1
    assert report_of("a", {"x"}, "2012", [before[0], waiting], Minified((after, waiting), ())).total.after.objects == 2
    assert gzip.decompress(gzip.compress(page, 6)) == page
    assert abs(gzipped(page) - len(gzip.compress(page, 6))) <= 1


@needs_program("jpegtran")
def test_the_dummy_page_as_core_of_2012(tmp_path: Path) -> None:
    out = tmp_path / "made"
    report = json.loads(call("dummy", "--filters", "core-2012", "--json", "--out", str(out)))
    assert report["generation"] == "2012"
    assert set(report["filters"]) == SETS["core-2012"].filters
    assert report["total"]["before"]["objects"] == 24
    assert report["total"]["before"]["bytes"] == 1_115_300
    images = next(each for each in report["types"] if each["type"] == "image")
    assert images["after"]["objects"] == 20
    assert images["after"]["bytes"] < images["before"]["bytes"]
    assert len(report["effects"]) >= 20
    files = sorted(each for each in out.iterdir() if each.name != "minify.json")
    assert [each.stat().st_size for each in files] == [each["bytes"] for each in report["objects"]]
    assert json.loads((out / "minify.json").read_text()) == report


def test_people_see_each_effect_and_the_sums() -> None:
    text = call("dummy", "--filters", "recompress_png")
    assert "dummy.test/images/20.png" in text
    assert "1,115,300" in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("dummy", "--filters", "core-2012,recompress_pgn"), "Did you mean recompress_png"),
        (("dummy", "--filters", "off"), "nothing is to be minified"),
        (("dumy",), "Did you mean dummy"),
        (("dummy", "--filters", "core,page-2012"), "cannot be together"),
    ],
)
def test_what_is_wrong_is_named(words: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        call(*words)


def test_a_folder_that_is_there_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there already"):
        call("dummy", "--filters", "add_head", "--out", str(tmp_path))


@pytest.mark.parametrize(
    ("filters", "needed"),
    [("core-2012", True), ("core", True), ("page-2012", False), ("recompress_png", False), ("resize_images", True)],
)
def test_jpegtran_is_needed_where_jpeg_files_may_be_rewritten(filters: str, needed: bool) -> None:
    wish = parse_minify(filters)
    assert wish is not None
    assert wish.calls_jpegtran is needed
