"""Minify on pages of today: what a browser would refuse, or would take for something else, stays as it is."""

import pytest

from tests.kit.minify_site import body_of, html, page_of, paths, run, stored

CSS, JS = "a { color : red ; }\n" * 200, "var a  =  1 ;\n" * 300
SMALL = (stored("/a.css", "a { b : c }"), stored("/a.js", "f( )  ;"))
PAGE = "<head><link rel=stylesheet href=a.css><script src=a.js></script></head>"


@pytest.mark.parametrize("wanted", ["core", "core-2012"])
def test_what_a_hash_names_keeps_its_content(wanted: str) -> None:
    page = "<link rel=stylesheet href=a.css{0}><script src=a.js{0}></script>"
    files = (stored("/a.css", CSS), stored("/a.js", JS))
    hashed = run([wanted], page.format(' integrity="sha256-abc="'), *files)
    bodies = sorted(len(each.body) for each in hashed.objects if each.object.path != "/index.html")
    assert bodies == sorted([len(CSS), len(JS)])
    assert [each.filter for each in hashed.effects if "hash" in each.what] == [
        "rewrite_css",
        "rewrite_javascript_external",
    ]
    assert all(
        len(each.body) < len(CSS)
        for each in run([wanted], page.format(""), *files).objects
        if ".css" in each.object.path
    )


def test_a_module_keeps_the_name_by_which_others_import_it() -> None:
    page = '<script type="module" src="main.js"></script><script type="module" src="b.js"></script>'
    files = (stored("/main.js", JS), stored("/b.js", "import './main.js'"))
    made = run(["core"], page, *files)
    assert page_of(made) == page
    assert paths(made) == ["page.test/index.html", "page.test/main.js", "page.test/b.js"]


def test_addresses_in_sets_of_images_move_with_their_sheet() -> None:
    sheet = 'a{background:image-set("x.png" type("image/png") 1x, url(y.png) 2x);content:"z.png"}'
    page = html(["inline_css"], "<link rel=stylesheet href=d/a.css>", stored("/d/a.css", sheet))
    moved = sheet.replace("x.png", "d/x.png").replace("y.png", "d/y.png")
    assert page == f"<style>{moved}</style>"
    other = stored("/b.css", "b{c:d}")
    links = "<link rel=stylesheet href=d/a.css><link rel=stylesheet href=b.css>"
    assert body_of(run(["combine_css"], links, stored("/d/a.css", sheet), other), ".css") == moved + "b{c:d}"


@pytest.mark.parametrize(("begin", "same"), [('@charset "iso-8859-1";', False), ("\xef\xbb\xbf", True), ("", True)])
def test_a_sheet_of_other_characters_than_the_pages_stays_apart(begin: str, *, same: bool) -> None:
    """By its own word or first bytes, where its header says nothing."""
    page = "<meta charset=utf-8><link rel=stylesheet href=b.css><link rel=stylesheet href=a.css>"
    odd, plain = stored("/a.css", f"{begin}a:before{{content:'\xc3\xa9'}}"), stored("/b.css", "b{c:'\xc3\xa9'}")
    assert ("content:" in html(["inline_css"], page, odd, plain)) is same
    assert any(".cc." in path for path in paths(run(["combine_css"], page, odd, plain))) is same
    latin = page.replace("utf-8", "iso-8859-1")
    assert ("content:" in html(["inline_css"], latin, odd, plain)) is not begin.startswith("\xef")


@pytest.mark.parametrize(
    ("policy", "style", "script"),
    [
        ("", True, True),
        ("default-src 'self'", False, False),
        ("script-src 'self'", True, False),
        ("default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'", True, False),
        ("script-src 'unsafe-inline'; style-src 'self'", False, True),
        ("script-src 'unsafe-inline' 'nonce-abc'", True, False),
        ("script-src 'unsafe-inline', script-src 'self'", True, False),
        ("img-src *; frame-ancestors 'none'", True, True),
    ],
)
def test_what_a_policy_forbids_does_not_become_part_of_the_page(policy: str, *, style: bool, script: bool) -> None:
    by_header = (("Content-Type", "text/html"), ("Content-Security-Policy", policy))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    for page, headers in ((PAGE, by_header), (meta + PAGE, ())):
        text = page_of(run(["inline_css", "inline_javascript"], page, *SMALL, headers=headers))
        assert ("<style>" in text, "<script>" in text) == (style, script)


def test_a_policy_that_names_hashes_keeps_what_they_are_of() -> None:
    headers = (("Content-Security-Policy", "script-src 'sha256-abc='"),)
    page = "<script>var a  =  1 ;</script>"
    assert page_of(run(["rewrite_javascript"], page, headers=headers)) == page
    assert page_of(run(["rewrite_javascript"], page)) != page


def test_images_become_part_of_the_page_where_its_policy_takes_that() -> None:
    gif = b"GIF89a\1\0\1\0\x80\0\0\xff\xff\xff\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
    for policy, becomes in (("img-src 'self'", False), ("img-src 'self' data:", True)):
        headers = (("Content-Security-Policy", policy),)
        text = page_of(run(["inline_images"], "<img src=i.gif>", stored("/i.gif", gif), headers=headers))
        assert ("data:" in text) is becomes
