"""Sites from recipes: sizes to the byte, decodable files, the same bytes everywhere, errors with line and key."""

import hashlib
import io
import os
import re
import subprocess
import sys

import pytest
from PIL import Image, ImageFont

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.generate import generated
from lanelab.driver.site.generate.images import FORMATS
from lanelab.driver.site.generate.images.common import TooSmall
from lanelab.driver.site.generate.plan import below, planned
from lanelab.driver.site.generate.recipe import parse_recipe
from lanelab.driver.site.site import StoredObject
from tests.kit.machine import ROOT
from tests.kit.recipes import EVERYTHING

REFERENCES = r'src="([^"]+)"|stylesheet" href="([^"]+)"|url\("([^"]+)"\)|import "([^"]+)"|ask\("\w+", "([^"]+)"'
DIGEST = "563e99bf34234b6f4d21caf520539cb49e7466efd673275f636470e95d56e1a2"


def made(text: str, seed: int | None = None) -> dict[str, StoredObject]:
    return {each.object.url: each for each in generated(parse_recipe(text, "recipe.yaml", seed))}


def group(words: str) -> str:
    return f"title: x\nhost: x.test\npage: {{size: 4000}}\nobjects:\n  - {{{words}}}\n"


def digest(text: str = EVERYTHING, seed: int | None = None) -> str:
    whole = hashlib.sha256()
    for url, each in made(text, seed).items():
        whole.update(url.encode() + b"\0" + each.body)
    return whole.hexdigest()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [700, 1502, 10_000, 66_000, 70_000])
def test_images_have_their_size_and_can_be_decoded(name: str, size: int) -> None:
    form = FORMATS[name]
    for width, height in (form.dimensions(size), (32, 32), (1, 1), (7, 3)):
        for metadata in (0, size // 2):
            data = form.encode(f"{name} {size}", size, width, height, metadata)
            image = Image.open(io.BytesIO(data))
            image.load()  # decodes all of it, else raises
            assert (len(data), image.size, f"image/{name}") == (size, (width, height), Image.MIME[str(image.format)])


@pytest.mark.parametrize("size", [701, 1503, 10_001])
@pytest.mark.parametrize("name", sorted({*FORMATS} - {"webp"}))
def test_odd_sizes(name: str, size: int) -> None:
    width, height = FORMATS[name].dimensions(size)
    data = FORMATS[name].encode("odd", size, width, height, 0)
    Image.open(io.BytesIO(data)).load()
    assert len(data) == size


@pytest.mark.parametrize("name", FORMATS)
def test_the_least_that_an_error_names_is_enough(name: str) -> None:
    with pytest.raises(TooSmall) as error:
        FORMATS[name].encode("small", 100, 300, 200, 0)
    least = error.value.least + error.value.least % 2
    data = FORMATS[name].encode("small", least, 300, 200, 0)
    Image.open(io.BytesIO(data)).load()
    assert len(data) == least


def test_metadata_is_what_an_optimiser_takes_away() -> None:
    image = made(group("type: image, size: 20000, metadata: 60%"))["x.test/images/image.png"].body
    text = next(
        length for length in (int.from_bytes(image[place - 4 : place], "big") for place in [image.index(b"tEXt")])
    )
    assert 0.60 <= (text + 12) / 20_000 < 0.62


def test_every_object_has_its_size_and_its_host() -> None:
    site = made(EVERYTHING)
    assert len(site) == 36
    recipe = parse_recipe(EVERYTHING, "recipe.yaml")
    wanted = [recipe.pages[0].size, *(size for group in recipe.groups for size in group.sizes)]
    assert [len(each.body) for each in site.values()] == wanted
    assert sum(len(site[url].body) for url in site if "/back-" in url) == 6001
    assert {each.object.host for each in site.values()} == {
        *("all.test", "fonts.all.test", "i1.all.test", "i2.all.test", "js.all.test", "ads.all.test")
    }
    assert {url for url, each in site.items() if each.object.late} == {
        *("all.test/data/data.json", "all.test/images/beacon.gif", "all.test/images/waited.png")
    }


def test_everything_is_referred_to_once_and_nothing_else_is() -> None:
    """The references in texts, without `href` of links that nobody follows."""
    site = made(EVERYTHING)
    found: list[str] = []
    for each in site.values():
        if each.object.mime.startswith(("image/", "font/")):
            continue
        text = each.body.decode("ascii")
        words = re.findall(REFERENCES, text)
        for word in map("".join, words):
            found.append(word.removeprefix("//") if word.startswith("//") else each.object.host + word)
    assert sorted([*found, "all.test/index.html"]) == sorted(site)


def test_fonts_are_fonts() -> None:
    body = made(EVERYTHING)["fonts.all.test/fonts/font.ttf"].body
    drawn = ImageFont.truetype(io.BytesIO(body), 20)
    assert drawn.getbbox("Page")[2] > 10


def test_scripts_parse_and_are_no_larger_for_it() -> None:
    text = made(group("type: script, size: 5000, noise: 10%"))["x.test/js/script.js"].body.decode()
    assert text.count("{") == text.count("}") > 10
    assert text.count("(") == text.count(")")


def test_a_script_waits_for_what_has_to_wait_alone() -> None:
    text = group("type: script, size: 4000, name: app") + (
        "  - {type: image, size: 900, name: soon, from: app}\n"
        "  - {type: image, size: 900, name: waited, from: app, wait: 250ms, think: 5ms}\n"
        "  - {type: module, size: 900, name: other}\n"
        "  - {type: module, size: 900, name: imported, from: other}\n"
        "  - {type: module, size: 2500, name: second, count: 1, from: app}\n"
        "  - {type: module, size: 900, name: third, from: second, wait: 1500us}\n"
    )
    site = made(text)
    app, second = (site[f"x.test/js/{name}.js"].body.decode() for name in ("app", "second"))
    assert 'wait(250, function () { think(5); ask("image", "//x.test/images/waited.png"); });\n' in app
    assert '\nask("image", "//x.test/images/soon.png");\n' in app
    assert 'wait(1.5, function () { ask("module", "//x.test/js/third.js"); });\n' in second
    assert "function wait" not in site["x.test/js/other.js"].body.decode()
    assert not any(each.object.late for each in site.values())


def test_a_wait_counts_from_the_beginning_of_the_script() -> None:
    """A recipe's order says nothing of time: what is computed for the first object is no part of the second's wait."""
    text = group("type: script, size: 4000, name: app") + (
        "  - {type: image, size: 900, name: computed, from: app, think: 100ms}\n"
        "  - {type: image, size: 900, name: waited, from: app, wait: 200ms}\n"
    )
    app = made(text)["x.test/js/app.js"].body.decode()
    assert app.index("\nwait(200, ") < app.index("\nthink(100); ")


def test_a_wide_picture_can_be_decoded() -> None:
    """Its rows are longer than what a match of deflate reaches back."""
    form = FORMATS["png"]
    for width in (10_922, 10_923, 16_383):
        data = form.encode("wide", 60_000, width, 5, 0)
        image = Image.open(io.BytesIO(data))
        image.load()
        assert (len(data), image.size) == (60_000, (width, 5))
        assert image.getpixel((width - 1, 4)) == image.getpixel((width - 1, 3))


def test_a_chain_may_be_long() -> None:
    recipe = parse_recipe(group("type: script, size: 2500, count: 3000, chain: on"), "recipe.yaml")
    pieces = planned(recipe)
    assert [each.index for each in below(pieces, pieces[0])] == [*range(1, 3001)]


def test_two_objects_with_one_address_are_refused() -> None:
    text = group("type: image, size: 900, count: 2, name: photo") + "  - {type: image, size: 900, name: photo-2}\n"
    with pytest.raises(InputError, match=r"photo and photo-2 have one address, x\.test/images/photo-2\.png"):
        made(text)
    assert len(made(text.replace("name: photo-2", "name: photo-2, host: y.test"))) == 4


def test_the_seed_changes_content_and_nothing_else() -> None:
    one, other = made(EVERYTHING, 1), made(EVERYTHING, 2)
    assert list(one) == list(other)
    assert one["all.test/index.html"].body != other["all.test/index.html"].body
    assert len(one["i1.all.test/images/photo-1.jpg"].body) != len(other["i1.all.test/images/photo-1.jpg"].body)
    assert len(one["all.test/images/icon-1.png"].body) == len(other["all.test/images/icon-1.png"].body) == 900


def test_the_bytes_are_the_same_as_ever() -> None:
    """A change here makes other sites of all recipes: their digests have to be written again."""
    assert digest() == DIGEST


def test_the_bytes_are_the_same_in_other_surroundings() -> None:
    code = "from tests.unit.site.test_site_generate import digest; print(digest())"
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True,
                          check=True)  # fmt: skip
    assert done.stdout.strip() == DIGEST


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("type: picture, size: 9", "type: 'picture' is not one of them"),
        ("type: image, siz: 900", "siz: there is no such key. Did you mean size?"),
        ("type: image", "size is missing"),
        ("type: image, size: 900, total: 9000", "total: size says the size already"),
        ("type: image, size: 900, from: styles", "from: there is no group 'styles' above"),
        ("type: data, size: 900", "a page cannot refer to a data"),
        ("type: image, size: 900, think: 3ms", "think: a page does not wait"),
        ("type: image, size: 900, wait: 3ms", "wait: a page does not wait"),
        ("type: image, size: 900, wait: 3ms, after: 3ms", "after: wait keeps the page waiting, and this does not"),
        ("type: image, size: 900, wait: 3ms, late: on", "late: wait keeps the page waiting, and this does not"),
        ("type: image, size: 900, wait: 3", "wait: 3 has no unit"),
        ("type: image, size: 900, count: 2, chain: on", "chain: a image cannot refer to a image"),
        ("type: css, size: 900, place: body", "place: a css stands in the head of a page"),
        ("type: frame, size: 2500, place: head", "place: a frame stands in the body of a page"),
        ("type: css, size: 900, width: 3", "width: width means nothing for the type css"),
        ("type: image, size: 900, width: 3", "width: width and height go together"),
        ("type: image, size: 901, format: webp", "size: a WebP file has an even number of bytes"),
        (
            "type: image, size: 900, host: www.example.com",
            "host: 'www.example.com' is no host. Write one that ends in .test",
        ),
        (
            "type: image, size: 100000000, count: 11",
            "the objects have 1,100,000,000 bytes together, more than 1,000,000,000",
        ),
        ("type: image, size: 900, count: 99999", "count: '99999' cannot be used"),
        ("type: image, sizes: '1, x'", "sizes: 'x' cannot be used"),
        ("type: image, size: 900, spread: 1", "spread: size says the size of each"),
    ],
)
def test_errors_name_file_line_and_key(words: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        made(group(words))
    assert str(error.value).startswith("recipe.yaml:5: objects[0]")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("key", "asked"), [("think", b"think(100); ask("), ("wait", b"wait(100, function"), ("after", b"; }, 100);")]
)
def test_a_chain_that_would_wait_only_once_is_refused(key: str, asked: bytes) -> None:
    """A script asks for its first sheet, which asks for the next one: sheets do not wait."""
    chain = "  - {{type: {}, size: 2500, count: 3, name: chain, from: app, chain: on, {}: 100ms}}\n"
    app = group("type: script, size: 4000, name: app")
    with pytest.raises(InputError, match=f"{key}: a css does not wait, so only the first of the chain would"):
        made(app + chain.format("css", key))
    scripts = made(app + chain.format("script", key))
    assert [asked in scripts[f"x.test/js/{name}.js"].body for name in ("app", "chain-1", "chain-2")] == [True] * 3


@pytest.mark.parametrize(
    "words",
    [
        "type: image, size: 60, width: 300, height: 200",
        "type: css, size: 40, noise: 100%",
        "type: font, size: 50, from: page",
        "type: frame, size: 100",
        "type: script, size: 10",
    ],
)
def test_what_cannot_be_so_small_says_what_it_takes(words: str) -> None:
    with pytest.raises(InputError, match=r"It takes \d+ or more|cannot refer to a font"):
        made(group(words))
