"""Pages that were composed for studies against what their studies say of them."""

import functools
import math
from decimal import Decimal

import pytest

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.site.generate import generated
from lanelab.driver.site.generate.recipe import Recipe, read_recipe
from lanelab.driver.site.site import SiteObject

SEGMENT = 1448  # bytes that a packet of 1500 carries, with timestamps
LEAST_HEAD, MOST_HEAD = 150, 500  # bytes of an answer's head


def recipe(name: str) -> Recipe:
    return read_recipe(PROJECT / "sites-archive" / name / "recipe.yaml")


@functools.cache
def objects(name: str) -> tuple[SiteObject, ...]:
    return tuple(each.object for each in generated(recipe(name)))


def size(name: str) -> int:
    return sum(each.size for each in objects(name))


@pytest.mark.parametrize(("name", "segments"), [("file-28-segments", 28), ("file-40-segments", 40)])
def test_a_file_fills_as_many_segments_as_its_name_says(name: str, segments: int) -> None:
    assert len(objects(name)) == 1
    for head in (LEAST_HEAD, MOST_HEAD):
        assert math.ceil((size(name) + head) / SEGMENT) == segments


@pytest.mark.parametrize(("rate_mbps", "published_s"), [(1, 5.3), (14, 1.8), (25, 1.7)])
def test_the_page_of_2014_has_the_published_optimum(rate_mbps: int, published_s: float) -> None:
    """One round trip of 120 ms, all bytes at the link's rate, and what scripts compute, with 0.11 s of the browser's
    own."""
    computing_s = Decimal(0)
    for group in recipe("median-page-2014").groups:
        computing_s += len(group.sizes) * Decimal(group.think.ns) / 10**9
    optimum_s = 0.12 + size("median-page-2014") * 8 / (rate_mbps * 1e6) + float(computing_s) + 0.11
    assert optimum_s == pytest.approx(published_s, abs=0.05)


@pytest.mark.parametrize(
    ("name", "count", "size_bytes"),
    [
        *[("object-100-kb", 2, 101_000), ("object-1-mb", 2, 1_001_000), ("object-5-mb", 2, 5_001_000)],
        *[("page-18-of-2020", 18, 430_000), ("page-59-of-2020", 59, 1_080_000), ("page-99-of-2020", 99, 1_750_000)],
    ],
)
def test_pages_of_2020_have_the_published_count_and_weight(name: str, count: int, size_bytes: int) -> None:
    assert (len(objects(name)), size(name)) == (count, size_bytes)


def test_the_page_of_2014_comes_from_the_published_number_of_servers() -> None:
    assert len({each.host for each in objects("median-page-2014")}) == 20


@pytest.mark.parametrize(
    ("apart", "combined"), [("ten-icons", "ten-icons-sprite"), ("ten-scripts", "ten-scripts-combined")]
)
def test_a_pair_differs_in_its_number_of_components_alone(apart: str, combined: str) -> None:
    def by_type(name: str) -> dict[str, int]:
        of_page: dict[str, int] = {}
        for each in objects(name):
            of_page[each.mime] = of_page.get(each.mime, 0) + each.size
        return of_page

    assert by_type(apart) == by_type(combined)
    assert len(objects(apart)) == 11
    assert len(objects(combined)) == 1 + len(by_type(apart)) - 1


def test_inlined_icons_take_what_base64_makes_of_them() -> None:
    icons = [each.size for each in objects("ten-icons")[1:]]
    page = objects("ten-icons")[0].size
    as_text = sum(4 * math.ceil(each / 3) for each in icons)
    assert len(objects("ten-icons-inline")) == 1
    assert size("ten-icons-inline") == pytest.approx(page + as_text, abs=100)


def test_all_components_of_the_page_with_a_cdn_are_there() -> None:
    page, *components = objects("page-and-cdn")
    assert {each.host for each in components} == {"cdn.rules.test"}
    assert page.host == "www.rules.test"
