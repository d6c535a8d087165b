"""Pages from an archive of the web: what a page loads is found, and an endpoint is asked as the Wayback Machine is.

The server here speaks as that does, where it differs from pywb, which `test_import_tools.py` has."""

import gzip
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect import wayback
from lanelab.driver.collect.page_links import links_of
from lanelab.driver.collect.wayback import Limits, Wayback, page

BASE = "http://a.test/dir/page.html"


@pytest.mark.parametrize(
    ("markup", "links"),
    [
        ("<img src=x.png><IMG SRC='/y.png#top'>", ["http://a.test/dir/x.png", "http://a.test/y.png"]),
        ("<img srcset='a.png 1x, b.png 2x' src=c.png>", [f"http://a.test/dir/{name}.png" for name in "cab"]),
        ("<source srcset=a.webp><source srcset='b.webp 300w,c.webp 600w'>",
         [f"http://a.test/dir/{name}.webp" for name in "abc"]),
        ("<link rel='Alternate Stylesheet' href=a.css><link rel=canonical href=/x>", ["http://a.test/dir/a.css"]),
        ("<link rel=modulepreload href=//b.test/m.js>", ["http://b.test/m.js"]),
        ("<base href=https://c.test/d/><script src=e.js></script>", ["https://c.test/d/e.js"]),
        ("<style>@import 'a.css'; b { background: url(b.gif) }</style>", ["http://a.test/dir/a.css", "http://a.test/dir/b.gif"]),
        ("<p style=\"background:url('c d.gif')\">", ["http://a.test/dir/c d.gif"]),
        ("<p>url(x.gif)</p><script>url(y.gif)</script>", []),
        ("<video poster=p.jpg src=v.mp4><track src=t.vtt>", ["http://a.test/dir/v.mp4", "http://a.test/dir/p.jpg", "http://a.test/dir/t.vtt"]),
        ("<iframe src=f.html></iframe><body background=g.gif>", ["http://a.test/dir/f.html", "http://a.test/dir/g.gif"]),
        ("<svg><use href='s.svg#icon'/><image xlink:href=i.png /></svg>", ["http://a.test/dir/s.svg", "http://a.test/dir/i.png"]),
        ("<meta http-equiv=Refresh content='0; URL=/next'>", ["http://a.test/next"]),
        ("<a href=elsewhere><form action=x>", []),
        ("<img src='data:image/png;base64,x'><img src=javascript:1><img src='http://['>", []),
        ("<img src=x><img src=x>", ["http://a.test/dir/x"]),
        ("<!doctype", []),
        ("<![x", []),
    ],
)  # fmt: skip
def test_what_html_loads(markup: str, links: list[str]) -> None:
    assert links_of("text/html", markup, BASE) == links


@pytest.mark.parametrize(
    ("sheet", "links"),
    [
        ('@import "a.css"; @import url(b.css);', ["http://a.test/dir/a.css", "http://a.test/dir/b.css"]),
        ("x{a:url( 'c.png' );b:URL(d.png)}", ["http://a.test/dir/c.png", "http://a.test/dir/d.png"]),
        ("/* url(e.png) */ y{}", []),
        ("x{a:url(data:image/png;base64,AA==)}", []),
        ("@font-face{src:url(../f.woff2) format('woff2')}", ["http://a.test/f.woff2"]),
    ],
)
def test_what_css_loads(sheet: str, links: list[str]) -> None:
    assert links_of("text/css", sheet, BASE) == links


@pytest.mark.parametrize(
    "text", ["url(" * 50_000, "<" * 50_000, "/*" * 50_000, "<img " * 20_000, "@import " * 20_000, "<a" + " " * 200_000]
)
def test_markup_that_is_made_to_take_long_does_not(text: str) -> None:
    for kind in ("text/html", "text/css"):
        assert links_of(kind, text, BASE) == []


# --- an endpoint -----


@dataclass
class Endpoint:
    """Answers by path, and what was asked."""

    url: str
    answers: dict[str, list[tuple[int, dict[str, str], bytes]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def capture(self, instant: str, url: str, body: bytes, status: int = 200, **headers: str) -> None:
        fields = {"Memento-Datetime": "Tue, 01 May 2012 10:00:00 GMT", "X-Archive-Orig-Server": "Apache"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.add(f"/web/{instant}id_/{url}", status, body, {**fields, "Content-Type": "text/html", **named})

    def add(self, path: str, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.answers.setdefault(path, []).append((status, headers or {}, body))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(wayback, "WAIT_S", 0.0)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            answers = made.answers.get(
                self.path.partition("?")[0] if "cdx" in self.path else self.path, [(404, {}, b"")]
            )
            status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/web")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    made.add("/web/cdx", 200, b'[["timestamp"],\n["20120501100000"]]')
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


AT = "20120501100000"


def test_a_page_with_what_it_loads(endpoint: Endpoint) -> None:
    endpoint.add(f"/web/{AT}id_/http://a.test/", 302, headers={"Location": "/web/20120501id_/http://a.test/"})
    moved = f"{endpoint.url}/20120501100000id_/https://a.test/"
    endpoint.capture("20120501", "http://a.test/", b"", 301, Location=moved)
    markup = (
        b"<link rel=stylesheet href=/a.css><img src=http://b.test/x.gif><img src=lost.png><img src=http://127.0.0.1/>"
    )
    zipped = gzip.compress(markup)
    endpoint.capture(AT, "https://a.test/", zipped, Content_Encoding="gzip", X_Archive_Orig_Set_Cookie="sid=1")
    endpoint.capture(AT, "https://a.test/a.css", b"a{b:url(c.gif)}", Content_Type="text/css", X_Archive_Orig_ETag="1")
    endpoint.capture(AT, "https://a.test/c.gif", b"GIF8", X_Archive_Orig_Content_Encoding="gzip")
    endpoint.capture(AT, "http://b.test/x.gif", b"gone", 404)
    told: list[str] = []
    found = page(Wayback(endpoint.url), "a.test", "20120501", told.append)
    assert [(each.status, each.url, each.body) for each in found.exchanges] == [
        (301, "http://a.test/", b""),
        (200, "https://a.test/", zipped),
        (200, "https://a.test/a.css", b"a{b:url(c.gif)}"),
        (404, "http://b.test/x.gif", b"gone"),
        (200, "https://a.test/c.gif", b"GIF8"),
    ]
    server = ("Server", "Apache")
    assert [each.headers for each in found.exchanges[:3]] == [
        (server, ("Content-Type", "text/html"), ("Location", "https://a.test/")),
        (server, ("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Set-Cookie", "sid=1")),
        (server, ("Content-Type", "text/css"), ("ETag", "1")),
    ]
    assert {each.at_utc for each in found.exchanges} == {"2012-05-01T10:00:00Z"}
    assert (found.entry, found.unanswered) == ("http://a.test/", ("a.test/lost.png",))
    assert found.left_out == ("http://127.0.0.1/: its host is an IP address",)
    assert "no capture of https://a.test/lost.png" in told


def test_a_busy_archive_is_asked_again(endpoint: Endpoint) -> None:
    for status in (503, 429):
        endpoint.add(f"/web/{AT}id_/http://a.test/", status, headers={"Retry-After": "0"})
    endpoint.capture(AT, "http://a.test/", b"page")
    assert page(Wayback(endpoint.url), "http://a.test/", "20120501").exchanges[0].body == b"page"


@pytest.mark.parametrize(
    "location", ["http://a.test/", "http://169.254.169.254/", "file:///etc/passwd", "/elsewhere", "//b.test/web/x"]
)
def test_nobody_but_the_endpoint_is_asked(location: str, endpoint: Endpoint) -> None:
    endpoint.add(f"/web/{AT}id_/http://a.test/", 302, headers={"Location": location})
    with pytest.raises(InputError, match=r"no capture of http://a\.test/ that it gives"):
        page(Wayback(endpoint.url), "a.test", "20120501")
    assert len(endpoint.asked) == 2


def test_a_page_has_limits(endpoint: Endpoint) -> None:
    many = "".join(f"<img src={number}.gif>" for number in range(50)).encode()
    endpoint.capture(AT, "http://a.test/", many)
    found = page(Wayback(endpoint.url, limits=Limits(resources=10)), "a.test", AT)
    assert len(found.unanswered) == 9
    assert len(found.left_out) == 41
    endpoint.capture(AT, "http://b.test/0", b"<iframe src=1>")
    for number in range(1, 10):
        endpoint.capture(AT, f"http://b.test/{number}", b"<iframe src=%d>" % (number + 1))
    deep = page(Wayback(endpoint.url), "b.test/0", AT)
    assert (len(deep.exchanges), deep.left_out) == (5, ("http://b.test/5: too far from the page",))
    endpoint.capture(AT, "http://c.test/", b"", 302, Location=f"{endpoint.url}/{AT}id_/http://c.test/?1")
    for number in range(1, 20):
        there = f"{endpoint.url}/{AT}id_/http://c.test/?{number + 1}"
        endpoint.capture(AT, f"http://c.test/?{number}", b"", 302, Location=there)
    assert len(page(Wayback(endpoint.url), "c.test", AT).exchanges) == 11
    for limits in (Limits(bytes_each=100), Limits(bytes_total=100)):
        with pytest.raises(InputError, match="than 100 bytes"):
            page(Wayback(endpoint.url, limits=limits), "a.test", AT)


@pytest.mark.parametrize("date", ["2012", "20121301", "20120230", "x", "", "2012-05-01", "20120501256000"])
def test_a_date_that_is_none_is_refused(date: str, endpoint: Endpoint) -> None:
    with pytest.raises(InputError, match="no date"):
        page(Wayback(endpoint.url), "a.test", date)
    assert endpoint.asked == []


def test_what_no_archive_has_is_said(endpoint: Endpoint) -> None:
    endpoint.answers.clear()
    endpoint.add("/web/cdx", 200, b"[]")
    with pytest.raises(InputError, match=r"no capture of http://a\.test/"):
        page(Wayback(endpoint.url), "a.test", "20120501")
    endpoint.answers["/web/cdx"] = [(500, {}, b"")]
    with pytest.raises(InputError, match="answered 500"):
        page(Wayback(endpoint.url), "a.test", "20120501")
    with pytest.raises(InputError, match="cannot be a site's page"):
        page(Wayback(endpoint.url), "http://127.0.0.1/", "20120501")
    for url in ("ftp://a.test", "a.test", "file:///etc"):
        with pytest.raises(InputError, match="no address of an archive"):
            Wayback(url)


def test_an_archive_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wayback, "WAIT_S", 0.0)
    with pytest.raises(InputError, match="does not answer"):
        page(Wayback("http://127.0.0.1:9/web"), "a.test", "20120501")
