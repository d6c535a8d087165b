"""Exchanges become objects: what of a recording is served, how, and what is left out and named."""

import gzip
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.addresses import NotServedError, address_of
from lanelab.driver.site.archive.limits import Limits
from lanelab.driver.site.archive.media_types import media_type
from lanelab.driver.site.archive.objects import objects_of
from lanelab.driver.site.archive.secrets import without_secrets
from lanelab.driver.site.exchange import Exchange
from tests.kit.exchanges import HTML, PAGE, exchange


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a_b.test/", "a_b.test"),
        ("http://_dmarc.my_bucket_.test/", "_dmarc.my_bucket_.test"),
        ("http://B\u00fccher.test/", "xn--bcher-kva.test"),
        ("http://xn--bcher-kva.test/", "xn--bcher-kva.test"),
        ("http://stra\u00dfe.test/", "xn--strae-oqa.test"),
        ("http://\u2764.test/", "xn--qei.test"),
    ],
)
def test_hosts_are_named_as_browsers_ask_for_them(url: str, host: str) -> None:
    [stored] = objects_of([exchange(url)]).stored
    assert (stored.object.host, address_of(stored.object.scheme + "://" + stored.object.url).host) == (host, host)


@pytest.mark.parametrize("status", [200, 403, 404])
def test_a_websockets_handshake_is_left_out_also_where_it_was_refused(status: int) -> None:
    asked = (("Connection", "Upgrade"), ("upgrade", "WebSocket"))
    made = objects_of([exchange(), exchange("http://a.test/live", status=status, request_headers=asked)])
    assert [each.object.path for each in made.stored] == ["/"]
    assert made.left_out == ("http://a.test/live: it is the handshake of a WebSocket",)


def test_an_object_has_everything_of_its_answer() -> None:
    posted = exchange(
        "https://a.test/form?x=1",
        method="POST",
        request_body=b"q=1",
        status=404,
        reason="Not Found",
        headers=(*HTML, ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")),
        late=True,
    )
    [stored] = objects_of([posted]).stored
    made = stored.object
    assert (made.scheme, made.host, made.path, made.method) == ("https", "a.test", "/form?x=1", "POST")
    assert (made.status, made.reason, made.mime, made.late) == (404, "Not Found", "text/html", True)
    assert made.headers == posted.headers
    assert made.request_sha1 == hashlib.sha1(b"q=1").hexdigest()  # noqa: S324
    assert (stored.body, made.size, made.sha256) == (PAGE, len(PAGE), hashlib.sha256(PAGE).hexdigest())


def test_bodies_decode_to_so_much_in_sum() -> None:
    """Each is within its limit; an archive of many would keep a machine busy for minutes."""
    coded = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    bombs = [exchange(f"http://a.test/{number}", headers=coded, body=gzip.compress(bytes(300))) for number in range(4)]
    assert len(objects_of(bombs, Limits(total_bytes=1_200)).stored) == 4
    with pytest.raises(InputError, match="with its bodies decoded, holds more than 1,199 bytes"):
        objects_of(bombs, Limits(total_bytes=1_199))


def test_bodies_of_an_own_archive_are_not_decoded_again() -> None:
    coded = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    body = gzip.compress(PAGE)
    exchanges = [exchange(headers=coded, body=body), exchange("http://a.test/b", headers=coded[1:], body=body)]
    nothing = Limits(total_bytes=len(PAGE))
    with pytest.raises(InputError):
        objects_of(exchanges, nothing)
    assert objects_of(exchanges, nothing, by_lanelab=True) == objects_of(exchanges)


def test_a_head_that_no_browser_takes_is_left_out() -> None:
    heads = [(("X", "x" * size),) for size in (249_000, 251_000)]
    made = objects_of([exchange(f"http://a.test/{number}", headers=head) for number, head in enumerate(heads)])
    assert [each.object.path for each in made.stored] == ["/0"]
    assert "which no browser takes" in made.left_out[0]


def test_fields_of_the_connection_are_the_arms() -> None:
    of_connection = ("Connection", "Keep-Alive", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Alt-Svc")
    fields = tuple((name, "x") for name in (*of_connection, "Proxy-Connection", "Content-Length", "Date", "Server"))
    [stored] = objects_of([exchange(headers=fields)]).stored
    assert stored.object.headers == (("Date", "x"), ("Server", "x"))


def test_fields_that_no_server_can_send_are_dropped() -> None:
    fields = (("X\r\nY", "1"), ("X", "1\r\nY: 2"), ("", "1"), (":status", "1"), ("X", "\u2603"), ("Z", "\xe9\t!"))
    odd = exchange("http://A.test/\u2603#x", headers=fields, request_headers=fields, reason="OK\r\nX: y")
    made = objects_of([odd])
    assert (made.stored[0].object.headers, made.stored[0].object.reason) == ((("Z", "\xe9\t!"),), "")
    [kept] = made.exchanges
    assert (kept.url, kept.headers, kept.request_headers) == ("http://a.test/%E2%98%83", fields[-1:], fields[-1:])


@pytest.mark.parametrize(
    ("statuses", "kept"),
    [((304, 200), 200), ((302, 200), 200), ((206, 304, 404), 404), ((301, 302), 301), ((200, 500), 200)],
)
def test_of_several_answers_the_whole_one_is_served(statuses: tuple[int, ...], kept: int) -> None:
    [stored] = objects_of([exchange(status=status) for status in statuses]).stored
    assert stored.object.status == kept


def test_methods_schemes_and_bodies_are_requests_of_their_own() -> None:
    several = [
        exchange(),
        exchange("https://a.test/"),
        exchange(method="HEAD"),
        exchange(method="POST", request_body=b"1"),
        exchange(method="POST", request_body=b"2"),
        exchange("http://a.test/?"),
    ]
    assert len(objects_of([*several, *several]).stored) == len(several)


def test_answers_without_content_have_none() -> None:
    stored = objects_of([exchange(method="HEAD"), exchange("http://a.test/x", status=204)]).stored
    assert [each.body for each in stored] == [b"", b""]


# --- parts of files -----

FILM = bytes(range(250))


def part(first: int, last: int, total: int = len(FILM), tag: str = "1") -> Exchange:
    fields = (("Content-Type", "video/mp4"), ("ETag", tag), ("Content-Range", f"bytes {first}-{last}/{total}"))
    return exchange("http://a.test/film", status=206, headers=fields, body=FILM[first : last + 1])


@pytest.mark.parametrize("ranges", [[(0, 249)], [(0, 99), (100, 249)], [(100, 249), (0, 149)], [(0, 249), (3, 5)]])
def test_parts_that_make_a_whole_become_the_file(ranges: list[tuple[int, int]]) -> None:
    made = objects_of([part(*each) for each in ranges])
    [stored] = made.stored
    assert (stored.object.status, stored.body, made.left_out) == (200, FILM, ())
    assert stored.object.headers == (("Content-Type", "video/mp4"), ("ETag", "1"))


def test_that_a_range_is_behind_the_end_is_not_the_file() -> None:
    """A player may ask for more than there is: in the place of the film it would have an error."""
    refused = exchange("http://a.test/film", status=416, body=b"")
    [stored] = objects_of([part(0, 249), refused]).stored
    assert (stored.object.status, stored.body) == (200, FILM)
    assert [each.object.status for each in objects_of([part(0, 99), refused]).stored] == [206]
    assert [each.object.status for each in objects_of([refused]).stored] == [416]


@pytest.mark.parametrize(
    "parts",
    [
        [part(0, 99)],
        [part(0, 99), part(101, 249)],
        [part(0, 99), part(100, 249, tag="2")],
        [part(0, 99), part(100, 249, total=251)],
        [exchange("http://a.test/film", status=206)],
    ],
    ids=["the first", "a gap", "another file", "another length", "no range"],
)
def test_parts_that_make_no_whole_stay_one(parts: list[Exchange]) -> None:
    made = objects_of(parts)
    assert [each.object.status for each in made.stored] == [206]
    assert made.left_out == ("http://a.test/film: only a part of it was recorded",)


# --- what is left out -----


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://a.test:8080/", "its port is 8080"),
        ("http://a.test:443/", "its port is 443"),
        ("https://a.test:80/", "its port is 80"),
        ("http://a.test:99999/", "its address is none"),
        ("http://localhost/", "this machine itself"),
        ("http://LOCALHOST/", "this machine itself"),
        ("http://x.localhost/", "this machine itself"),
        ("http://127.0.0.1/", "an IP address"),
        ("http://127.1/", "an IP address"),
        ("http://2130706433/", "an IP address"),
        ("http://0x7f000001/", "an IP address"),
        ("http://0x7f.1/", "an IP address"),
        ("http://1.2.3.4./", "an IP address"),
        ("http://\uff11\uff12\uff17.0.0.1/", "an IP address"),
        ("http://\uff4cocalhost/", "this machine itself"),
        ("http://[::1]/", "an IP address"),
        ("http://[::1/", "its address is none"),
        ("http://-a.test/", "no valid name"),
        ("http://a..test/", "no valid name"),
        ("http:///etc/passwd", "no valid name"),
        ("http://a.test%2f..%2fb/", "no valid name"),
        ("http://user:secret@a.test/", "a user's name"),
        ("ftp://a.test/", "not of http"),
        ("file:///etc/passwd", "not of http"),
        ("javascript:alert(1)", "not of http"),
        ("http://a.test/../etc/passwd", "leads elsewhere"),
        ("http://a.test/x/./y", "leads elsewhere"),
        ("http://a.test/%2e%2E/etc/passwd", "leads elsewhere"),
        ("http://a.test/.%2e/etc", "leads elsewhere"),
        ("http://a.test/..\\..\\x", "backslash"),
        ("http://a.test/\r\nHost: b.test", "control characters"),
        ("http://a.test/\0", "control characters"),
        ("http://a.test/" + "x" * 70_000, "longer than 60,000"),
    ],
)
def test_addresses_that_lead_past_the_bed_are_left_out(url: str, why: str) -> None:
    made = objects_of([exchange(url), exchange()])
    assert [each.object.url for each in made.stored] == ["a.test/"]
    assert len(made.left_out) == 1
    assert why in made.left_out[0]
    assert made.left_out[0].isprintable()
    assert len(made.left_out[0]) < 250


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"method": "CONNECT"}, "its method is 'CONNECT'"),
        ({"method": "get"}, "its method is 'get'"),
        ({"method": "G\r\nX"}, "its method is"),
        ({"status": 101}, "its status is 101"),
        ({"status": 0}, "its status is 0"),
        ({"status": 700}, "its status is 700"),
        ({"status": 304}, "not modified"),
        ({"headers": (("Content-Length", "62"),)}, "shorter than its Content-Length"),
        ({"headers": (("Content-Encoding", "gzip"),), "body": gzip.compress(b"0" * 99)[:-9]}, "not gzip"),
        ({"headers": (("Content-Encoding", "gzip"),), "body": gzip.compress(bytes(300_000_000), 9)}, "expands"),
        ({"headers": (("Content-Encoding", "gzip, br"),)}, "more than once"),
        ({"body": bytes(200_000_001)}, "larger than 200,000,000"),
    ],
)
def test_answers_that_cannot_be_served_are_left_out(changes: dict[str, Any], why: str) -> None:
    made = objects_of([exchange("http://a.test/x", **changes), exchange()])
    assert [each.object.url for each in made.stored] == ["a.test/"]
    assert why in made.left_out[0]


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://A.Test:80/x", "http://a.test/x"),
        ("https://a.test:443", "https://a.test/"),
        ("http://a.test?q", "http://a.test/?q"),
        (
            'http://a.test/a b\u00e9"<>`{}?a b\u00e9"\'<>#top',
            "http://a.test/a%20b%C3%A9%22%3C%3E%60%7B%7D?a%20b%C3%A9%22%27%3C%3E",
        ),
        ("http://a.test/%41//x;y=1/?a=/../b", "http://a.test/%41//x;y=1/?a=/../b"),
        ("http://a.test/x?", "http://a.test/x?"),
    ],
)
def test_addresses_are_written_as_a_browser_asks(url: str, asked: str) -> None:
    assert address_of(url).url == asked


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_an_address_is_it_stays_below_its_host(host: str, rest: str) -> None:
    try:
        address = address_of(f"http://{host}/{rest}")
    except NotServedError:
        return
    assert address.path.startswith("/")
    assert address.path.isascii()
    assert not set(address.path) & set(' #\r\n\t\0"<>')
    assert not {"..", "."} & set(address.path.partition("?")[0].split("/"))
    assert address_of(address.url) == address


# --- media types -----


@pytest.mark.parametrize(
    ("said", "path", "body", "kind"),
    [
        ("Text/HTML; charset=x", "/a.png", b"", "text/html"),
        ("", "/", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("", "/a.js", b"\xff\xd8\xff", "image/jpeg"),
        ("nonsense", "/a.css?v=1.js", b"a{}", "text/css"),
        ("", "/x", b"  <!-- hello --> <!DOCTYPE html>", "text/html"),
        ("", "/x", b"<svg xmlns=x>", "image/svg+xml"),
        ("", "/x", b"words", "text/plain"),
        ("", "/x", b"\0\1\2", "application/octet-stream"),
        ("", "/x", b"", "application/octet-stream"),
        ("text/html\r\nX: y", "/x.css", b"a", "text/css"),
    ],
)
def test_the_media_type_is_what_was_said_or_what_it_looks_like(said: str, path: str, body: bytes, kind: str) -> None:
    assert media_type(said, path, body) == kind


# --- secrets -----


def test_secrets_are_left_out_and_named_without_their_values() -> None:
    secret = "hunter2"
    told = exchange(
        request_headers=(("Cookie", f"sid={secret}; lang=en"), ("Authorization", f"Basic {secret}"), ("Accept", "*/*")),
        headers=(*HTML, ("set-cookie", f"sid={secret}; Secure"), ("Set-Cookie", f"b={secret}")),
    )
    [clean], words = without_secrets([told])
    assert secret not in repr(clean) + repr(words)
    assert (clean.request_headers, clean.headers) == ((("Accept", "*/*"),), HTML)
    assert words == (
        "secret: authorization of a.test",
        "secret: cookie of a.test: lang, sid",
        "secret: set-cookie of a.test: b, sid",
    )
