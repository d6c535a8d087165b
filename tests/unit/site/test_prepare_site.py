"""Sites as arms want them: one scheme, one coding, and the same bytes each time."""

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.site import bodies
from lanelab.driver.site.coding import CODINGS, decode, decoded, encode, encoded
from lanelab.driver.site.named_hosts import named_hosts
from lanelab.driver.site.prepare import AS_ARCHIVED, Variant, prepare
from lanelab.driver.site.prepare.schemes import unify
from lanelab.driver.site.site import Headers, Site, SiteObject, StoredObject
from tests.kit.images import drawing, saved

HTML, JS = "text/html", "text/javascript"


def stored(url: str, body: bytes | str, mime: str = HTML, headers: Headers = (), **more: object) -> StoredObject:
    data = body.encode("latin-1") if isinstance(body, str) else body
    scheme, _, rest = url.rpartition("://")
    host, _, path = rest.partition("/")
    digest = hashlib.sha256(data).hexdigest()
    each = SiteObject(host, "/" + path, len(data), mime, digest, scheme=scheme or "http", headers=headers)
    return StoredObject(replace(each, **more), data)  # type: ignore[arg-type]


def integrity(body: bytes) -> str:
    return "sha384-" + base64.b64encode(hashlib.sha384(body).digest()).decode()


def texts(objects: tuple[StoredObject, ...]) -> dict[str, str]:
    return {each.object.url: decoded(each).body.decode("latin-1") for each in objects}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<a href="https://b.test/x">', '<a href="http://b.test/x">'),
        ('<a href="HTTPS://B.test">', '<a href="http://B.test">'),
        ('{"u":"https:\\/\\/a.test\\/x"}', '{"u":"http:\\/\\/a.test\\/x"}'),
        ("?to=https%3A%2F%2Fa.test%2F", "?to=http%3A%2F%2Fa.test%2F"),
        ("url(https://b.test/)", "url(http://b.test/)"),
        ('"https://b.test:443/x"', '"http://b.test/x"'),
        # hosts that are not the site's, or only begin or end like one
        ("https://other.test/ https://a.test.evil.test/ https://xa.test/", None),
        ("https://a.testing/ xhttps://a.test/ //a.test/x", None),
        ("\xff\x00https\xfe", None),
    ],
)
def test_addresses_of_the_sites_hosts_get_the_scheme(before: str, after: str | None) -> None:
    made = unify([stored("https://a.test/", before), stored("https://b.test/x", "x", "image/png")], "http")
    assert texts(made)["a.test/"] == (before if after is None else after)
    assert {each.object.scheme for each in made} == {"http"}


def test_headers_follow_and_what_leads_back_to_tls_goes() -> None:
    headers = (
        ("Location", "https://b.test/y"),
        ("Access-Control-Allow-Origin", "https://a.test"),
        ("Content-Security-Policy", "upgrade-insecure-requests; img-src https://b.test"),
        ("Strict-Transport-Security", "max-age=1"),
        ("X-Other", "https://b.test/"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
    )
    page = '<meta http-equiv="Content-Security-Policy" content="upgrade-insecure-requests">'
    first = stored("https://a.test/", page, headers=headers, status=302)
    made = unify([first, stored("https://b.test/y", "y")], "http")
    assert made[0].object.headers == (
        ("Location", "http://b.test/y"),
        ("Access-Control-Allow-Origin", "http://a.test"),
        ("Content-Security-Policy", " img-src http://b.test"),
        ("X-Other", "https://b.test/"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
    )
    assert "upgrade" not in texts(made)["a.test/"]
    kept = unify([first], "https")[0].object.headers
    assert kept == headers


def inline_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def test_a_policy_names_inline_scripts_and_styles_as_they_are_served() -> None:
    """By hashes of what stands in the page, in a header or in the page itself, as many as there are."""
    script, style, other = 'fetch("https://a.test/x")', "a { background: url(https://a.test/y) }", "alert(1)"
    page = '<meta http-equiv=Content-Security-Policy content="style-src {style}"><script>{script}</script>\r\n'
    page += "<style>\r\n{plain}</style><SCRIPT nonce=x>{other}</script>"

    def made(script: str, style: str) -> tuple[str, str]:
        policy = f"script-src {inline_hash(script)} {inline_hash(other)}"
        text = page.format(style=inline_hash(f"\n{style}"), plain=style, script=script, other=other)
        return policy, text

    policy, text = made(script, style)
    objects = [
        stored("https://a.test/", text, headers=(("content-security-policy", policy),)),
        stored("https://a.test/x", "x"),
        stored("https://a.test/y", "y", "image/png"),
    ]
    wanted = made(script.replace("https", "http"), style.replace("https", "http"))
    changed = unify(objects, "http")
    assert (changed[0].object.headers, texts(changed)["a.test/"]) == (
        (("content-security-policy", wanted[0]),),
        wanted[1],
    )


@pytest.mark.parametrize(
    ("scheme", "before", "after"),
    [
        ("http", "wss://a.test/x wss://other.test/", "ws://a.test/x ws://other.test/"),
        ("https", '"ws:\\/\\/a.test" "ws://" + host', '"wss:\\/\\/a.test" "wss://" + host'),
        ("https", "news://a.test xws://a.test wss://a.test", None),
    ],
)
def test_addresses_of_websockets_follow(scheme: str, before: str, after: str | None) -> None:
    """Of any host: a page with TLS may not even name one without."""
    made = unify([stored("https://a.test/", before, headers=(("Content-Security-Policy", before),))], scheme)
    assert texts(made)["a.test/"] == made[0].object.headers[0][1] == (before if after is None else after)


def test_an_address_in_another_alphabet_gets_the_scheme_too() -> None:
    page = "https://b\u00fccher.test/x https://xn--bcher-kva.test/ https://\u00fcb.test/".encode()
    made = unify([stored("https://xn--bcher-kva.test/", page)], "http")
    assert made[0].body.decode() == "http://b\u00fccher.test/x http://xn--bcher-kva.test/ https://\u00fcb.test/"


def test_a_redirect_to_the_same_address_with_tls_is_no_step_any_more() -> None:
    step = stored("http://a.test/", "", headers=(("Location", "https://a.test/"),), status=301)
    page = stored("https://a.test/", "page")
    other = stored("http://a.test/b", "", headers=(("Location", "https://a.test/c"),), status=301)
    for order in ([step, page, other], [page, step, other]):
        made = unify(order, "http")
        assert [(each.object.path, each.object.status) for each in made] == [("/", 200), ("/b", 301)]


@pytest.mark.parametrize("location", ["https://a.test", "https://A.test/", "https://a.test:443/", "https://a.test/#x"])
def test_a_redirect_to_itself_is_one_however_it_is_written(location: str) -> None:
    step = stored("http://a.test/", "", headers=(("Location", location),), status=301)
    assert [each.object.status for each in unify([step, stored("https://a.test/", "page")], "http")] == [200]


@pytest.mark.parametrize("location", ["https://a.test/?x", "http://[/", "https://b.test/"])
def test_a_redirect_elsewhere_stays(location: str) -> None:
    step = stored("http://a.test/", "", headers=(("Location", location),), status=301)
    assert [each.object.status for each in unify([step], "http")] == [301]


def test_hashes_that_the_page_names_stay_right() -> None:
    inner = b'go("https://a.test/")'
    outer = f"load({integrity(inner)!r})".encode()
    page = f'<script src="/outer.js" integrity="{integrity(outer)}"></script>'
    objects = [
        stored("https://a.test/", page),
        stored("https://a.test/outer.js", outer, JS),
        stored("https://a.test/inner.js", inner, JS),
    ]
    made = texts(unify(objects, "http"))
    assert made["a.test/inner.js"] == 'go("http://a.test/")'
    assert integrity(made["a.test/inner.js"].encode()) in made["a.test/outer.js"]
    assert integrity(made["a.test/outer.js"].encode()) in made["a.test/"]


@pytest.mark.parametrize("coding", CODINGS)
def test_what_is_changed_keeps_its_coding(coding: str) -> None:
    plain = stored("https://a.test/", "see https://a.test/ and more " * 50)
    made = unify([encoded(plain, coding)], "http")[0]
    assert made.object.encoding == coding
    assert made.object.size == len(made.body) < len(plain.body)
    assert decoded(made).body == plain.body.replace(b"https", b"http")


@given(st.binary(max_size=2000), st.sampled_from(CODINGS))
def test_codings_give_back_what_they_got(body: bytes, coding: str) -> None:
    assert decode(encode(body, coding), coding) == body
    assert encode(body, coding) == encode(body, coding)


@given(st.binary(min_size=1, max_size=300), st.sampled_from(CODINGS))
def test_any_body_is_decoded_or_refused(body: bytes, coding: str) -> None:
    refused = ""
    try:
        decode(body, coding)
    except InputError as error:
        refused = str(error)
    assert not refused or coding in refused


@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_that_is_cut_short_is_refused(coding: str) -> None:
    whole = encode(bytes(range(256)) * 40, coding)
    with pytest.raises(InputError, match="is not"):
        decode(whole[: len(whole) // 2], coding)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate"])
def test_a_body_that_expands_without_end_is_refused(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanelab.driver.site.coding.LARGEST_BODY", 1_000_000)
    bomb = encode(bytes(5_000_000), coding)
    with pytest.raises(InputError, match="expands to more than 1000000 bytes"):
        decode(bomb, coding)


def site(folder: Path, *objects: StoredObject) -> Site:
    content = folder / "site" / "bodies"
    content.mkdir(parents=True)
    first = objects[0].object
    return Site("one", "One", first.host, first.path, bodies.store(content, objects), content)


def packed(folder: Path) -> Site:
    page = stored("https://a.test/", "<p>hello</p> https://a.test/ " * 100)
    return site(folder, encoded(page, "br"), stored("https://a.test/i.png", bytes(100), "image/png"))


def test_each_compression_is_what_the_arm_says(tmp_path: Path) -> None:
    archived = packed(tmp_path)
    assert prepare(archived, AS_ARCHIVED) is archived

    def coded(**wanted: Any) -> list[tuple[str | None, str | None]]:
        made = prepare(archived, Variant(**wanted))
        assert all(hashlib.sha256(made.file(each).read_bytes()).hexdigest() == each.sha256 for each in made.objects)
        return [(each.encoding, each.compressed) for each in made.objects]

    assert coded(schemes="https") == [("br", None), (None, None)]
    assert coded(schemes="http") == [("gzip", None), (None, None)]  # in clear no browser takes brotli
    assert coded(compression="off") == [(None, None), (None, None)]
    assert coded(compression="gzip") == [(None, "gzip"), (None, None)]
    assert coded(compression="brotli") == [(None, "br"), (None, None)]


def test_a_variant_is_made_once_and_again_where_it_was_damaged(tmp_path: Path) -> None:
    archived, variant = packed(tmp_path), Variant(schemes="http")
    first = prepare(archived, variant)
    (file,) = (archived.content.parent / "variants").glob("*.json")
    stamp = file.stat().st_mtime_ns
    assert prepare(archived, variant) == first
    assert file.stat().st_mtime_ns == stamp
    first.file(first.objects[0]).write_bytes(b"other")
    assert prepare(archived, variant) == first
    assert hashlib.sha256(first.file(first.objects[0]).read_bytes()).hexdigest() == first.objects[0].sha256
    file.write_text(json.dumps([{"host": 1}]))
    assert prepare(archived, variant) == first


def test_what_the_manifest_says_later_counts_for_variants_too(tmp_path: Path) -> None:
    archived, variant = packed(tmp_path), Variant(schemes="http")
    assert [each.late for each in prepare(archived, variant).objects] == [False, False]
    late = replace(archived, objects=(archived.objects[0], replace(archived.objects[1], late=True)))
    assert [each.late for each in prepare(late, variant).objects] == [False, True]
    assert [each.late for each in prepare(archived, variant).objects] == [False, False]


def test_the_sites_user_agent_counts_for_variants(tmp_path: Path) -> None:
    """By it minify decides whether images become part of the page."""
    image = stored("http://a.test/i.png", saved(drawing((8, 8)), "PNG"), "image/png")
    page = stored("http://a.test/", '<img src="i.png">')
    archived, variant = site(tmp_path, page, image), Variant(minify="inline_images")
    counts = [
        len(prepare(replace(archived, user_agent=agent), variant).objects)
        for agent in ("Chrome/30.0.1", "Unknown/1.0", "Chrome/30.0.1")
    ]
    assert counts == [1, 2, 1]


def test_what_minify_only_puts_off_keeps_its_coding(tmp_path: Path) -> None:
    page = stored("http://a.test/", "<head></head><script src=//b.test/x.js></script>")
    script = encoded(stored("http://b.test/x.js", "f( ) ; " * 100, JS), "gzip")
    made = prepare(site(tmp_path, page, script), Variant(minify="defer_javascript")).objects[1]
    assert (made.late, made.encoding, made.size) == (True, "gzip", len(script.body))


def test_hosts_that_the_content_names(tmp_path: Path) -> None:
    page = '<script src="https://ads.example.test/x"></script> "\\/\\/cdn.other.test\\/y" //a.test/ http://x/'
    archived = site(tmp_path, stored("https://a.test/", page))
    assert named_hosts(archived) == ("ads.example.test", "cdn.other.test")
