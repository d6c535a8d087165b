"""The stand-ins against what is published: composition, and the arithmetic of their recipes against the medians.

The minifier is ours (`minify: core-2012` where HTTP was minified, `page-2012` for SPDY), the link is arithmetic: coarse
on purpose, since the published figures do not say more.
"""

import functools
import shutil
from dataclasses import dataclass

import pytest

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.generate import generated
from lanelab.driver.site.generate.recipe import Recipe, read_recipe
from lanelab.driver.site.load import read_site_manifest
from lanelab.driver.site.minify import minify, parse_minify
from lanelab.driver.site.minify.report import sent
from lanelab.driver.site.site import StoredObject

ARCHIVE = PROJECT / "sites-archive"
NAMES = (
    *("cnn-mobile-2012", "cnet-mobile-2012", "cricinfo-mobile-2012", "politico-mobile-2012"),
    *("bbc-2012", "greenweddingshoes-2012", "google-dev-article-2012", "icons-50"),
)
RTT_MS, OTHER_MS = 150, 25
HEAD, PACKETS = 270, 1.04  # bytes of an answer's head over HTTP; what packets add


@dataclass(frozen=True)
class Sizes:
    """Of the answers of a load."""

    bytes: int  # without heads
    requests: int


@functools.cache
def site(name: str) -> tuple[Recipe, tuple[StoredObject, ...]]:
    recipe = read_recipe(ARCHIVE / name / "recipe.yaml")
    return recipe, tuple(generated(recipe))


@functools.cache
def sizes(name: str, filters: str) -> Sizes:
    """What the minifier leaves, and the server sends."""
    recipe, objects = site(name)
    wish = parse_minify(filters)
    assert wish is not None
    if wish.calls_jpegtran and shutil.which("jpegtran") is None:
        pytest.skip("jpegtran is not installed")
    left = minify(objects, recipe.host, objects[0].object.path, wish).objects
    return Sizes(sum(map(sent, left)), len(left))


def on_the_line_ms(size: int, requests: int, rate_mbps: int) -> float:
    return (size + HEAD * requests) * PACKETS * 8 / (rate_mbps * 1000)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_what_their_manifests_say(name: str) -> None:
    manifest = read_site_manifest(name)
    objects = [each.object for each in site(name)[1]]
    assert manifest.digest == digest_of(objects)
    assert manifest.synthetic
    assert all(host.endswith(".test") for host in {each.host for each in objects})
    assert manifest.entry == objects[0].url
    assert str(len(objects)) in manifest.title


def test_cnn_is_what_was_published_of_it() -> None:
    """11 objects of 38.5 KB; minified two requests and 13.5 KB on the wire; with only the page compressed 24.5 KB."""
    objects = [each.object for each in site("cnn-mobile-2012")[1]]
    types = [each.mime.partition("/")[0] if each.mime != "text/css" else "css" for each in objects]
    assert (len(objects), sum(each.size for each in objects)) == (11, 38_500)
    assert [types.count(one) for one in ("text", "css", "image")] == [1, 1, 9]
    assert next(each.host for each in objects if each.mime == "text/css") != objects[0].host
    core, page = sizes("cnn-mobile-2012", "core-2012"), sizes("cnn-mobile-2012", "page-2012")
    assert core.requests == 2
    assert (core.bytes + HEAD * 2) * PACKETS == pytest.approx(13_500, rel=0.03)
    assert page.requests == 11
    assert page.bytes + 1_400 == pytest.approx(24_500, rel=0.03)  # what SPDY added to the plain site: 39.9 - 38.5 KB


@pytest.mark.parametrize(
    ("name", "waves", "http_ms", "spdy_ms"),
    [
        ("cnn-mobile-2012", 3, 581, 719),
        ("cnet-mobile-2012", 3, 534, 665),
        ("cricinfo-mobile-2012", 4, 915, 943),
        ("politico-mobile-2012", 3, 816, 1009),
    ],
)
def test_mobile_sites_take_the_published_time(name: str, waves: int, http_ms: int, spdy_ms: int) -> None:
    """1 Mbps, 150 ms, without TLS. SPDY: no heads to speak of, and half of what the first flight may cost."""
    core, page = sizes(name, "core-2012"), sizes(name, "page-2012")
    http = waves * RTT_MS + OTHER_MS + on_the_line_ms(core.bytes, core.requests, 1)
    spdy = waves * RTT_MS + OTHER_MS + on_the_line_ms(page.bytes, 0, 1) + 16
    assert http == pytest.approx(http_ms, rel=0.05)
    assert spdy == pytest.approx(spdy_ms, rel=0.08)


@pytest.mark.parametrize(
    ("name", "http_waves", "spdy_waves", "http_ms", "spdy_ms"),
    [
        ("bbc-2012", 7, 7, 1615, 2149),
        ("greenweddingshoes-2012", 5, 6, 7841, 10374),
        ("google-dev-article-2012", 18, 12, 2975, 3218),
    ],
)
def test_other_sites_take_the_published_time(
    name: str, http_waves: int, spdy_waves: int, http_ms: int, spdy_ms: int
) -> None:
    """10 Mbps, 150 ms; HTTP without and SPDY with TLS. Slow start costs one connection 425 ms, and six 200 ms. A page
    of one step after the other has no slow start over HTTP that counts: each step is small."""
    core, page = sizes(name, "core-2012"), sizes(name, "page-2012")
    slow_ms = 0 if name == "google-dev-article-2012" else 200
    http = http_waves * RTT_MS + OTHER_MS + slow_ms + on_the_line_ms(core.bytes, core.requests, 10)
    spdy = spdy_waves * RTT_MS + OTHER_MS + 425 + on_the_line_ms(page.bytes, 0, 10)
    assert http == pytest.approx(http_ms, rel=0.05)
    assert spdy == pytest.approx(spdy_ms, rel=0.2 if name == "google-dev-article-2012" else 0.1)


def test_icons_50_is_as_described() -> None:
    objects = [each.object for each in site("icons-50")[1]]
    assert (objects[0].size, [each.mime for each in objects[1:]]) == (9_500, ["image/png"] * 50)
    assert len({each.host for each in objects}) == 1
    assert site("icons-50")[1][0].body.count(b'width="32" height="32"') == 50
