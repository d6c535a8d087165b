"""Scripts: what is shortened, put into pages and combined; every threshold from both sides, and what is left alone."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelab.driver.site.minify.client_scripts import BLANK_IMAGE, client_script, lazyload_script
from lanelab.driver.site.minify.javascript import (
    INLINE_MAX_BYTES,
    Shortened,
    Unchanged,
    call_of,
    combination,
    is_javascript,
    looks_itself_up,
    not_combined,
    not_inlined,
    shorten,
    variable_of,
)


@pytest.mark.parametrize(
    ("script", "made"),
    [
        (b"var a = 1;  // one\n", b"var a=1;"),
        (b"/* two */ f ( x ) ;", b"f(x);"),
        (b"<!-- hide;\nvar a  = 1;\n//-->", b"var a=1;"),
        (b"a = b\n++c  ", b"a=b\n++c"),
        (b"s = 'it''s // no comment'  ;", b"s='it''s // no comment';"),
        (b"r = /[/'\"]  x/g . test( y ) ", b"r=/[/'\"]  x/g.test(y)"),
        (b"t = `x   ${ a  +  b }  // text`;  u = 1", b"t=`x   ${ a  +  b }  // text`;u=1"),
        (b"if (a) { b  } // c", b"if(a){b}"),
        ("x = 'é'  ;".encode("latin-1"), "x='é';".encode("latin-1")),
    ],
)
def test_scripts_get_shorter(script: bytes, made: bytes) -> None:
    assert shorten(script) == Shortened(made)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (b"a=1", "shorter"),
        (b"", "shorter"),
        (b"if (x) /a  b/.test(s)", "divides or begins"),
        (b"while ((x)) /'/.test(s)", "divides or begins"),
        (b"x = typeof /a  '/.x ; b  = '  c  '", "divides or begins"),
        (b"function f() {}\n/a  '/.test(b)", "divides or begins"),
        (b"t = `a ${ `b   c` } d`;  x  = 1", "templates"),
        (b"x = i++ / 2 ; s = 'a/  b'", "divides or begins"),
        (b"f = s => /a  b/.test(s)", "divides or begins"),
        (b"export default /a  b/ ;", "divides or begins"),
        (b"class A {  a\n  #b  = 1 }", "end of its line"),
        (b"a = f( ) // one\n'two'", "end of its line"),
        (b"/*@cc_on alert( 1 ) @*/  a", "Internet Explorer"),
        (b"var  a; <!-- it's\n b = ' x  '", "HTML's comments"),
        (b"var  a;\n --> it's\n b = ' x  '", "HTML's comments"),
        (b"a  \0 = 1", "NUL"),
    ],
)
def test_what_could_be_misread_is_left_alone(script: bytes, why: str) -> None:
    result = shorten(script)
    assert isinstance(result, Unchanged)
    assert why in result.why


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text("a /'\"`\n(){}$<!->;", max_size=80).map(str.encode)))
def test_any_bytes_are_shortened_or_left_alone(script: bytes) -> None:
    result = shorten(script)
    assert isinstance(result, Unchanged) or len(result.body) < len(script)
    not_inlined(script)
    not_combined(script)
    looks_itself_up(script)


def test_inlining_has_a_threshold() -> None:
    assert not_inlined(b"x" * INLINE_MAX_BYTES) is None
    assert "2,048" in str(not_inlined(b"x" * (INLINE_MAX_BYTES + 1)))


@pytest.mark.parametrize(
    "script", [b"d='</SCRIPT>'", b"document.getElementsByTagName('script')[0]", b'$("script").last()', b"a='<!--'"]
)
def test_what_cannot_stand_in_a_page(script: bytes) -> None:
    assert not_inlined(script)


def test_what_cannot_be_combined() -> None:
    assert not_combined(b"f()") is None
    assert not_combined("x = 'é'".encode()) is None
    assert "use strict" in str(not_combined(b"'use strict'; f()"))
    assert "UTF-8" in str(not_combined("x = 'é'".encode("latin-1")))
    assert "find itself" in str(not_combined(b"$('script')"))
    for script in (b"const A = 1", b"let {a} = b", b"class A {}"):
        assert "would not see" in str(not_combined(script))
    assert not_combined(b"s = 'let it be' // const a") is None


def test_a_script_that_asks_for_its_tag_keeps_it() -> None:
    script = b"base(document.currentScript.src)"
    assert "its own tag" in str(not_combined(script))
    assert "its own tag" in str(not_inlined(script))


def test_a_combination_holds_every_script_whole() -> None:
    scripts = {"/a.js": 'x = "é\u2028</script>\\n";\n// end', "/b.js?v=1": "\ufefff('\\'')"}
    text = combination([(path, script.encode()) for path, script in scripts.items()]).decode()
    lines = dict(re.findall(r"var (\S+) = (.*);\n", text))
    assert {name: json.loads(value) for name, value in lines.items()} == {
        variable_of(path): script.removeprefix("\ufeff") for path, script in scripts.items()
    }
    assert "\u2028" not in text
    assert call_of("/a.js") == f"eval({variable_of('/a.js')});"


@given(st.text(max_size=30))
def test_variables_are_names(path: str) -> None:
    assert re.fullmatch(r"mod_pagespeed_[\w$]{10}", variable_of(path))


@pytest.mark.parametrize(
    ("type_", "language", "is_one"),
    [
        (None, None, True),
        ("", "vbscript", True),
        (" Text/JavaScript ", None, True),
        ("application/x-javascript", None, True),
        ("text/vbscript", None, False),
        ("module", None, False),
        (" ", None, False),
        ("application/json", "javascript", False),
        (None, "JavaScript1.2", True),
        (None, "", True),
        (None, "vbscript", False),
    ],
)
def test_which_tags_are_javascript(type_: str | None, language: str | None, is_one: bool) -> None:
    assert is_javascript(type_, language) is is_one


def test_the_scripts_for_pages_may_stand_in_pages() -> None:
    for name in ("lazyload_images", "delay_images", "defer_javascript"):
        assert "</script" not in client_script(name)
        assert "//" not in client_script(name)
    assert lazyload_script().endswith(f'pagespeed.lazyLoadInit(false,"{BLANK_IMAGE}");')
