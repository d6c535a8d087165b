"""Minify: pages in nodes, and the filters that edit a page's own text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.minify import FILTERS, SETS, parse_minify
from lanelab.driver.site.minify.html.nodes import Comment, Declaration, EndTag, RawText, StartTag, Text
from lanelab.driver.site.minify.html.page import Page
from lanelab.driver.site.minify.html.split import nodes_text, split
from tests.kit.minify_site import html, page_of, run

MARKUP = st.lists(
    st.sampled_from(
        [
            *("<", ">", "</", "/>", "<!--", "-->", "<!", "<?", "=", '"', "'", " ", "\n", "&amp;", "&", "a", "\xe9"),
            *("<p>", "</p>", "<script>", "</script>", "<style>", "</style>", "<pre>", "</pre>", "<textarea>", "<head>"),
            *("</head>", "<body>", "<link rel=stylesheet href=a.css>", '<img src="b.png" alt="">', "<noscript>"),
            *("<![endif]-->", "<!--[if IE]>", "@import 'x';", "a{b:c}", "<base href=/d/>", '<p style="a:url(b.png)">'),
        ]
    ),
    max_size=40,
).map("".join)
# Filters that say the same in fewer characters.
SAME_MEANING = ("add_head", "remove_comments", "elide_attributes", "trim_urls", "remove_quotes", "convert_meta_tags")


@given(st.one_of(st.binary(max_size=300), MARKUP.map(lambda text: text.encode("latin-1"))))
def test_every_byte_of_a_page_is_in_a_node(body: bytes) -> None:
    assert Page.read(body).written() == body


@given(st.one_of(st.binary(max_size=300).map(lambda body: body.decode("latin-1")), MARKUP))
def test_no_page_is_too_odd_for_any_filter(text: str) -> None:
    assert html([*FILTERS], text) is not None


@given(MARKUP)
def test_what_makes_pages_smaller_keeps_their_text(text: str) -> None:
    def words(page: str) -> list[str]:
        return [node.raw for node in split(page) if isinstance(node, Text | RawText)]

    made = html(SAME_MEANING, text)
    assert "".join(words(made)) == "".join(words(text))
    assert html(SAME_MEANING, made) == made


@given(MARKUP)
def test_collapsed_white_space_leaves_the_words(text: str) -> None:
    made = html(["collapse_whitespace"], text)
    assert made.split() == text.split()
    assert html(["collapse_whitespace"], made) == made


def test_nodes_are_those_of_a_browser() -> None:
    text = (
        '<!DOCTYPE html><p a="x>y" b=\'"\' c=d>1 < 2</p><!-- <b> --><script>"<p></p>"</script><textarea><b></textarea>'
    )
    assert [type(node) for node in split("</\xe9></e>")] == [Declaration, EndTag]  # a letter of others begins no tag
    kinds = [(type(node), node.raw) for node in split(text)]
    assert kinds == [
        (Declaration, "<!DOCTYPE html>"),
        (StartTag, '<p a="x>y" b=\'"\' c=d>'),
        (Text, "1 < 2"),
        (EndTag, "</p>"),
        (Comment, "<!-- <b> -->"),
        (StartTag, "<script>"),
        (RawText, '"<p></p>"'),
        (EndTag, "</script>"),
        (StartTag, "<textarea>"),
        (RawText, "<b>"),
        (EndTag, "</textarea>"),
    ]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<script><!--\n<script>a</script>b\n--></script>c", "<!--\n<script>a</script>b\n-->"),
        ("<script><!--\na\n</script>c", "<!--\na\n"),
        ("<script>'<script>'</script>c", "'<script>'"),
    ],
)
def test_a_script_ends_where_a_browser_ends_it(text: str, content: str) -> None:
    nodes = split(text)
    assert [node.raw for node in nodes if isinstance(node, RawText)] == [content]
    assert nodes_text(nodes) == text


def test_attributes_keep_what_is_not_edited() -> None:
    tag = StartTag("<IMG  SRC = 'a.png'\n alt=\"1 &amp; 2\" ismap/>")
    assert (tag.name, tag.get("src"), tag.get("alt"), tag.get("ismap"), tag.has("ismap")) == (
        *("img", "a.png", "1 & 2"),
        *(None, True),
    )
    assert tag.with_value("src", "b'&.png").raw == "<IMG  SRC='b&#39;&amp;.png'\n alt=\"1 &amp; 2\" ismap/>"
    assert tag.with_value("width", "3").raw == '<IMG  SRC = \'a.png\'\n alt="1 &amp; 2" ismap width="3"/>'
    assert tag.without("alt").raw == "<IMG  SRC = 'a.png' ismap/>"


TAGS = st.lists(
    st.sampled_from(["a", "type", "=", '"text"', "'x'", "y", '""', "/", " ", "\n", "disabled", "'a b'", '"/"', "href"]),
    max_size=12,
).map(lambda parts: f"<input {''.join(parts)}>")


@given(TAGS)
@settings(max_examples=200)
def test_an_edit_of_one_attribute_leaves_the_others(text: str) -> None:
    """As the next reader of the tag sees them."""
    (tag, *rest) = split(text)
    if rest or not isinstance(tag, StartTag):
        return
    others = [(each.name, each.written) for each in tag.attributes if each.name != "type"]
    for edited in (tag.with_value("type", "z"), tag.without("type")):
        (again,) = split(edited.raw)
        assert isinstance(again, StartTag)
        assert [(each.name, each.written) for each in again.attributes if each.name != "type"] == others
        assert again.get("type") == edited.get("type")


@given(TAGS)
@settings(max_examples=200)
def test_values_are_the_same_without_quotes(text: str) -> None:
    def values(page: str) -> list[tuple[str, str | None]]:
        return [
            (each.name, each.written) for node in split(page) if isinstance(node, StartTag) for each in node.attributes
        ]

    assert values(html(["remove_quotes"], text)) == values(text)


def test_a_slash_does_not_become_part_of_a_value() -> None:
    assert html(["remove_quotes"], '<input value="Go"/>') == "<input value=Go />"
    assert html(["elide_attributes"], '<input a=x type="text"/>') == "<input a=x />"


def test_the_first_of_two_attributes_counts() -> None:
    assert StartTag('<a href=1 href="2">').get("href") == "1"


def test_a_value_that_only_the_pages_encoding_could_say_is_not_read() -> None:
    assert StartTag("<a href='&eacute;'>").get("href") is None
    assert StartTag("<a href='\xe9&amp;'>").get("href") == "\xe9&"


def test_a_page_without_head_gets_one() -> None:
    assert html(["add_head"], "<html><body>1</body></html>") == "<html><head></head><body>1</body></html>"
    assert html(["add_head"], "<p>1</p>") == "<p>1</p>"
    assert html(["add_head"], "<head></head><body>") == "<head></head><body>"


def test_heads_become_one() -> None:
    page = "<head><title>1</title></head><body><head><meta name=a></head>2</body>"
    assert html(["combine_heads"], page) == "<head><title>1</title><meta name=a></head><body>2</body>"
    assert html(["combine_heads"], "<head>1</head>2") == "<head>1</head>2"


@pytest.mark.parametrize(
    ("markup", "header", "expected"),
    [
        ('<meta charset="utf-8">', "text/html", "text/html; charset=utf-8"),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">',
            "text/html",
            "text/html; charset=UTF-8",
        ),
        ('<meta charset="utf-8">', "text/html; charset=latin1", "text/html; charset=latin1"),
        ('<noscript><meta charset="utf-8"></noscript>', "text/html", "text/html"),
        ('<meta http-equiv="Content-Type" content="text/plain; charset=utf-8">', "text/html", "text/html"),
        ('<meta http-equiv="refresh" content="3" charset="utf-8">', "text/html", "text/html"),
    ],
)
def test_meta_tags_become_the_header(markup: str, header: str, expected: str) -> None:
    made = run(["convert_meta_tags"], markup, headers=(("Content-Type", header),))
    assert dict(made.objects[0].object.headers)["Content-Type"] == expected
    assert page_of(made) == markup


def test_comments_go_but_those_for_internet_explorer() -> None:
    page = "a<!-- b --><!--[if IE]><b></b><![endif]--><!--[if !IE]><!-->c<!--<![endif]--><script><!-- d --></script>"
    assert html(["remove_comments"], page) == page.replace("<!-- b -->", "")


def test_white_space_collapses_where_it_means_nothing() -> None:
    page = "<p>a  b\t\tc \n d</p><pre>  x  </pre><textarea>  y  </textarea><p a='1  2'>  z"
    expected = "<p>a b\tc\nd</p><pre>  x  </pre><textarea>  y  </textarea><p a='1  2'> z"
    assert html(["collapse_whitespace"], page) == expected


def test_attributes_that_say_the_default_go() -> None:
    page = '<!DOCTYPE html><input type="text" disabled="disabled"><form method="GET"><style type="text/css">a{}</style>'
    assert html(["elide_attributes"], page) == "<!DOCTYPE html><input disabled><form><style>a{}</style>"


def test_defaults_of_html_5_stay_in_older_pages_and_values_in_xhtml() -> None:
    old = '<script type="text/javascript">1</script><td colspan="1"><td colspan="2">'
    assert html(["elide_attributes"], old) == old.replace(' colspan="1"', "")
    xhtml = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><input disabled="disabled"/>'
    assert html(["elide_attributes", "remove_quotes"], xhtml) == xhtml


def test_quotes_go_where_they_are_not_needed() -> None:
    page = """<a id="x-1._:2" class='y z' href="/" title="" rel='next'>"""
    assert html(["remove_quotes"], page) == """<a id=x-1._:2 class='y z' href="/" title="" rel=next>"""


@pytest.mark.parametrize(
    ("written", "trimmed"),
    [
        ("http://page.test/a/b.html", "a/b.html"),
        ("/a/b.html", "a/b.html"),
        ("http://page.test/a.html?q=1#top", "a.html?q=1#top"),
        ("https://page.test/a", "https://page.test/a"),
        ("http://other.test/a", "http://other.test/a"),
        ("//page.test/a", "a"),
        ("/", "/"),
        ("/a:b/c", "/a:b/c"),
        ("/?q", "/?q"),
    ],
)
def test_addresses_become_relative(written: str, trimmed: str) -> None:
    assert html(["trim_urls"], f'<a href="{written}">') == f'<a href="{trimmed}">'


def test_addresses_are_trimmed_against_the_base() -> None:
    page = '<base href="http://page.test/deep/er/"><img src="http://page.test/deep/er/a.png"><img src="/b.png">'
    assert html(["trim_urls"], page) == page.replace("http://page.test/deep/er/a", "a")


def test_the_page_has_the_modules_header() -> None:
    headers = (("Content-Type", "text/html"), ("ETag", '"1"'), ("Last-Modified", "x"), ("Expires", "y"), ("X-A", "b"))
    made = run(["core-2012"], "<p>", headers=headers)
    assert made.objects[0].object.headers == (
        ("Content-Type", "text/html"),
        ("X-A", "b"),
        ("X-Mod-Pagespeed", "0.10.22.4"),
        ("Cache-Control", "no-cache"),
    )
    assert made.objects[0].object.compressed == "gzip"


def test_what_is_no_page_is_left_alone() -> None:
    answer = run(["core-2012"], "<body>", status=404)
    assert page_of(answer) == "<body>"
    assert answer.objects[0].object.compressed is None


def test_wishes() -> None:
    assert parse_minify("off") is None
    assert parse_minify(value=False) is None
    assert parse_minify("core-2012") == SETS["core-2012"]
    assert parse_minify("page-2012") is not None
    both = parse_minify("core-2012, remove_comments")
    assert both is not None
    assert both.generation.name == "2012"
    assert both.filters == SETS["core-2012"].filters | {"remove_comments"}
    alias = parse_minify(["extend_cache"])
    assert alias is not None
    assert alias.filters == {"extend_cache_css", "extend_cache_images", "extend_cache_scripts"}
    assert alias.generation.name == "last"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("combin_css", "Did you mean combine_css?"),
        ("core core-2012", "cannot be together"),
        ("x", "Write off, core-2012"),
    ],
)
def test_a_wish_that_cannot_be(value: str, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("?", "[?]")):
        parse_minify(value)
