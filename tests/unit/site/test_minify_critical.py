"""Minify: which rules a page needs, and what becomes of its style sheets then."""

import pytest

from lanelab.driver.site.minify.css.critical import critical_rules, rules, selectors_of
from lanelab.driver.site.minify.css.selectors import Elements
from lanelab.driver.site.minify.css.sheets import affects_screen
from lanelab.driver.site.minify.html.page import Page
from tests.kit.minify_site import html, page_of, paths, run, stored

PAGE = '<div id="top" class="a B"><p title=x><span>1</span></p></div><ul><li>2<li>3</ul>'


@pytest.mark.parametrize(
    ("selector", "needed"),
    [
        *(("p", True), ("table", False), ("*", True), ("body", True), ("html body p", True)),
        *(("#top", True), ("#bottom", False), (".a", True), (".b", True), (".a.c", False), ("div.a", True)),
        *(("p.a", False), ("div span", True), ("span div", False), ("div > p", True), ("ul > p", False)),
        *(("p[title]", True), ("p[href]", False), ("p:hover", True), ("table:hover", False), ("p::before", True)),
        *(("li + li", True), ("li ~ table", False), ("div p > span", True), ("ul span", False)),
        *((":not(p)", True), ("p > :hover > table", True), ("p:not(.x) table", False), ("?", True)),
    ],
)
def test_selectors(selector: str, needed: bool) -> None:
    assert Elements.of(Page.read(PAGE.encode())).have(selector) is needed


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("p{a:b}table{c:d}", "p{a:b}"),
        ("p,table,#top{a:b}", "p,#top{a:b}"),
        ("@media print{p{a:b}}", ""),
        ("@media screen{p{a:b}table{c:d}}", "@media screen{p{a:b}}"),
        ("@media screen{table{c:d}}", ""),
        ("@font-face{font-family:x}", "@font-face{font-family:x}"),
        ('@charset "x";p{a:b}', '@charset "x";p{a:b}'),
        ("p:is(.x,.y),table{a:'}'}", "p:is(.x,.y){a:'}'}"),
    ],
)
def test_rules_that_are_needed(text: str, kept: str) -> None:
    assert critical_rules(text, Elements.of(Page.read(PAGE.encode()))) == kept


def test_sheets_are_split_into_rules() -> None:
    text = "@import 'a;b';/* c */ a:not([b='{'],c) { d : url(e;f) } @media x { g { h:i } j{} }"
    assert [rule.text for rule in rules(text)] == [
        "@import 'a;b';",
        "a:not([b='{'],c){ d : url(e;f) }",
        "@media x{ g { h:i } j{} }",
    ]
    assert selectors_of("a:is(b, c), d[e=','] , f") == ["a:is(b, c)", "d[e=',']", "f"]


@pytest.mark.parametrize(
    ("media", "shown"),
    [
        *(("", True), ("all", True), ("screen", True), ("print", False), ("print, screen", True), ("not print", True)),
        *(("not screen", False), ("only screen and (color)", True), ("(min-width: 1px)", True), ("handheld", False)),
    ],
)
def test_media_of_screens(media: str, shown: bool) -> None:
    assert affects_screen(media) is shown


def test_sheets_load_after_the_page() -> None:
    sheet = stored("/s/a.css", "p{a:url(b.png)}table{c:d}")
    link = '<link rel="stylesheet" href="s/a.css" media="screen">'
    made = run(["prioritize_critical_css"], f"<head>{link}<style>i{{j:k}}</style></head><body><p>1</p></body>", sheet)
    page = page_of(made)
    assert page.startswith('<head><style media="screen">p{a:url(s/b.png)}</style></head><body><p>1</p>')
    assert f'<noscript class="psa_add_styles">{link}<style>i{{j:k}}</style></noscript><script ' in page
    assert page.endswith("</script></body>")
    assert paths(made) == ["page.test/index.html", "page.test/s/a.css"]
    assert [each.object.late for each in made.objects] == [False, True]


def test_a_rewritten_sheet_that_loads_later_is_still_there() -> None:
    sheet = stored("/a.css", "p { a : b }" + "table { c : d } " * 400)
    made = run(["core-2012", "prioritize_critical_css"], '<link rel="stylesheet" href="a.css"><p>', sheet)
    (late,) = (each.object for each in made.objects if each.object.late)
    assert f'<noscript class="psa_add_styles"><link rel="stylesheet" href="http://page.test{late.path}">' in page_of(
        made
    )
    assert ".pagespeed.cf." in late.path


def test_an_alternate_sheet_does_not_become_part_of_the_page() -> None:
    page = '<p><link rel="alternate stylesheet" href="a.css">'
    assert "<style" not in html(["prioritize_critical_css"], page, stored("/a.css", "p{a:b}"))


@pytest.mark.parametrize("text", ["@import 'b.css';p{a:b}", "p{a:b"])
def test_a_sheet_that_cannot_be_split_stays(text: str) -> None:
    page = '<link rel="stylesheet" href="a.css"><p>'
    assert html(["prioritize_critical_css"], page, stored("/a.css", text)) == page
