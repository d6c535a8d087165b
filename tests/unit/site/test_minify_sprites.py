"""Backgrounds that become one image, and those that cannot."""

import io
import re

import pytest
from PIL import Image, ImageChops

from lanelab.driver.site.minify import Minified
from tests.kit.images import animated_gif, drawing, pixels, saved
from tests.kit.minified import minified, page_of, paths_of, told
from tests.kit.skipping import needs_program

FIRST, SECOND = (saved(drawing(size), "PNG") for size in ((40, 30), (24, 50)))
GIF = saved(drawing((20, 20)).convert("P"), "GIF")
FILES = {"/a.png": FIRST, "/b.png": SECOND, "/c.gif": GIF}
BOX = "width:20px;height:20px"


def _made(*blocks: str, files: dict[str, bytes] | None = None, generation: str = "core-2012") -> Minified:
    # Without the filters that would inline or shorten what this is about.
    filters = "rewrite_css,sprite_images" if generation == "last" else "core-2012,sprite_images"
    style = "".join(f".x{number}{{{block}}}" for number, block in enumerate(blocks))
    padding = b"\0" * 3000  # so that nothing is inlined
    found = {name: body + padding for name, body in (files or FILES).items()}
    return minified(f"<style>{style}</style>", found, filters)


def _places(page: str) -> list[tuple[int, int]]:
    found = re.findall(r"(?<![\w#])(-?\d+)(?:px)? (-?\d+)(?:px)?", page)
    return [(int(x), int(y)) for x, y in found]


def test_each_box_shows_what_it_showed() -> None:
    made = _made(
        f"background:url(/a.png);{BOX}",
        f"background:url(/b.png) -4px -30px no-repeat #123456;{BOX}",
        f"background-image:url('/c.gif');background-position:right bottom;{BOX}",
        f"{BOX};background-image:url(/a.png);background-position:-20px -10px",
    )
    (path,) = paths_of(made)
    assert re.fullmatch(r"/a\.png\+b\.png\+c\.gif\.pagespeed\.is\.[\w-]{10}\.png", path)
    assert told(made, "sprite_images") == ["3 images became one"]
    sprite = pixels(made.objects[1].body)
    assert sprite.size == (40, 100)
    page = page_of(made)
    assert page.count(path) == 4
    assert _places(page) == [(0, 0), (-4, -60), (0, -80), (-20, -10)]
    shown = ((FIRST, 0, 0), (SECOND, 4, 30), (GIF, 0, 0), (FIRST, 20, 10))
    for (x, y), (body, left, top) in zip(_places(page), shown, strict=True):
        before = pixels(body).crop((left, top, left + 20, top + 20))
        after = sprite.crop((-x, -y, -x + 20, -y + 20))
        assert ImageChops.difference(before, after).getbbox(alpha_only=False) is None


@pytest.mark.parametrize(
    "block",
    [
        "background:url(/b.png)",
        "background:url(/b.png);width:20px",
        "background:url(/b.png);width:25px;height:20px",
        "background:url(/b.png);width:50%;height:20px",
        f"background:url(/b.png) 1px 0;{BOX}",
        f"background:url(/b.png) -5px 0;{BOX}",
        f"background:url(/b.png) 50% 0;{BOX}",
        f"background:url(/b.png) center;{BOX}",
        f"background:url(/b.png) 0.5px 0;{BOX}",
        f"background:url(/b.png) !important;{BOX}",
        f"background:url(/b.png);background-size:9px;{BOX}",
        f"background:url(/b.png);background-position-x:0;{BOX}",
        f"background-position:0 0;background:url(/b.png);{BOX}",
        f"background:url(/b.png);padding-left:2px;{BOX}",
        f"background:url(/b.png),url(/b.png);{BOX}",
        f"list-style-image:url(/b.png);{BOX}",
        f"background:url(//other.test/b.png);{BOX}",
        f"background:url(/none.png);{BOX}",
    ],
)
def test_what_would_look_different_stays(block: str) -> None:
    made = _made(f"background:url(/a.png);{BOX}", block, f"background:url(/c.gif);{BOX}")
    assert any(path.startswith("/a.png+c.gif.pagespeed.is.") for path in paths_of(made))
    assert "b.png.pagespeed.is" not in page_of(made)


def test_a_place_without_an_image_stops_it_all() -> None:
    blocks = f"background:url(/a.png);{BOX}", f"background:url(/c.gif);{BOX}"
    assert any(".is." in path for path in paths_of(_made(*blocks)))
    assert not any(".is." in path for path in paths_of(_made(*blocks, "background-position:0 -20px")))


def test_one_image_makes_no_sprite() -> None:
    assert not any(
        ".is." in path for path in paths_of(_made(f"background:url(/a.png);{BOX}", f"background:url(/a.png);{BOX}"))
    )


@needs_program("jpegtran")
def test_only_whole_opaque_png_and_gif_in_2012() -> None:
    alpha, jpeg = saved(drawing((40, 40), "RGBA"), "PNG"), saved(drawing((40, 40)), "JPEG")
    for other, last in ((alpha, True), (jpeg, False), (animated_gif(), False), (FIRST[:-30], False)):
        for generation, taken in (("core-2012", False), ("last", last)):
            files = {"/a.png": FIRST, "/b.png": other}
            made = _made(
                "background:url(/a.png);width:8px;height:8px",
                "background:url(/b.png);width:8px;height:8px",
                files=files,
                generation=generation,
            )
            assert any(".is." in path for path in paths_of(made)) is taken


def test_a_sprite_is_small_and_the_same_twice() -> None:
    blocks = f"background:url(/a.png);{BOX}", f"background:url(/b.png);{BOX}"
    one, other = _made(*blocks), _made(*blocks)
    assert one == other
    assert Image.open(io.BytesIO(one.objects[1].body)).format == "PNG"
