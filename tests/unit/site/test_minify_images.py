"""Images: each rule on and off, thresholds from both sides, every made image decodable, and nothing that breaks it."""

import io
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from lanelab.driver.site.minify import image_codecs as codecs
from lanelab.driver.site.minify.clients import takes_data_uris, takes_deferred_scripts, takes_lossless_webp, takes_webp
from lanelab.driver.site.minify.image_files import Box, Kind, kind_of, size_of
from lanelab.driver.site.minify.image_steps import has_any, length_of, wanted_of
from lanelab.driver.site.minify.images import (
    ImageRules,
    Kept,
    Rewritten,
    data_uri,
    is_inlined,
    is_photo,
    preview,
    rewrite,
    smaller_box,
)
from tests.kit.images import animated_gif, drawing, photo, pixels, saved
from tests.kit.skipping import needs_program

OF_2012 = ImageRules(jpeg=True, png=True, gif_to_png=True, resize=True)
LAST = replace(
    OF_2012,
    webp=True,
    png_to_jpeg=True,
    to_webp=True,
    to_webp_lossless=True,
    jpeg_quality=85,
    progressive_from_bytes=10_240,
    resize_transparent=True,
)
LAST_WITHOUT_WEBP = replace(LAST, to_webp=False, to_webp_lossless=False)
JPEGTRAN = needs_program("jpegtran")


def _same_pixels(one: bytes, other: bytes) -> bool:
    before, after = pixels(one), pixels(other)
    return before.size == after.size and ImageChops.difference(before, after).getbbox(alpha_only=False) is None


def _rewritten(body: bytes, rules: ImageRules, wanted: tuple[int | None, int | None] = (None, None)) -> Rewritten:
    made = rewrite(body, rules, wanted)
    assert isinstance(made, Rewritten), made
    assert len(made.body) < len(body)
    assert kind_of(made.body) is made.kind
    assert size_of(made.body) == made.box == Box(*pixels(made.body).size)
    return made


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_png_keeps_every_pixel(mode: str) -> None:
    image = Image.new(mode, (40, 30), 7) if mode == "I;16" else drawing(mode=mode)
    body = saved(image, "PNG", compress_level=0)
    made = _rewritten(body, OF_2012)
    assert made.kind is Kind.PNG
    assert _same_pixels(body, made.body)


@pytest.mark.parametrize("colours", ["P", "L"])
def test_gif_of_one_frame_becomes_png_with_the_same_pixels(colours: str) -> None:
    body = saved(photo().convert(colours), "GIF")
    made = rewrite(body, OF_2012)
    if isinstance(made, Rewritten):
        assert made.kind is Kind.PNG
        assert _same_pixels(body, made.body)
    # A drawing surely gains.
    body = saved(drawing((200, 100)).convert(colours), "GIF")
    made = _rewritten(body, OF_2012)
    assert made.kind is Kind.PNG
    assert _same_pixels(body, made.body)


def test_gif_with_a_transparent_colour_stays_transparent() -> None:
    image = drawing((300, 200)).convert("P")
    image.putpixel((0, 0), 0)
    body = saved(image, "GIF", transparency=0)
    made = _rewritten(body, OF_2012)
    assert _same_pixels(body, made.body)
    assert pixels(made.body).getchannel("A").getpixel((0, 0)) == 0


def test_gif_stays_gif_where_the_filter_is_off() -> None:
    assert isinstance(rewrite(saved(drawing(), "GIF"), replace(OF_2012, gif_to_png=False)), Kept)


def test_animations_are_kept() -> None:
    assert rewrite(animated_gif(), LAST) == Kept("it is animated")
    frames = [drawing(), drawing((64, 48), "L").convert("RGB")]
    body = saved(frames[0], "PNG", save_all=True, append_images=frames[1:])
    assert codecs.is_animated_png(body)
    assert rewrite(body, LAST) == Kept("it is animated")


@JPEGTRAN
def test_jpeg_of_2012_changes_no_pixel_and_is_not_progressive() -> None:
    body = saved(photo((200, 160)), "JPEG", quality=92, exif=Image.Exif().tobytes(), comment=b"words" * 50)
    made = _rewritten(body, OF_2012)
    assert made.kind is Kind.JPEG
    assert _same_pixels(body, made.body)
    assert b"words" not in made.body
    assert "progression" not in Image.open(io.BytesIO(made.body)).info


@JPEGTRAN
def test_progressive_begins_at_its_threshold() -> None:
    body = saved(photo((200, 160)), "JPEG", quality=70)
    at = replace(LAST_WITHOUT_WEBP, progressive_from_bytes=len(body))
    above = replace(LAST_WITHOUT_WEBP, progressive_from_bytes=len(body) + 1)
    assert "progression" in Image.open(io.BytesIO(_rewritten(body, at).body)).info
    assert "progression" not in Image.open(io.BytesIO(_rewritten(body, above).body)).info


@JPEGTRAN
def test_only_a_jpeg_above_the_wanted_quality_loses_any() -> None:
    fine, coarse = (saved(photo(), "JPEG", quality=quality) for quality in (95, 80))
    assert not _same_pixels(fine, _rewritten(fine, LAST_WITHOUT_WEBP).body)
    assert _same_pixels(coarse, _rewritten(coarse, LAST_WITHOUT_WEBP).body)


@pytest.mark.parametrize("quality", [50, 75, 85, 95, 100])
def test_quality_is_read_from_the_tables(quality: int) -> None:
    estimate = codecs.jpeg_quality(codecs.decode(saved(photo(), "JPEG", quality=quality)))
    assert estimate is not None
    assert abs(estimate - quality) <= 3
    assert codecs.jpeg_quality(drawing()) is None


def test_a_jpeg_that_its_metadata_turns_is_kept() -> None:
    exif = Image.Exif()
    exif[codecs.ORIENTATION] = 6
    body = saved(photo(), "JPEG", quality=98, exif=exif.tobytes())
    assert rewrite(body, OF_2012) == Kept("its metadata turns it, and browsers obey that")


def test_photos_become_jpeg_or_webp_and_drawings_stay_exact() -> None:
    assert is_photo(photo())
    assert not is_photo(drawing())
    assert not is_photo(photo((2, 50)))
    assert _rewritten(saved(photo(), "PNG"), LAST_WITHOUT_WEBP).kind is Kind.JPEG
    assert _rewritten(saved(photo(), "PNG"), LAST).kind is Kind.WEBP
    body = saved(drawing((200, 100)), "PNG", compress_level=1)
    made = _rewritten(body, LAST)
    assert made.kind is Kind.WEBP
    assert _same_pixels(body, made.body)
    transparent = saved(drawing((200, 100), "RGBA"), "PNG", compress_level=1)
    visible = pixels(_rewritten(transparent, LAST).body)
    assert ImageChops.difference(visible.getchannel("A"), pixels(transparent).getchannel("A")).getbbox() is None


def test_jpeg_becomes_webp_where_it_is_taken() -> None:
    assert _rewritten(saved(photo(), "JPEG", quality=95), LAST).kind is Kind.WEBP


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        ((100, 80), None),
        ((100, 79), Box(100, 79)),
        ((101, 80), None),
        ((50, None), Box(50, 40)),
        ((None, 40), Box(50, 40)),
        ((33, None), Box(33, 26)),
        ((1, None), None),  # its height would be 0
        ((200, 10), Box(200, 10)),  # a smaller area, though wider
        ((None, None), None),
    ],
)
def test_an_image_is_resized_if_its_area_drops(wanted: tuple[int | None, int | None], shown: Box | None) -> None:
    assert smaller_box(Box(100, 80), wanted) == shown


@JPEGTRAN
def test_resizing_needs_an_opaque_image_in_2012() -> None:
    for form in ("PNG", "JPEG"):
        made = _rewritten(saved(photo((96, 80)), form), OF_2012, (48, 40))
        assert made.box == Box(48, 40)
    body = saved(drawing((200, 100), "RGBA"), "PNG", compress_level=1)
    assert _rewritten(body, OF_2012, (50, 25)).box == Box(200, 100)
    assert _rewritten(body, LAST, (50, 25)).box == Box(50, 25)
    assert _rewritten(body, replace(OF_2012, resize=False), (50, 25)).box == Box(200, 100)


def test_resizing_takes_the_average_of_the_area() -> None:
    image = Image.new("L", (4, 2), 0)
    image.paste(200, (0, 0, 2, 1))
    assert list(codecs.resized(image, Box(2, 1)).tobytes()) == [100, 0]


def test_an_image_that_gains_nothing_is_kept() -> None:
    once = _rewritten(saved(drawing(), "PNG", compress_level=0), OF_2012).body
    again = rewrite(once, OF_2012)
    assert isinstance(again, Kept)
    assert "would have" in again.why


@JPEGTRAN
def test_the_same_bytes_twice() -> None:
    for body in (saved(photo(), "PNG"), saved(photo(), "JPEG", quality=95), saved(drawing((90, 90)), "GIF")):
        for rules in (OF_2012, LAST, LAST_WITHOUT_WEBP):
            assert rewrite(body, rules, (40, None)) == rewrite(body, rules, (40, None))


def test_previews_have_thresholds_on_both_sides() -> None:
    body = saved(photo(), "PNG")
    assert preview(body, len(body), len(body)) is not None
    assert preview(body, len(body) + 1, len(body) + 2) is None
    assert preview(body, 0, len(body) - 1) is None
    small = preview(body, 0, 10**6)
    assert small is not None
    assert pixels(small).size == pixels(body).size
    assert preview(saved(drawing(mode="RGBA"), "PNG"), 0, 10**6) is None
    assert preview(animated_gif(), 0, 10**6) is None


def test_inlining_is_below_the_threshold_and_before_base64() -> None:
    assert is_inlined(2047, 2048)
    assert not is_inlined(2048, 2048)
    assert not is_inlined(0, 0)
    assert data_uri(b"abc", Kind.PNG) == "data:image/png;base64,YWJj"


@pytest.mark.parametrize(
    ("value", "pixels_"),
    [
        *[("12", 12), (" +12 ", 12), ("12px", 12), ("12.4", 12), ("12.5", 13), ("12.", 12), ("12 px ", 12), ("007", 7)],
        *[("0", None), ("", None), ("12%", None), ("12em", None), ("-3", None), ("99999999999", None), (None, None)],
        *[("2147483647", 2147483647), ("2147483648", None), ("x", None), ("12px!", None), ("٣", None)],
    ],
)
def test_lengths(value: str | None, pixels_: int | None) -> None:
    assert length_of(value) == pixels_


def test_a_style_counts_for_more_than_attributes() -> None:
    assert wanted_of("10", "20", None) == (10, 20)
    assert wanted_of("10", "20", "width: 30px") == (30, 20)
    assert wanted_of("10", "20", "WIDTH:30px;height:40px") == (30, 40)
    assert wanted_of("10", "20", "width:50%") == (None, None)
    assert wanted_of("10", "20", "max-width:50%; min-height: 2em") == (10, 20)
    assert wanted_of(None, None, "border: 0") == (None, None)
    assert has_any(None, None, "width:50%")
    assert has_any("", None, None)
    assert not has_any(None, None, "border-width:1px")


CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/536.5 (KHTML, like Gecko) Chrome/{}.0 Safari/536.5"
IE = "Mozilla/5.0 (compatible; MSIE {}; Windows NT 6.1)"


def test_what_browsers_take() -> None:
    assert all(takes_data_uris(each) for each in ("", CHROME.format(20), "x Firefox/3.6", IE.format("8.0")))
    assert not any(takes_data_uris(each) for each in ("curl/7.2", "x Firefox/2.0", IE.format("7.0"), "Opera/6.1"))
    assert [
        version for version in (8, 9, 10, 13, 14, 16, 17, 20, 156) if takes_webp(CHROME.format(f"{version}.0"))
    ] == [*(10, 13, 17, 20, 156)]
    assert takes_webp("")
    assert [version for version in (20, 24, 25, 156) if takes_lossless_webp(CHROME.format(f"{version}.0"))] == [25, 156]
    assert takes_deferred_scripts(IE.format("9.0"))
    assert not takes_deferred_scripts(IE.format("8.0"))


@needs_program("jpegtran")
@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("rules", [OF_2012, LAST], ids=["2012", "last"])
def test_damaged_images_are_kept_with_a_reason(form: str, rules: ImageRules) -> None:
    body = saved(photo(), form)
    made = random.Random(form)
    kinds = []
    for _ in range(60):
        damaged = bytearray(body[: made.randrange(len(body))] if made.random() < 0.5 else body)
        for _ in range(made.randrange(1, 6)):
            if damaged:
                damaged[made.randrange(len(damaged))] = made.randrange(256)
        result = rewrite(bytes(damaged), rules, (30, None))
        kinds.append(type(result))
        if isinstance(result, Rewritten):
            pixels(result.body)
        else:
            assert result.why
    assert Kept in kinds


def test_a_png_that_claims_to_be_huge_is_kept_unread() -> None:
    body = bytearray(saved(drawing(), "PNG"))
    body[16:24] = (60_000).to_bytes(4, "big") * 2
    result = rewrite(bytes(body), OF_2012)
    assert isinstance(result, Kept)
    assert "pixels are more than" in result.why


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF    WEBPVP8 "]), st.binary(max_size=300)
)
def test_any_bytes_are_kept_or_rewritten(head: bytes, rest: bytes) -> None:
    result = rewrite(head + rest, LAST, (1, 1))
    assert isinstance(result, Kept | Rewritten)
    size_of(head + rest)
