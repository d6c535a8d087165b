"""Minify on whole sites: every filter has its place, and the published compositions come out."""

import re
import zlib
from pathlib import Path

import pytest

from lanelab.driver.site.load import objects_of, read_site_manifest
from lanelab.driver.site.minify import ALIASES, FILTERS, GENERATIONS, SETS, Minified, minify, parse_minify
from lanelab.driver.site.minify.steps import steps
from lanelab.driver.site.site import StoredObject

ROOT = Path(__file__).parents[3]
# They say how another filter rewrites images, and do nothing alone.
PARTS = {"sprite_images", "jpeg_subsampling", "strip_image_color_profile", "strip_image_meta_data"}
GZIP_FRAME_BYTES = 12  # what gzip has around deflated data more than zlib


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_filter_has_its_step_and_its_row(generation: str) -> None:
    names = [name for step in steps(GENERATIONS[generation]) for name in step.filters]
    assert set(names) | PARTS == set(FILTERS)
    reference = (ROOT / "docs/reference/minify.md").read_text()
    rows = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]*)\|", reference, re.MULTILINE))))
    assert set(FILTERS) <= rows


def test_sets_and_aliases_name_filters() -> None:
    assert {name for names in ALIASES.values() for name in names} <= set(FILTERS)
    assert all(wish.filters <= set(FILTERS) for wish in SETS.values())


def minified(site: str, wish: str) -> Minified:
    manifest = read_site_manifest(site)
    objects = list(objects_of(ROOT / "sites-archive" / site, manifest))
    found = parse_minify(wish)
    assert found is not None
    return minify(objects, manifest.entry_host, manifest.entry_path, found)


def sent(each: StoredObject) -> int:
    """Bytes of the body as the server sends it."""
    return len(zlib.compress(each.body)) + GZIP_FRAME_BYTES if each.object.compressed else len(each.body)


def test_the_dummy_page() -> None:
    """24 objects become 21: the three sheets are 280 bytes in the page. Published: 997 kB with packets."""
    made = minified("dummy", "core-2012")
    assert len(made.objects) == 21
    page = made.objects[0].body.decode()
    (style,) = re.findall(r"<style>(.*?)</style>", page)
    assert len(style) == 280
    assert len(re.findall(r'"http://dummy.test/images/[0-9]+x[0-9]+x[0-9]{2}.png.pagespeed.ic.', page)) == 20
    assert 880_000 < sum(sent(each) for each in made.objects) < 910_000


def test_the_dummy_page_where_nothing_can_be_fetched() -> None:
    made = minified("dummy", "page-2012")
    assert len(made.objects) == 24
    assert [each.object.compressed for each in made.objects] == ["gzip"] + [None] * 23
    assert sum(len(each.body) for each in made.objects) == 1_115_300


def test_the_stand_in_for_the_mobile_page() -> None:
    """11 objects become two, of which the sheet is on another host. Published: 13.5 kB with packets."""
    made = minified("cnn-mobile-2012", "core-2012")
    assert [each.object.mime for each in made.objects] == ["text/html", "text/css"]
    assert made.objects[0].body.count(b"data:image/") == 9
    assert 11_500 < sum(sent(each) for each in made.objects) < 13_500


def test_the_stand_in_where_nothing_can_be_fetched() -> None:
    """Published for SPDY: 24.5 kB with packets."""
    made = minified("cnn-mobile-2012", "page-2012")
    assert len(made.objects) == 11
    assert 22_000 < sum(sent(each) for each in made.objects) < 24_500
