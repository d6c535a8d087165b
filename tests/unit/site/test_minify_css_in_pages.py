"""Minify: style sheets that take the place of their imports, or become part of a page."""

import pytest

from lanelab.driver.site.site import StoredObject
from tests.kit.minify_site import body_of, html, page_of, paths, run, stored
from tests.kit.style_sheets import A, B, C, link, picture


def flat(text: str, *others: StoredObject) -> str:
    return body_of(run(["flatten_css_imports"], link("s/a.css"), stored("/s/a.css", text), *others), ".css")


IMPORTED = stored("/s/t/b.css", "b{c:url(d.png)}")


def test_imports_take_their_place() -> None:
    text = "@charset 'utf-8';@import 't/b.css';@import url(t/b.css) print;a{b:c}"
    expected = '@charset "utf-8";b{c:url(t/d.png)}@media print{b{c:url(t/d.png)}}a{b:c}'
    assert flat(text, IMPORTED) == expected


@pytest.mark.parametrize(
    "text",
    [
        "@import 'gone.css';a{b:c}",
        "@import 't/b.css';@import 'gone.css';a{b:c}",
        "@import 'http://other.test/b.css';a{b:c}",
        "@import 'a.css';a{b:c}",
        "@import 't/b.css' screen and (color);a{b:c}",
        "a{b:c}@import 't/b.css';",
    ],
)
def test_all_imports_are_flattened_or_none(text: str) -> None:
    made = run(["flatten_css_imports"], link("s/a.css"), stored("/s/a.css", text), IMPORTED)
    assert made.objects[1].body.decode() == text
    assert len(made.objects) == 3


@pytest.mark.parametrize(("size", "flattened"), [(1_024_000, True), (1_024_001, False)])
def test_flattening_has_a_limit(size: int, flattened: bool) -> None:
    rule = "a{b:c}"
    imported = stored("/s/b.css", rule + "/" + "*" * (size - 2 * len(rule) - 2) + "/")
    made = run(["flatten_css_imports"], link("s/a.css"), stored("/s/a.css", "@import 'b.css';" + rule), imported)
    assert (len(made.objects) == 2) is flattened


@pytest.mark.parametrize(("size", "inlined"), [(2048, True), (2049, False)])
def test_small_sheets_become_part_of_the_page(size: int, inlined: bool) -> None:
    text = "a{b:" + "c" * (size - 5) + "}"
    made = run(["inline_css"], link("a.css"), stored("/a.css", text))
    assert page_of(made) == (f"<style>{text}</style>" if inlined else link("a.css"))
    assert (len(made.objects) == 1) is inlined


@pytest.mark.parametrize(
    ("media", "in_2012", "later"),
    [
        ("", "<style>", "<style>"),
        ("all", "<style>", '<style media="all">'),
        ("print", None, None),
        ("screen", None, '<style media="screen">'),
    ],
)
def test_media_of_what_is_inlined(media: str, in_2012: str | None, later: str | None) -> None:
    page = link("a.css", f' media="{media}"' if media else "")
    for names, tag in ((["core-2012"], in_2012), (["inline_css"], later)):
        made = html(names, page, A)
        assert (f"{tag}a{{b:c}}</style>" in made) if tag else ("<style" not in made)


def test_addresses_move_with_the_sheet() -> None:
    sheet = stored("/s/a.css", "a{b:url(c.png)}d{e:url(data:,)}")
    assert html(["inline_css"], link("s/a.css"), sheet) == "<style>a{b:url(s/c.png)}d{e:url(data:,)}</style>"


@pytest.mark.parametrize("text", ["a{b:'</style>'}", "a{content:'\xe9'}"])
def test_what_would_mean_something_else_in_the_page_stays_out(text: str) -> None:
    sheet = stored("/a.css", text, headers=(("Content-Type", "text/css; charset=latin1"),))
    page = '<meta charset="utf-8">' + link("a.css")
    assert html(["inline_css"], page, sheet) == page


def test_a_single_import_becomes_a_link() -> None:
    made = html(["inline_import_to_link"], '<style id="x">@import url("a.css") print;</style>')
    assert made == '<link rel="stylesheet" href="a.css" id="x" media="print">'
    for text in ("@import 'a.css';a{b:c}", "@import 'a.css';@import 'b.css';", "", "/* a */@import 'a.css';"):
        page = f"<style>{text}</style>"
        assert html(["inline_import_to_link"], page) == page


@pytest.mark.parametrize(("size", "linked"), [(4096, True), (4097, False)])
def test_a_style_element_that_may_be_an_import_has_a_longest(size: int, linked: bool) -> None:
    page = f"<style>@import '{'a' * (size - 11)}';</style>"
    assert (html(["inline_import_to_link"], page) != page) is linked


def test_sheets_move_to_the_head_or_above_scripts() -> None:
    page = (
        f"<head><script>1</script></head><body>2{link('a.css')}<style>p{{}}</style><noscript>{link('b.css')}</noscript>"
    )
    rest = f"<noscript>{link('b.css')}</noscript>"
    sheets = f"{link('a.css')}<style>p{{}}</style>"
    assert html(["move_css_to_head"], page) == f"<head><script>1</script>{sheets}</head><body>2{rest}"
    assert html(["move_css_above_scripts"], page) == f"<head>{sheets}<script>1</script></head><body>2{rest}"


@pytest.mark.parametrize(("age", "extended"), [(30 * 86_400 - 1, True), (30 * 86_400, False)])
def test_what_lives_a_month_is_not_extended(age: int, extended: bool) -> None:
    fields = (("Content-Type", "image/png"), ("Cache-Control", f"max-age={age}"), ("X-A", "b"), ("Set-Cookie", "c"))
    made = run(["extend_cache"], "<img src=a.png>", stored("/a.png", b"1", headers=fields))
    assert (".pagespeed.ce." in page_of(made)) is extended
    if extended:
        assert ("X-A", "b") in made.objects[1].object.headers
        assert "Set-Cookie" not in dict(made.objects[1].object.headers)


def test_nothing_of_other_hosts_is_rewritten() -> None:
    other = stored("/a.css", " a { b : c } ", host="other.test")
    page = link("http://other.test/a.css")
    made = run(["core-2012"], page, other)
    assert page_of(made) == page
    assert made.objects[1] == other


def test_where_nothing_can_be_fetched_only_the_page_changes() -> None:
    page = f"{link('a.css')}<style>%s</style><img src=b.png>"
    made = run(["page-2012"], page % " p { q : r } ", A, stored("/b.png", picture(300)))
    assert paths(made) == ["page.test/index.html", "page.test/a.css", "page.test/b.png"]
    assert page_of(made) == page % "p{q:r}"
    assert [each.object.compressed for each in made.objects] == ["gzip", None, None]


def test_an_original_stays_where_something_else_names_it() -> None:
    twice = f'{link("a.css")}<script>load("a.css")</script>'
    made = run(["inline_css"], twice, A)
    assert [(each.object.path, each.object.late) for each in made.objects] == [("/index.html", False), ("/a.css", True)]
    for markup, late in ((link("a.css", " media=print"), False), (f"<noscript>{link('a.css')}</noscript>", True)):
        made = run(["inline_css"], link("a.css"), A, stored("/frame.html", markup))
        assert [each.object.late for each in made.objects if each.object.path == "/a.css"] == [late]


def test_the_same_site_gives_the_same_bytes() -> None:
    others = (A, B, C, stored("/d.png", picture(5000)))
    page = f"<body>{link('a.css')}{link('b.css')}<p>{link('c.css')}<img src=d.png>"
    assert run(["core"], page, *others) == run(["core"], page, *others)
