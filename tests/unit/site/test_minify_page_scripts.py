"""What the filters do to the scripts of a page, through the whole of minify."""

import re

import pytest

from lanelab.driver.site.minify.javascript import call_of
from tests.kit.minified import minified, page_of, paths_of, told

LONG = b"function add(first, second) {\n  // adds\n  return first + second;\n}\n"
SHORT = b"function add(first,second){return first+second;}"


def test_scripts_are_shortened_in_files_and_in_the_page() -> None:
    page = "<script>\nvar a  = 1; // one\n</script><script src=/a.js></script><script type=text/x-tmpl> a  b </script>"
    made = minified(page, {"/a.js": LONG}, "rewrite_javascript")
    (path,) = paths_of(made)
    assert re.fullmatch(r"/a\.js\.pagespeed\.jm\.[\w-]{10}\.js", path)
    assert made.objects[1].body == SHORT
    assert made.objects[1].object.compressed == "gzip"
    assert "<script>var a=1;</script>" in page_of(made)
    assert "<script type=text/x-tmpl> a  b </script>" in page_of(made)
    for one, other in (("rewrite_javascript_inline", "/a.js"), ("rewrite_javascript_external", "var a  = 1;")):
        assert other in page_of(minified(page, {"/a.js": LONG}, one))


def test_what_stays_says_why() -> None:
    lookup = b"var all = document.getElementsByTagName('script'); // where am I\n"
    made = minified("<script src=/a.js></script>", {"/a.js": lookup}, "core")
    assert paths_of(made)[0].startswith("/a.js")
    assert made.objects[1].body == lookup
    assert any("would not find itself" in each for each in told(made, "inline_javascript"))
    assert any("would not find itself" in each for each in told(made, "rewrite_javascript_external"))


@pytest.mark.parametrize(("size", "inlined"), [(2048, True), (2049, False)])
def test_files_are_inlined_up_to_the_threshold(size: int, inlined: bool) -> None:
    made = minified("<script src=/a.js></script>", {"/a.js": b"x" * size}, "inline_javascript")
    assert (paths_of(made) == []) is inlined
    assert ("<script>xxx" in page_of(made)) is inlined


@pytest.mark.parametrize(
    "tag",
    [
        "<script src=/a.js async></script>",
        "<script src=/a.js defer></script>",
        "<script src=/a.js>data</script>",
        "<script src=/a.js type=module></script>",
        "<script src=/a.js>",
    ],
)
def test_scripts_that_run_otherwise_are_not_inlined(tag: str) -> None:
    assert page_of(minified(tag, {"/a.js": b"f()"}, "inline_javascript")) == tag


def test_text_of_another_encoding_is_not_inlined() -> None:
    tag = '<script src="/a.js"></script>'
    french = {"/a.js": "x='é'".encode()}
    assert paths_of(minified(tag, french, "inline_javascript")) == ["/a.js"]
    assert paths_of(minified("<meta charset=UTF-8>" + tag, french, "inline_javascript")) == []
    assert paths_of(minified("<meta charset=latin1><script src=/a.js charset=utf-8></script>", french, "core-2012"))


def test_xhtml_gets_its_script_in_cdata() -> None:
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">'
    page = page_of(minified(f"{doctype}<script src='/a.js'></script>", {"/a.js": b"a<b"}, "inline_javascript"))
    assert page.endswith("<script>//<![CDATA[\na<b\n//]]></script>")
    kept = minified(f"{doctype}<script src='/a.js'></script>", {"/a.js": b"a=']]>'"}, "inline_javascript")
    assert paths_of(kept) == ["/a.js"]


def test_scripts_are_combined_and_run_where_they_were() -> None:
    files = {"/a.js": b"a()", "/b.js": b"b('\"')"}
    made = minified("<script src=a.js></script><p>1<script src=b.js></script>", files, "combine_javascript")
    (path,) = paths_of(made)
    assert re.fullmatch(r"/a\.js\+b\.js\.pagespeed\.jc\.[\w-]{10}\.js", path)
    assert page_of(made) == (
        f'<script src="{path[1:]}"></script><script>{call_of("/a.js")}</script><p>1<script>{call_of("/b.js")}</script>'
    )
    assert b'"b(\'\\"\')"' in made.objects[1].body


def test_the_last_release_shortens_what_it_combines() -> None:
    page = "<script src=/a.js></script><script src=/b.js></script>"
    for filters, short in (("combine_javascript,rewrite_javascript", True), ("combine_javascript", False)):
        made = minified(page, {"/a.js": LONG, "/b.js": b"b()"}, filters)
        assert len(made.objects) == 2
        assert (b"// adds" not in made.objects[1].body) is short


@pytest.mark.parametrize(
    "between",
    [
        "<script>c()</script>",
        "<script src=/c.js async></script>",
        "<noscript><script src=/c.js></script></noscript>",
        "<script type=text/vbscript src=/c.js></script>",
        "<!--[if IE]><p><![endif]-->",
        "<script src=/strict.js></script>",
        "<script src=/c.js nomodule></script>",
        "<script src=/c.js>data</script>",
    ],
)
def test_what_ends_a_combination(between: str) -> None:
    files = {"/a.js": b"a()", "/b.js": b"b()", "/c.js": b"c()", "/strict.js": b"'use strict'"}
    page = f"<script src=/a.js></script>{between}<script src=/b.js></script>"
    made = minified(page, files, "combine_javascript")
    assert not [path for path in paths_of(made) if ".jc." in path]
    assert page_of(made) == page


def test_scripts_of_several_folders_are_combined_in_the_one_that_has_them() -> None:
    page = "<script src=/d/e/a.js></script><script src=/d/b.js></script>"
    (path,) = paths_of(minified(page, {"/d/e/a.js": b"a()", "/d/b.js": b"b()"}, "combine_javascript"))
    assert path.startswith("/d/e,_a.js+b.js.pagespeed.jc.")


@pytest.mark.parametrize(("length", "combined"), [(445, True), (446, False)])
def test_names_have_a_longest_segment(length: int, combined: bool) -> None:
    one, other = f"/{'a' * length}.js", f"/{'b' * length}.js"
    page = f"<script src={one}></script><script src={other}></script>"
    assert (".jc." in page_of(minified(page, {one: b"a()", other: b"b()"}, "combine_javascript"))) is combined


@pytest.mark.parametrize(("size", "combined"), [(92_160, True), (92_161, False)])
def test_the_last_release_limits_a_combination(size: int, combined: bool) -> None:
    files = {"/a.js": b"a" * 1000, "/b.js": b"b" * (size - 1000)}
    page = "<script src=/a.js></script><script src=/b.js></script>"
    assert (".jc." in page_of(minified(page, files, "combine_javascript"))) is combined
    assert ".jc." in page_of(minified(page, files, "core-2012,combine_javascript"))


def test_deferred_scripts_are_of_no_type_that_runs() -> None:
    page = (
        '<head></head><body onload="go()"><script src="/a.js" type="text/javascript"></script><script>b()</script>'
        "<script pagespeed_no_defer>c()</script><script type=module>d()</script>"
    )
    made = page_of(minified(page, {}, "defer_javascript"))
    assert '<script orig_src="/a.js" orig_type="text/javascript" type="text/psajs" orig_index="0">' in made
    assert '<script type="text/psajs" orig_index="1">b()' in made
    assert "<script pagespeed_no_defer>c()" in made
    assert "<script type=module>d()" in made
    assert 'onload="pagespeed.deferJs.addOnloadListeners(this, function() {go()});"' in made
    assert made.index("deferJs={") < made.index("</head>")
    old = page_of(minified(page, {}, "defer_javascript", user_agent="Mozilla/4.0 (compatible; MSIE 8.0)"))
    assert old == page


def test_what_deferred_scripts_ask_for_is_late() -> None:
    page = "<head></head><img src=/a.png><script src=/a.js></script><link rel=stylesheet href=/a.css>"
    files = {"/a.png": b"x", "/a.js": b"load('/b.js')", "/b.js": b"b()", "/a.css": b"p{background:url(c.png)}"}
    files["/c.png"] = b"y"
    made = minified(page, files, "defer_javascript")
    assert {each.object.path: each.object.late for each in made.objects} == {
        "/index.html": False,
        "/a.png": False,
        "/a.js": True,
        "/b.js": True,
        "/a.css": False,
        "/c.png": False,
    }
    assert not any(each.object.late for each in minified(page, files, "add_head").objects)
