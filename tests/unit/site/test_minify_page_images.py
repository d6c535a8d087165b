"""What the filters do to the images of a page, through the whole of minify."""

import re

import pytest

from lanelab.driver.site.minify.image_files import Box, size_of
from tests.kit.images import drawing, photo, saved
from tests.kit.minified import OLD_CHROME, minified, page_of, paths_of, told
from tests.kit.skipping import needs_program

PNG = saved(drawing((60, 40)), "PNG", compress_level=0)
PHOTO = saved(photo((60, 40)), "PNG")
JPEGTRAN = needs_program("jpegtran")


def _padded(body: bytes, size: int) -> bytes:
    """A PNG of this size that no filter changes: those that shorten are off."""
    return body + b"\0" * (size - len(body))


@pytest.mark.parametrize(("filters", "below"), [("core-2012", 2048), ("core", 3072)])
def test_images_are_inlined_below_the_threshold_of_the_generation(filters: str, below: int) -> None:
    for size, inlined in ((below - 1, True), (below, False)):
        damaged = _padded(saved(drawing((8, 8)), "PNG")[:-20], size)  # so that it is kept as it is
        made = minified('<img src="/a.png">', {"/a.png": damaged}, filters)
        assert ("data:image/png;base64," in page_of(made)) is inlined
        assert (paths_of(made) == []) is inlined
        assert "kept: it is damaged" in told(made, "recompress_png")


def test_an_image_gets_a_name_by_its_content() -> None:
    made = minified('<img src="i/a.png" alt=x>', {"/i/a.png": PNG}, "recompress_png")
    (path,) = paths_of(made)
    assert re.fullmatch(r"/i/xa\.png\.pagespeed\.ic\.[\w-]{10}\.png", path)
    assert path.removeprefix("/") in page_of(made)
    assert told(made, "recompress_png") == ["recompressed"]
    again = minified('<img src="i/a.png" alt=x>', {"/i/a.png": PNG}, "recompress_png")
    assert again == made


@pytest.mark.parametrize(
    ("tag", "name", "box"),
    [
        ('<img src="/a.png" width=30 height=20>', "30x20xa.png", Box(30, 20)),
        ('<img src="/a.png" width="30">', "30xNxa.png", Box(30, 20)),
        ('<img src="/a.png" style="height:20px">', "Nx20xa.png", Box(30, 20)),
        ('<img src="/a.png" width=60 height=40>', "60x40xa.png", Box(60, 40)),
        ('<img src="/a.png" width="50%">', "xa.png", Box(60, 40)),
        ('<input type="image" src="/a.png" width=30 height=20>', "30x20xa.png", Box(30, 20)),
    ],
)
def test_a_name_says_the_size_that_the_page_says(tag: str, name: str, box: Box) -> None:
    made = minified(tag, {"/a.png": PHOTO}, "recompress_png,resize_images")
    (path,) = paths_of(made)
    assert path.startswith(f"/{name}.pagespeed.ic.")
    assert size_of(made.objects[1].body) == box


def test_inlining_drops_a_size_that_is_the_images_own() -> None:
    for size, gone in (("width=60 height=40", True), ("width=60 height=41", False), ("width=60", False)):
        page = page_of(minified(f'<img src="/a.png" {size}>', {"/a.png": PNG}, "inline_images,recompress_png"))
        assert 'src="data:image/png;base64,' in page
        assert (size not in page) is gone


def test_no_data_uris_for_browsers_that_take_none() -> None:
    for agent, taken in (
        (OLD_CHROME, True),
        ("", True),
        ("Mozilla/4.0 (compatible; MSIE 7.0)", False),
        ("curl", False),
    ):
        made = minified('<img src="/a.png">', {"/a.png": PNG}, "core-2012", user_agent=agent)
        assert ("data:" in page_of(made)) is taken


def test_webp_is_for_browsers_that_take_it() -> None:
    png = saved(photo((160, 160)), "PNG")
    for agent, extension in ((OLD_CHROME, "webp"), (OLD_CHROME.replace("Chrome/20", "Chrome/15"), "jpg")):
        made = minified('<img src="/a.png">', {"/a.png": png}, "core", user_agent=agent)
        assert paths_of(made)[0].endswith(f".{extension}")
        assert made.objects[1].object.mime == ("image/webp" if extension == "webp" else "image/jpeg")


def test_images_of_other_hosts_stay() -> None:
    page = '<img src="http://cdn.test/a.png">'
    made = minified(page, {"//cdn.test/a.png": PNG}, "core-2012")
    assert paths_of(made) == ["/a.png"]
    assert "cdn.test/a.png" in page_of(made)


@JPEGTRAN
def test_a_jpeg_keeps_its_kind() -> None:
    made = minified('<img src="/a.jpg">', {"/a.jpg": saved(photo(), "JPEG", quality=95)}, "core-2012")
    assert paths_of(made)[0].endswith(".jpg")
    assert made.objects[1].object.mime == "image/jpeg"


def test_sizes_are_inserted_where_the_page_says_none() -> None:
    tags = '<img src="/a.png"><img src="/a.png" width=9><img src="/a.png" style="height:2em">'
    tags += '<img src="//o.test/a.png">'
    page = page_of(minified(tags, {"/a.png": PNG, "//o.test/a.png": PNG}, "insert_img_dimensions"))
    assert page.count('width="60" height="40"') == 1
    assert page.startswith('<img src="/a.png" width="60" height="40">')


@pytest.mark.parametrize(("filters", "most"), [("core-2012,inline_preview_images", 5), ("inline_preview_images", 7)])
def test_previews_are_for_the_first_images_and_real_ones_follow(filters: str, most: int) -> None:
    files = {f"/{number}.png": saved(photo((120, 80 + number)), "PNG") for number in range(7)}
    made = minified("".join(f'<img src="{name}">' for name in files), files, filters)
    page = page_of(made)
    assert page.count("pagespeed_high_res_src=") == most
    assert page.count("data:image/jpeg;base64,") == most
    assert page.count("<script") == 1
    assert page.index("<script") > page.rindex("pagespeed_high_res_src=")
    assert len(paths_of(made)) == 7  # the script asks for them before the page has loaded


@pytest.mark.parametrize(("size", "wanted"), [(3071, False), (3072, True)])
def test_previews_are_for_images_of_some_size(size: int, wanted: bool) -> None:
    files = {"/a.png": _padded(saved(photo((24, 24)), "PNG"), size)}
    page = page_of(minified('<img src="/a.png">', files, "inline_preview_images"))
    assert ("pagespeed_high_res_src" in page) is wanted


def test_lazy_images_wait_and_others_do_not() -> None:
    tags = (
        '<img src="/0.png"><head></head><img src="/1.png"><img src="/2.png" onload="f()">'
        '<img src="data:image/gif,x">'
        '<img src="/3.png" class="a dfcg-metabox"><noscript><img src="/4.png"></noscript>'
        '<input type=image src="/5.png">'
    )
    page = page_of(minified(tags, {}, "lazyload_images"))
    assert page.count("pagespeed_lazy_src=") == 1
    assert 'pagespeed_lazy_src="/1.png"' in page
    assert page.index("lazyLoadInit") < page.index("</head>")
    made = minified(tags, {"/0.png": PNG, "/1.png": PNG, "/2.png": PNG}, "lazyload_images")
    assert paths_of(made) == ["/0.png", "/2.png"]
    for without in ("<img src=/1.png>", '<head><script src="/jquery.sexyslider.js"></script></head><img src=/1.png>'):
        assert page_of(minified(without, {}, "lazyload_images")) == without


@pytest.mark.parametrize(("filters", "below"), [("core-2012", 2048), ("core,inline_images", 0)])
def test_images_of_style_sheets_have_a_threshold_of_their_own(filters: str, below: int) -> None:
    style = "<style>p { background: url(/a.png) }</style>"
    for size, inlined in ((below - 1, True), (below, False)) if below else ((100, False),):
        damaged = _padded(saved(drawing((8, 8)), "PNG")[:-20], size)
        made = minified(style, {"/a.png": damaged}, filters)
        assert ("url(data:image/png;base64," in page_of(made)) is inlined
        assert (paths_of(made) == []) is inlined


def test_images_of_style_sheets_are_recompressed() -> None:
    made = minified("<style>p { background: url('/a.png') }</style>", {"/a.png": PNG}, "rewrite_css,recompress_png")
    (path,) = paths_of(made)
    assert re.fullmatch(r"/xa\.png\.pagespeed\.ic\.[\w-]{10}\.png", path)
    assert path[1:] in page_of(made)
