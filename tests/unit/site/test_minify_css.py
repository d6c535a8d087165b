"""Minify: what the filters of style sheets do, each threshold from both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.site.minify import GENERATIONS, Wish, minify
from lanelab.driver.site.minify.addresses import Address, escape_segment, hash_of, joined_names
from lanelab.driver.site.minify.css.rewrite import minified
from lanelab.driver.site.minify.css.scan import has_import, located, tokens, whole, with_addresses
from tests.kit.minify_site import HOST, body_of, html, page_of, paths, run, stored
from tests.kit.style_sheets import A, B, C, link, picture

PIECES = (
    "a{b:c}",
    "@import 'x';",
    "url(",
    "url(a.png)",
    ")",
    "'",
    '"',
    "\\",
    "/*",
    "*/",
    "{",
    "}",
    ";",
    " ",
    "\xe9",
    "<!--",
)
SHEETS = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


# --- the text of style sheets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "small"),
    [
        # Of a nested rule the space before a pseudo-class is a step down; rcssmin takes it for none.
        (".x{ .y :hover{color:red} }", None),
        (".x { color : red; &:hover { color : blue } }", None),
        ("a { color : red; @media print { color : blue } }", None),
        ("@media print { .x{ .y ::before{color:red} } }", None),
        # A comment separates nothing, and a space would.
        ("a/**/:hover { color : red }", None),
        ("a/* one *//* two */.b { color : red }", None),
        ("@layer x { a /**/ .c, a/**/.b { color : red } }", None),
        # What means nothing goes.
        ("/* head */ a , /* or */ b { color : red /* so */ }", "a,b{color:red}"),
        ("a/**/ .b > /**/ c/**/,/**/d/**/{ color : red }", "a .b>c,d{color:red}"),
        ("@media/**/screen { a :hover { color : red } }", "@media screen{a :hover{color:red}}"),
        ("@keyframes x { from { top : 0 } /**/ to { top : 1px } }", "@keyframes x{from{top:0}to{top:1px}}"),
        ("@page { margin : 0; @top-left { content : 'x' } }", "@page{margin:0;@top-left{content:'x'}}"),
    ],
)
def test_a_sheet_is_minified_where_white_space_means_nothing(text: str, small: str | None) -> None:
    assert minified(text) == (text if small is None else small)


@given(st.one_of(st.binary(max_size=200).map(lambda body: body.decode("latin-1")), SHEETS))
def test_every_character_of_a_sheet_is_in_a_token(text: str) -> None:
    assert "".join(each.text for each in tokens(text)) == text
    assert with_addresses(text, lambda _: None) == text


@given(SHEETS, SHEETS)
def test_no_sheet_is_too_odd_for_any_filter(one: str, other: str) -> None:
    page = link("a.css") + link("b.css") + "<p style=\"background: url('c.png')\">"
    names = ["core", "move_css_to_head", "rewrite_style_attributes", "prioritize_critical_css"]
    assert run(names, page, stored("/a.css", one), stored("/b.css", other), stored("/x", "", mime="text/css")).objects


@given(SHEETS)
def test_an_address_can_be_changed_and_read_again(text: str) -> None:
    changed = with_addresses(text, lambda _: "/x (1)'\".png")
    assert {each.address for each in located(changed)} <= {"/x (1)'\".png"}
    assert len(located(changed)) == len(located(text))


def test_addresses_are_found_where_a_browser_finds_them() -> None:
    text = """@import "a.css";@import url( 'b.css' ) print;/* url(no) */p{background:URL(c\\).png);content:"url(no)"}"""
    assert [(each.address, each.imports) for each in located(text)] == [
        ("a.css", True),
        ("b.css", True),
        ("c).png", False),
    ]


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("", True),
        ("a{b:c}", True),
        ("@media print{a{b:c}}", True),
        ("@import 'a';", True),
        ("/* a */", True),
        ("a{b:c", False),
        ("a{b:c}}", False),
        ("a{b:(}", False),
        ("{b:c}", False),
        ("a{b:c} p", False),
        ("a{b:'}", False),
        ("a{b:c}/* d", False),
    ],
)
def test_sheets_that_would_spill_into_the_next(text: str, fine: bool) -> None:
    assert whole(text) is fine


def test_an_import_is_found() -> None:
    assert has_import("@IMPORT 'a';")
    assert not has_import("/* @import 'a'; */p{content:'@import'}")


# --- names ----------------------------------------------------------------------------------------------------------


def test_names_are_escaped_as_the_module_does() -> None:
    assert joined_names(["a.css", "b/c+d=.css"]) == "a.css+b,_c=+d==.css"
    assert escape_segment("x.css.pagespeed.cc.0123456789.css?v=1&w") == "x.css,Mcc.0123456789.css,qv=1,aw"
    assert escape_segment("a~b") == "a,7Eb"
    assert hash_of(b"") == "1B2M2Y8Asg"  # of d41d8cd98f00b204e9800998ecf8427e


@pytest.mark.parametrize(
    ("path", "page", "written"),
    [
        ("/a/b.css", "/a/index.html", "b.css"),
        ("/b.css", "/a/index.html", "/b.css"),
        ("/a:b", "/index.html", "/a:b"),
        ("/", "/index.html", "/"),
    ],
)
def test_addresses_are_written_short(path: str, page: str, written: str) -> None:
    assert Address(HOST, path).relative_to(Address(HOST, page)) == written
    assert Address(HOST, page).resolve(written) == Address(HOST, path)


# --- combine_css ----------------------------------------------------------------------------------------------------


def test_adjacent_sheets_become_one() -> None:
    made = run(["combine_css"], f"<head>{link('a.css')}\n{link('b.css')}\n<title>1</title>{link('c.css')}", A, B, C)
    name = f"a.css+b.css+c.css.pagespeed.cc.{hash_of(b'a{b:c}d{e:f}g{h:i}')}.css"
    assert paths(made) == ["page.test/index.html", f"page.test/{name}"]
    assert page_of(made) == f"<head>{link(name)}\n\n<title>1</title>"
    new = made.objects[1].object
    assert new.headers == (
        ("Content-Type", "text/css"),
        ("Cache-Control", "max-age=31536000"),
        ("Etag", "W/0"),
        ("Last-Modified", "Sun, 06 Nov 2022 00:00:00 GMT"),
    )
    assert (new.mime, new.compressed) == ("text/css", "gzip")


def test_in_2012_addresses_were_whole() -> None:
    made = html(["core-2012"], link("a.css") + link("b.css"), stored("/a.css", "a{b: c}" * 400), B)
    assert 'href="http://page.test/I.a.css+b.css,Mcc.' in made


@pytest.mark.parametrize(
    "between",
    [
        "<style>p{q:r}</style>",
        "<!--[if IE]><link rel=stylesheet href=x.css><![endif]-->",
        "<noscript></noscript>",
        link("http://other.test/x.css"),
        link("gone.css"),
        link("x.css", ' id="x"'),
        link("bad.css"),
    ],
)
def test_what_ends_a_run(between: str) -> None:
    others = (A, B, stored("/x.css", "x{y:z}"), stored("/bad.css", "x{y:z"))
    page = f"{link('a.css')}{between}{link('b.css')}"
    assert html(["combine_css"], page, *others) == page


@pytest.mark.parametrize("between", ["<script>1</script>", "<!-- a -->", "<link rel=icon href=x>", "<p>", " \n"])
def test_what_does_not_end_a_run(between: str) -> None:
    made = html(["combine_css"], f"{link('a.css')}{between}{link('b.css')}", A, B)
    assert made.count("stylesheet") == 1
    assert made.endswith(between)


def test_media_must_be_the_same() -> None:
    printed = ' media="print"'
    page = link("a.css") + link("b.css", printed) + link("c.css", printed)
    made = html(["combine_css"], page, A, B, C)
    assert made.startswith(link("a.css") + '<link rel="stylesheet" href="b.css+c.css.pagespeed.cc.')
    assert made.endswith('media="print">')


def test_a_sheet_with_an_import_may_only_come_first() -> None:
    importing = stored("/i.css", "@import 'x.css';")
    assert html(["combine_css"], link("i.css") + link("a.css"), importing, A).count("stylesheet") == 1
    page = link("a.css") + link("i.css")
    assert html(["combine_css"], page, importing, A) == page


@pytest.mark.parametrize(
    ("header", "combined"), [("max-age=600", True), ("private", False), ("no-cache", False), ("max-age=0", False)]
)
def test_only_what_all_may_keep_is_rewritten(header: str, combined: bool) -> None:
    fields = (("Content-Type", "text/css"), ("Cache-Control", header))
    made = html(["combine_css"], link("a.css") + link("b.css"), A, stored("/b.css", "d{e:f}", headers=fields))
    assert (made.count("stylesheet") == 1) is combined


def test_folders_move_addresses() -> None:
    one, two = stored("/x/a.css", "a{b:url(c.png)}"), stored("/x/y/b.css", "d{e:url('../f.png#g')}")
    made = run(["combine_css"], link("x/a.css") + link("x/y/b.css"), one, two)
    assert "/x/a.css+y,_b.css.pagespeed.cc." in paths(made)[1]
    assert made.objects[1].body == b"a{b:url(c.png)}d{e:url('f.png#g')}"


def test_a_byte_order_mark_stays_at_the_front_only() -> None:
    one, two = stored("/a.css", "\xef\xbb\xbfa{b:c}"), stored("/b.css", "\xef\xbb\xbfd{e:f}")
    made = run(["combine_css"], link("a.css") + link("b.css"), one, two)
    assert made.objects[1].body == b"\xef\xbb\xbfa{b:c}d{e:f}"


@pytest.mark.parametrize(("length", "links"), [(443, 1), (444, 2)])
def test_names_have_a_longest_segment(length: int, links: int) -> None:
    """1024 characters, of which 100 are left to others: 2 x 448 + 1 + 27 of the name's other parts is the most."""
    names = ["/" + letter * length + ".css" for letter in "ab"]
    made = html(["combine_css"], "".join(link(name) for name in names), *(stored(name, "a{b:c}") for name in names))
    assert made.count("stylesheet") == links


def test_sheets_of_other_characters_stay_apart() -> None:
    latin = stored("/b.css", "d{content:'\xe9'}", headers=(("Content-Type", "text/css; charset=iso-8859-1"),))
    page = link("a.css") + link("b.css")
    assert html(["combine_css"], page, A, latin) == page


# --- rewrite_css ----------------------------------------------------------------------------------------------------


def test_sheets_are_minified() -> None:
    sheet = stored("/a.css", "/* x */ a { b : c ; }\n", headers=(("Content-Type", "text/css; charset=utf-8"),))
    made = run(["rewrite_css"], link("a.css"), sheet)
    assert made.objects[1].body == b"a{b:c}"
    assert made.objects[1].object.path == f"/A.a.css.pagespeed.cf.{hash_of(b'a{b:c}')}.css"
    assert made.objects[1].object.headers[0] == ("Content-Type", "text/css; charset=utf-8")


def test_a_style_element_is_minified_in_its_place() -> None:
    assert html(["rewrite_css"], "<style> a { b : c } </style>") == "<style>a{b:c}</style>"
    script = '<style type="text/less"> a { b : c } </style>'
    assert html(["rewrite_css"], script) == script


@pytest.mark.parametrize("text", ["a{b:c}", "a { b : c", "/* only this */", ""])
def test_what_cannot_become_better_stays(text: str) -> None:
    page = link("a.css") + f"<style>{text}</style>"
    made = run(["rewrite_css"], page, stored("/a.css", text))
    assert page_of(made) == page
    assert paths(made) == ["page.test/index.html", "page.test/a.css"]


def test_style_attributes() -> None:
    page = '<p style=" color : red ; "><p style="background : url( a.png ) ">'
    assert html(["rewrite_style_attributes"], page) == '<p style="color:red"><p style="background:url(a.png)">'
    some = html(["rewrite_style_attributes_with_url"], page)
    assert some == '<p style=" color : red ; "><p style="background:url(a.png)">'


@pytest.mark.parametrize(("size", "inlined"), [(2047, True), (2048, False)])
def test_small_images_become_part_of_a_sheet_in_2012(size: int, inlined: bool) -> None:
    asked = Wish(frozenset({"rewrite_css", "inline_images"}), GENERATIONS["2012"])
    objects = [stored("/index.html", link("a.css")), stored("/a.css", "a{background:url(b.png)}")]
    made = minify([*objects, stored("/b.png", picture(size))], HOST, "/index.html", asked)
    assert ("data:image/png;base64," in made.objects[1].body.decode()) is inlined
    assert len(made.objects) == (2 if inlined else 3)


@pytest.mark.parametrize("size", [100, 3000])
def test_later_no_image_became_part_of_a_sheet(size: int) -> None:
    others = stored("/a.css", "a{background:url(b.png)}"), stored("/b.png", picture(size))
    assert len(run(["rewrite_css", "inline_images"], link("a.css"), *others).objects) == 3


def test_images_in_sheets_live_a_year() -> None:
    others = stored("/s/a.css", "a{background:url(b.png)}"), stored("/s/b.png", b"no picture")
    made = run(["rewrite_css", "extend_cache"], link("s/a.css"), *others)
    name = f"b.png.pagespeed.ce.{hash_of(b'no picture')}.png"
    assert body_of(made, ".css") == f"a{{background:url({name})}}"
    assert f"page.test/s/{name}" in paths(made)
    assert "page.test/s/b.png" not in paths(made)


def test_addresses_of_broken_sheets_are_rewritten_too() -> None:
    others = stored("/a.css", "a { background: url(b.png) }}"), stored("/b.png", b"no picture")
    assert (
        body_of(run(["rewrite_css", "extend_cache_images"], link("a.css"), *others), ".css")
        == "a { background: url(b.png) }}"
    )
    made = run(["rewrite_css", "extend_cache_images", "fallback_rewrite_css_urls"], link("a.css"), *others)
    assert body_of(made, ".css").startswith("a { background: url(b.png.pagespeed.ce.")
