"""The page of thirty origins: what each of them answers. The same every time, whatever protocol asks."""

import functools
import gzip
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import brotlicffi

from tests.e2e.pages import png
from tests.kit.origins import odd

Headers = tuple[tuple[str, str], ...]
HERE = Path(__file__).parent
DATE = "Sun, 22 Nov 2026 10:00:00 GMT"
ENTRY = "http://thirty.test/"
SMALL = "http://www.thirty.test/small"
ODD = f"http://www.thirty.test{odd.PREFIX}"
HANGS = "http://www.thirty.test/hangs"
TROUBLE = "http://www.thirty.test/trouble"
NO_PAGES = {
    "missing": "http://errors.thirty-images.test/404.png",
    "image": "http://late.thirty-images.test/far.png",
    "download": "http://www.thirty.test/file.zip",
    "unknown": "http://nowhere.thirty.test/",
    "refused": "http://www.thirty.test:81/",
    "certificate": "https://js.thirty.test/",
}
# Service workers want every frame above theirs to be secure, and the page is not.
SECURE = "--unsafely-treat-insecure-origin-as-secure=http://www.thirty.test"
H2_HOSTS = (
    "css.thirty.test", "fonts.thirty.test", "modules.thirty.test", "api.thirty.test", "img-2.thirty-images.test",
    "img-4.thirty-images.test", "img-6.thirty-images.test", "frame.thirty-ads.test", "early.thirty-images.test",
    "preload.thirty-images.test", "video.thirty-media.test", "hinted.thirty-ads.test",
)  # fmt: skip
HTTPS_HOSTS = (*H2_HOSTS, "worker.thirty-apps.test", "js.thirty.test", "events.thirty-apps.test")
HTTP_HOSTS = (
    "thirty.test", "www.thirty.test", "img-1.thirty-images.test", "img-3.thirty-images.test",
    "img-5.thirty-images.test", "errors.thirty-images.test", "close.thirty-images.test", "old.thirty-images.test",
    "chunks.thirty-images.test", "cookies.thirty.test", "deflate.thirty.test", "empty.thirty.test",
    "beacon.thirty-ads.test", "late.thirty-images.test", "queries.thirty-images.test",
)  # fmt: skip
HOSTS = (*HTTP_HOSTS, *HTTPS_HOSTS)


@dataclass(frozen=True)
class Reply:
    status: int = 200
    reason: str = "OK"
    headers: Headers = ()
    body: bytes = b""
    framing: str = "length"  # or chunked, close
    version: str = "1.1"
    chunk: int = 900
    interim: tuple[int, ...] = ()
    trailers: bool = False
    slowly: bool = False
    short: bool = False  # only half of the body, then the end of the connection
    never: bool = False  # no answer at all

    def with_headers(self, headers: Headers) -> "Reply":
        return replace(self, headers=headers)


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _brotli(data: bytes) -> bytes:
    coded: bytes = brotlicffi.compress(data)
    return coded


CODINGS: Mapping[str, Callable[[bytes], bytes]] = {"": bytes, "gzip": _gzip, "br": _brotli, "deflate": zlib.compress}


def reply(body: bytes | str, mime: str, *further: tuple[str, str], coding: str = "", **how: object) -> Reply:
    """With the fields that its framing wants, as a server would write them."""
    data = body.encode() if isinstance(body, str) else body
    coded = CODINGS[coding](data)
    made = replace(Reply(body=coded), **how)  # type: ignore[arg-type]
    fields = [("Date", DATE), ("Server", "origins/1.0"), ("Content-Type", mime)]
    fields += [("Content-Encoding", coding), ("Vary", "Accept-Encoding")] if coding else []
    framing = {
        "length": [("Content-Length", str(len(coded)))],
        "chunked": [("Transfer-Encoding", "chunked")],
        "close": [("Connection", "close")],
    }[made.framing]
    cors = [("Access-Control-Allow-Origin", "*"), ("Timing-Allow-Origin", "*")]
    return made.with_headers((*fields, *framing, *cors, *further))


def _empty(status: int, reason: str, *headers: tuple[str, str]) -> Reply:
    allowed = (
        ("Date", DATE),
        ("Access-Control-Allow-Origin", "*"),
        ("Access-Control-Allow-Methods", "GET, POST, HEAD"),
        ("Access-Control-Allow-Headers", "content-type, x-asked"),
    )
    return Reply(status, reason, (*allowed, *headers))


def _redirect(status: int, reason: str, target: str) -> Reply:
    body = f'<a href="{target}">moved</a>'
    return reply(body, "text/html", ("Location", target), status=status, reason=reason)


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Thirty origins</title>
<link rel="icon" href="/icon.png">
<link rel="preload" as="image" href="https://preload.thirty-images.test/ahead.png">
<link rel="modulepreload" href="https://modules.thirty.test/deep.js">
<link rel="stylesheet" href="https://css.thirty.test/main.css">
<script src="https://js.thirty.test/asks.js"></script>
<script type="module" src="https://modules.thirty.test/main.js"></script>
</head><body><h1>Thirty origins</h1><p id="said">nothing said</p>
<img src="http://img-1.thirty-images.test/moved.png" width="48" height="48" alt="302">
<img src="http://img-1.thirty-images.test/see-other.png" width="48" height="48" alt="303">
<img src="http://img-3.thirty-images.test/temporary.png" width="48" height="48" alt="307">
<img src="http://img-5.thirty-images.test/permanent.png" width="48" height="48" alt="308">
<img src="http://errors.thirty-images.test/404.png" width="48" height="48" alt="404">
<img src="http://errors.thirty-images.test/500.png" width="48" height="48" alt="500">
<img src="http://errors.thirty-images.test/503.png" width="48" height="48" alt="503">
<img src="http://close.thirty-images.test/close.png" width="48" height="48" alt="close">
<img src="http://old.thirty-images.test/old.png" width="48" height="48" alt="old">
<img src="http://chunks.thirty-images.test/chunks.png" width="48" height="48" alt="chunks">
<img src="http://cookies.thirty.test/first.png" width="48" height="48" alt="cookies">
<img src="http://queries.thirty-images.test/q.png?a=1&amp;b=2" width="48" height="48" alt="query 1">
<img src="http://queries.thirty-images.test/q.png?a=1&amp;b=3" width="48" height="48" alt="query 2">
<img src="https://early.thirty-images.test/early.png" width="48" height="48" alt="103">
<img src="https://preload.thirty-images.test/ahead.png" width="48" height="48" alt="preloaded">
<video src="https://video.thirty-media.test/clip.webm" preload="auto" width="64" height="48" muted></video>
<iframe src="https://frame.thirty-ads.test/" width="300" height="90"></iframe>
<iframe src="https://worker.thirty-apps.test/" width="300" height="60"></iframe>
<div style="height: 4500px"></div>
<img src="http://late.thirty-images.test/far.png" loading="lazy" width="48" height="48" alt="far">
</body></html>
"""
ASKS = """
const said = [];
function ask(method, url, headers, body) {
  const request = new XMLHttpRequest();
  request.open(method, url, false);
  for (const [name, value] of Object.entries(headers || {})) request.setRequestHeader(name, value);
  try { request.send(body); said.push(method + ' ' + request.status + ' ' + request.responseText.length); }
  catch (error) { said.push(method + ' failed'); }
}
ask('POST', 'https://api.thirty.test/orders', {'Content-Type': 'application/json'}, '{"order": 1}');
ask('GET', 'http://deflate.thirty.test/data.json');
ask('GET', 'http://empty.thirty.test/204');
ask('HEAD', 'http://empty.thirty.test/head');
ask('GET', 'http://empty.thirty.test/fresh.json', {'X-Asked': 'first'});
document.cookie = 'page=' + 'set by a script';
addEventListener('DOMContentLoaded', () => { document.getElementById('said').textContent = said.join(', '); });
addEventListener('load', () => setTimeout(async () => {
  new Image().src = 'http://late.thirty-images.test/timer.png';
  new Image().src = 'http://cookies.thirty.test/second.png';
  navigator.sendBeacon('http://beacon.thirty-ads.test/seen', 'the page was seen');
  await fetch('http://empty.thirty.test/fresh.json', {cache: 'no-cache'}).catch(() => null);
  const events = new EventSource('https://events.thirty-apps.test/stream');
  events.onerror = () => events.close();
}, 200));
"""
SMALL_PAGE = """<!doctype html><title>A small page</title><link rel="icon" href="data:,"><body>
<img src="/small.png" width="48" height="48" alt=""><img src="http://late.thirty-images.test/timer.png" alt="">"""
# Nobody answers the first image, and the second is cut short; a WebSocket, and a request that is never answered.
TROUBLE_PAGE = """<!doctype html><title>Trouble</title><link rel="icon" href="data:,"><body>
<img src="http://dead.thirty-ads.test/pixel.png" alt=""><img src="/half.png" alt="">
<p id="who"></p><script>
document.getElementById('who').textContent = [innerWidth, devicePixelRatio, 'ontouchstart' in window].join(' ');
document.title = document.getElementById('who').textContent;
new WebSocket('ws://www.thirty.test/socket');
addEventListener('load', () => fetch('/never').catch(() => null));
</script>"""
FRAME = """<!doctype html><title>Frame</title><link rel="stylesheet" href="frame.css">
<body>A frame of another site <img src="https://img-4.thirty-images.test/frame.png" width="32" height="32" alt="">
<script src="https://hinted.thirty-ads.test/ad.js"></script>"""
WORKER_PAGE = """<!doctype html><title>Worker</title><body>A page with a worker <script>
addEventListener('load', () => setTimeout(async () => {
  if (!('serviceWorker' in navigator)) return;
  await navigator.serviceWorker.register('/worker.js');
  await navigator.serviceWorker.ready;
  if (!navigator.serviceWorker.controller)
    await new Promise(done => navigator.serviceWorker.addEventListener('controllerchange', done));
  const answer = await fetch('/through.json');
  document.body.append(await answer.text());
}, 100));
</script>"""
WORKER = """
addEventListener('install', event => { skipWaiting(); event.waitUntil(fetch('/installed.json')); });
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => event.respondWith(fetch(event.request)));
"""
MAIN_CSS = """@import url("more.css");
@font-face { font-family: Blocks; src: url("https://fonts.thirty.test/blocks.woff") format("woff"); }
body { font-family: sans-serif; background: #eef url("https://img-2.thirty-images.test/ground.png") no-repeat }
h1 { font-family: Blocks, serif; }
"""


@functools.cache
def _image(number: int, side: int = 24) -> bytes:
    return png(number, side)


def _images(number: int, **how: object) -> Reply:
    return reply(_image(number), "image/png", ("Cache-Control", "max-age=600"), **how)  # type: ignore[arg-type]


# The answer to the key that a handshake sends is not checked before the connection counts as switched.
SWITCHING: Headers = (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", "no"))


@functools.cache
def replies() -> Mapping[tuple[str, str, str], Reply]:
    """method, host, path -> the answer."""
    js, json, html, css = "text/javascript; charset=utf-8", "application/json", "text/html; charset=utf-8", "text/css"
    get: dict[tuple[str, str], Reply] = {
        ("thirty.test", "/"): _redirect(301, "Moved Permanently", "http://www.thirty.test/"),
        ("www.thirty.test", "/"): reply(PAGE, html, coding="gzip", framing="chunked", chunk=500, slowly=True),
        ("www.thirty.test", "/icon.png"): _images(90),
        ("www.thirty.test", "/small"): reply(
            SMALL_PAGE, html, ("Set-Cookie", "visit=a-secret; Path=/"), coding="gzip", framing="chunked"
        ),
        ("www.thirty.test", "/small.png"): _images(92),
        ("www.thirty.test", "/hangs"): reply('<!doctype html><img src="/never" alt="">', html),
        ("www.thirty.test", "/trouble"): reply(TROUBLE_PAGE, html),
        ("www.thirty.test", "/half.png"): _images(91, short=True),
        ("www.thirty.test", "/never"): reply("", html, never=True),
        ("www.thirty.test", "/file.zip"): reply("PK", "application/zip"),
        ("www.thirty.test", "/socket"): Reply(101, "Switching Protocols", SWITCHING),
        ("css.thirty.test", "/main.css"): reply(MAIN_CSS, css, coding="br"),
        ("css.thirty.test", "/more.css"): reply("p { color: #234 }\n" * 40, css, coding="gzip", trailers=True),
        ("fonts.thirty.test", "/blocks.woff"): reply((HERE / "blocks.woff").read_bytes(), "font/woff"),
        ("js.thirty.test", "/asks.js"): reply(ASKS, js, coding="br", framing="chunked"),
        ("modules.thirty.test", "/main.js"): reply("import './deep.js'; import './side.js';\n", js),
        ("modules.thirty.test", "/deep.js"): reply("export const deep = 1;\n" + "// deep\n" * 50, js, coding="gzip"),
        ("modules.thirty.test", "/side.js"): reply("import './deep.js'; export const side = 2;\n", js),
        ("img-1.thirty-images.test", "/moved.png"): _redirect(302, "Found", "https://img-2.thirty-images.test/2.png"),
        ("img-1.thirty-images.test", "/see-other.png"): _redirect(303, "See Other", "/3.png"),
        ("img-1.thirty-images.test", "/3.png"): _images(3),
        ("img-2.thirty-images.test", "/2.png"): _images(2),
        ("img-2.thirty-images.test", "/ground.png"): _images(22),
        ("img-3.thirty-images.test", "/temporary.png"): _redirect(
            307, "Temporary Redirect", "https://img-4.thirty-images.test/4.png"
        ),
        ("img-4.thirty-images.test", "/4.png"): _images(4),
        ("img-4.thirty-images.test", "/frame.png"): _images(44),
        ("img-5.thirty-images.test", "/permanent.png"): _redirect(
            308, "Permanent Redirect", "https://img-6.thirty-images.test/6.png"
        ),
        ("img-6.thirty-images.test", "/6.png"): _images(6),
        ("errors.thirty-images.test", "/404.png"): reply("not here", "text/plain", status=404, reason="Not Found"),
        ("errors.thirty-images.test", "/500.png"): reply(
            "<p>caf\u00e9 out of order", html, ("X-Word", "caf\xe9"), status=500, reason="Internal Server Error"
        ),
        ("errors.thirty-images.test", "/503.png"): reply(
            "", "text/plain", ("Retry-After", "120"), status=503, reason="Kaffeepause bis morgen"
        ),
        ("close.thirty-images.test", "/close.png"): _images(7, framing="close"),
        ("old.thirty-images.test", "/old.png"): _images(8, framing="close", version="1.0"),
        ("chunks.thirty-images.test", "/chunks.png"): _images(9, framing="chunked", chunk=37, trailers=True),
        ("cookies.thirty.test", "/first.png"): reply(
            _image(10), "image/png", ("Set-Cookie", "seen=1; Path=/"), ("Set-Cookie", "who=somebody; HttpOnly")
        ),
        ("cookies.thirty.test", "/second.png"): _images(11),
        ("queries.thirty-images.test", "/q.png?a=1&b=2"): _images(12),
        ("queries.thirty-images.test", "/q.png?a=1&b=3"): _images(13),
        ("early.thirty-images.test", "/early.png"): _images(14, interim=(103,)),
        ("preload.thirty-images.test", "/ahead.png"): _images(15),
        ("frame.thirty-ads.test", "/"): reply(FRAME, html, coding="br"),
        ("frame.thirty-ads.test", "/frame.css"): reply("body { margin: 4px; background: #efe }", css),
        ("hinted.thirty-ads.test", "/ad.js"): reply("document.body.append('an ad');", js, coding="gzip"),
        ("worker.thirty-apps.test", "/"): reply(WORKER_PAGE, html),
        ("worker.thirty-apps.test", "/worker.js"): reply(WORKER, js),
        ("worker.thirty-apps.test", "/installed.json"): reply('{"installed": true}', json),
        ("worker.thirty-apps.test", "/through.json"): reply('{"through": "the worker"}', json, coding="gzip"),
        ("late.thirty-images.test", "/timer.png"): _images(16),
        ("late.thirty-images.test", "/far.png"): _images(17),
        ("deflate.thirty.test", "/data.json"): reply('{"numbers": [' + "1, " * 300 + "1]}", json, coding="deflate"),
        ("empty.thirty.test", "/204"): _empty(204, "No Content"),
        ("empty.thirty.test", "/fresh.json"): reply(
            '{"fresh": 1}', json, ("ETag", '"one"'), ("Cache-Control", "no-cache")
        ),
        ("events.thirty-apps.test", "/stream"): reply(
            "retry: 3600000\n\ndata: one\n\ndata: two\n\n", "text/event-stream", framing="close"
        ),
    }
    answers = {("GET", *key): each for key, each in get.items()}
    answers["HEAD", "empty.thirty.test", "/head"] = reply("twelve bytes", "text/plain")
    answers["POST", "api.thirty.test", "/orders"] = reply('{"accepted": 1}', json, status=201, reason="Created")
    answers["POST", "beacon.thirty-ads.test", "/seen"] = _empty(204, "No Content")
    return answers


def reply_to(method: str, host: str, path: str, fields: Mapping[str, str], body: bytes) -> Reply:
    """The answer, which depends on nothing but the request."""
    if method == "OPTIONS":
        return _empty(204, "No Content", ("Access-Control-Max-Age", "60"))
    if (host, path) == ("video.thirty-media.test", "/clip.webm"):
        return _part((HERE / "clip.webm").read_bytes(), fields.get("range", ""))
    if path.startswith(odd.PREFIX):
        mime, text = odd.body_of(path)
        return reply(text, mime, odd.REPORTED)
    if host == "empty.thirty.test" and fields.get("if-none-match") == '"one"':
        return _empty(304, "Not Modified", ("ETag", '"one"'))
    if (host, method) == ("api.thirty.test", "POST") and body != b'{"order": 1}':
        return reply(f"unexpected: {body!r}", "text/plain", status=400, reason="Bad Request")
    return replies().get((method, host, path)) or reply("nothing", "text/plain", status=404, reason="Not Found")


def _part(whole: bytes, ranged: str) -> Reply:
    if not ranged.startswith("bytes="):
        return reply(whole, "video/webm", ("Accept-Ranges", "bytes"))
    first, _, last = ranged.removeprefix("bytes=").partition("-")
    start, end = int(first or 0), int(last or len(whole) - 1)
    said = ("Content-Range", f"bytes {start}-{end}/{len(whole)}")
    return reply(whole[start : end + 1], "video/webm", said, status=206, reason="Partial Content")
