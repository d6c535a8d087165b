"""Skeletons: the same graph, sizes and headers that matter, and nothing of the content."""

import gzip
from collections.abc import Callable
from pathlib import Path

import brotlicffi
import pytest

from lanelab.driver.collect.skeleton.build import Skeleton, skeleton_of
from lanelab.driver.collect.skeleton.references import Reference, references
from lanelab.driver.site.archive.objects import objects_of
from lanelab.driver.site.coding import decoded
from lanelab.driver.site.generate import generated
from lanelab.driver.site.generate.recipe import parse_recipe
from lanelab.driver.site.site import Headers, Site, SiteObject, StoredObject
from tests.kit.recipes import EVERYTHING

SECRET = "A sentence that somebody wrote, and which is theirs alone"
PAGE = f"""<html><head><title>{SECRET}</title>
<link rel="stylesheet" href="/css/Main.css?v=31">
<link rel=icon href=/favicon.ico>
<link rel="preload" as="font" crossorigin href="//fonts.shop.example/deja.woff2">
<script async src="https://cdn.shop.example/lib.js"></script>
<style>body {{ background: url(/back.gif) }}</style></head>
<body><p>{SECRET * 20}</p>
<img src="photo.jpg"><img srcset="small.png 1x, large.png 2x" src="none.png">
<iframe src="/frame.html"></iframe>
<noscript><img src="/counter.gif"></noscript>
<script type="module" src="/app.mjs"></script>
</body></html>""".encode()
CSS = (
    b'@import "other.css"; @font-face { src: url(/deja.woff2) } p { background: url("p.svg") }'
    + b" p { margin: 0 }" * 40
)
LIB = b"/* " + SECRET.encode() + b' */ load("found-later.json"); ' + b"function f(a) { return a + 1; }\n" * 60
HTML, TEXT_CSS, JS = "text/html", "text/css", "text/javascript"


def one(
    url: str,
    mime: str,
    body: bytes,
    *headers: tuple[str, str],
    scheme: str = "http",
    status: int = 200,
    method: str = "GET",
    late: bool = False,
) -> StoredObject:
    host, slash, path = url.partition("/")
    sent: Headers = (("Content-Type", mime), *headers)
    made = SiteObject(host, slash + path, len(body), mime, "0" * 64, method, scheme, status, headers=sent, late=late)
    return StoredObject(made, body)


SHOP = [
    one(
        "shop.example/", HTML, PAGE, ("Set-Cookie", "id=1234567890"), ("Content-Security-Policy", "default-src 'none'")
    ),
    one("shop.example/css/Main.css?v=31", TEXT_CSS, CSS, ("ETag", '"abcdef"'), ("Cache-Control", "max-age=60")),
    one("shop.example/css/other.css", TEXT_CSS, b"p { color: red }" * 30),
    one("shop.example/css/p.svg", "image/svg+xml", b"<svg/>" * 60),
    one("shop.example/favicon.ico", "image/x-icon", b"i" * 318),
    one("fonts.shop.example/deja.woff2", "font/woff2", b"f" * 9000),
    one("cdn.shop.example/lib.js", JS, LIB, scheme="https"),
    one("shop.example/back.gif", "image/gif", b"g" * 700),
    one("shop.example/photo.jpg", "image/jpeg", b"p" * 5000),
    one("shop.example/large.png", "image/png", b"l" * 3001),
    one("shop.example/frame.html", HTML, b"<p>" + SECRET.encode() * 30),
    one("shop.example/app.mjs", JS, b'import "./part.mjs";' + b"let a = 1;\n" * 120),
    one("shop.example/part.mjs", JS, b"let b = 1;\n" * 120),
    one("shop.example/found-later.json", "application/json", b"{}" * 200, late=True),
    one("shop.example/away", HTML, b"gone", ("Location", "/css/p.svg"), status=302),
    one("shop.example/form", HTML, b"thanks", method="POST"),
]


def site_of(stored: list[StoredObject]) -> Site:
    first = stored[0].object
    return Site("shop", "A shop", first.host, first.path, tuple(each.object for each in stored), Path("/nowhere"))


def skeleton(stored: list[StoredObject], *, keep_addresses: bool = False) -> tuple[Skeleton, list[StoredObject]]:
    made = skeleton_of(site_of(stored), stored, keep_addresses=keep_addresses)
    return made, list(objects_of(made.exchanges).stored)


def how(stored: list[StoredObject]) -> dict[str, tuple[str, str, str, str, str, str]]:
    """By address: who asks for it, as what, and how."""
    plain = [decoded(each) for each in stored]
    return {
        stored[each.child].object.url: (
            stored[each.parent].object.url,
            each.type,
            each.place,
            each.mode,
            each.rel,
            each.inline,
        )
        for each in references(plain, 0)
    }


def test_the_graph_is_found() -> None:
    found = {url: (each[0].removeprefix("shop.example"), *each[1:]) for url, each in how(SHOP).items()}
    assert found["shop.example/css/Main.css?v=31"] == ("/", "css", "head", "plain", "", "")
    assert found["shop.example/css/other.css"] == ("/css/Main.css?v=31", "css", "body", "plain", "", "")
    assert found["shop.example/css/p.svg"][:2] == ("/css/Main.css?v=31", "image")
    assert found["shop.example/favicon.ico"][4] == 'rel="icon"'
    assert found["fonts.shop.example/deja.woff2"][1:5] == (
        "font",
        "head",
        "plain",
        'rel="preload" as="font" crossorigin',
    )
    assert found["cdn.shop.example/lib.js"][1:4] == ("script", "head", "async")
    assert found["shop.example/back.gif"][1:] == ("image", "body", "plain", "", "style")
    assert found["shop.example/large.png"][:2] == ("/", "image")
    assert found["shop.example/frame.html"][1] == "frame"
    assert found["shop.example/part.mjs"][:2] == ("/app.mjs", "module")
    assert found["shop.example/found-later.json"][:2] == ("cdn.shop.example/lib.js", "other")
    assert "shop.example/counter.gif" not in found


def test_the_same_objects_with_the_same_sizes_and_statuses() -> None:
    made, objects = skeleton(SHOP, keep_addresses=True)
    wanted = {each.object.url: each for each in SHOP if each.object.method == "GET"}
    assert {each.object.url for each in objects} == set(wanted)
    for each in objects:
        before = wanted[each.object.url].object
        assert (each.object.status, each.object.scheme, each.object.late) == (before.status, before.scheme, before.late)
        assert each.object.size == before.size or any(before.url in words for words in made.changed), before.url
    assert "1 requests that are no GET" in made.changed


def test_the_graph_of_the_skeleton_is_that_of_the_site() -> None:
    kept = [each for each in SHOP if each.object.method == "GET"]
    assert how(skeleton(SHOP, keep_addresses=True)[1]) == how(kept)


def test_a_generated_site_keeps_its_graph() -> None:
    stored = list(generated(parse_recipe(EVERYTHING, "recipe.yaml")))
    before = {url: each[:2] for url, each in how(stored).items()}
    after = {url: each[:2] for url, each in how(skeleton(stored, keep_addresses=True)[1]).items()}
    assert after == before


@pytest.mark.parametrize("keep_addresses", [True, False])
def test_nothing_of_the_content_is_left(keep_addresses: bool) -> None:
    _, objects = skeleton(SHOP, keep_addresses=keep_addresses)
    for each in objects:
        assert SECRET.encode() not in decoded(each).body
        assert all(value not in str(each.object.headers) for value in ("1234567890", "default-src", "abcdef"))
        if not keep_addresses:
            assert "shop" not in each.object.url
            assert b"shop.example" not in decoded(each).body


def test_renamed_addresses_have_their_lengths() -> None:
    _, objects = skeleton(SHOP)
    paths = sorted(len(each.object.path) for each in SHOP if each.object.method == "GET")
    assert sorted(len(each.object.path) for each in objects) == paths
    assert len({each.object.url for each in objects}) == len(paths)
    assert {each.object.host for each in objects} == {"site.test", "host1.test", "host2.test"}
    assert next(dict(each.object.headers)["Location"] for each in objects if each.object.status == 302).startswith(
        "http://site.test/"
    )


def test_headers_that_do_something_else_become_filler() -> None:
    made, _ = skeleton(SHOP, keep_addresses=True)
    page, sheet = made.exchanges[0].headers, made.exchanges[1].headers
    assert [name for name, _ in page] == ["Content-Type", "X-Left-Out", "X-Left-Out"]
    assert sum(len(name + value) for name, value in page) == sum(
        len(name + value) for name, value in SHOP[0].object.headers
    )
    assert dict(sheet)["Cache-Control"] == "max-age=60"
    assert len(dict(sheet)["ETag"]) == len('"abcdef"')


@pytest.mark.parametrize(("coding", "encode"), [("gzip", gzip.compress), ("br", brotlicffi.compress)])
def test_encoded_texts_keep_both_sizes(coding: str, encode: Callable[[bytes], bytes]) -> None:
    plain = PAGE.replace(b"</p>", SECRET.encode() * 3 + b" and more</p>" + bytes(range(65, 91)) * 30)
    packed = encode(plain + b"".join(b"<b>%d</b>" % (n * n) for n in range(600)))
    stored = [one("shop.example/", HTML, packed, ("Content-Encoding", coding)), *SHOP[1:]]
    made, objects = skeleton(stored, keep_addresses=True)
    page = objects[0]
    assert page.object.encoding == "gzip"
    assert page.object.size == len(packed)
    assert len(decoded(page).body) == len(decoded(stored[0]).body)
    assert any("coding br" in words for words in made.changed) == (coding == "br")


def test_what_cannot_be_so_small_is_named() -> None:
    page = b"<script src=/a.js></script><script src=/b.js></script>"
    stored = [one("shop.example/", HTML, page), *(one(f"shop.example/{n}.js", JS, b"1") for n in "ab")]
    made, objects = skeleton(stored, keep_addresses=True)
    assert how(objects) == how(stored)
    assert any(
        words.startswith("shop.example/: ") and words.endswith(f"instead of {len(page)}") for words in made.changed
    )


def test_circles_end() -> None:
    stored = [
        one("shop.example/", HTML, b'<link rel="stylesheet" href="a.css">'),
        one("shop.example/a.css", TEXT_CSS, b'@import "b.css";'),
        one("shop.example/b.css", TEXT_CSS, b'@import "a.css"; @import "b.css";'),
    ]
    assert references(stored, 0) == (Reference(1, 0, "css", "head"), Reference(2, 1, "css"))


def test_a_page_that_has_to_be_larger_has_sections_for_what_makes_it_larger() -> None:
    address = "shop.example/" + "a" * 4000
    body = f'<script src="/{"a" * 4000}"></script><img src="/{"b" * 4000}">'.encode()
    page = one("shop.example/", HTML, body)
    asked = [one(address, JS, b"let a = 1;\n" * 120), one("shop.example/" + "b" * 4000, "image/png", b"i" * 900)]
    made, objects = skeleton([page, *asked], keep_addresses=True)
    assert len(objects) == 3
    assert f"{address.partition('/')[2]}" in objects[0].body.decode()
    assert made.changed == (f"shop.example/: {len(objects[0].body):,} bytes instead of {len(body):,}",)
