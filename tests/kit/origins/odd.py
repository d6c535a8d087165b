"""A page that asks in each way that browsers have, below /odd/ of its host."""

PREFIX = "/odd/"
REPORTED = ("Content-Security-Policy-Report-Only", f"img-src 'none'; report-uri {PREFIX}violation")
PAGE = """<!doctype html><title>Each way to ask</title><link rel=prefetch href=prefetch.js>
<link rel=manifest href=manifest.json>
<script type=speculationrules>
{"prefetch": [{"source": "list", "urls": ["spec.html"], "eagerness": "immediate"}]}</script>
<link rel=preload as=fetch href=preloaded.json crossorigin><link rel=icon href=icon.png>
<object data=object.html type=text/html></object><embed src=embed.svg>
<video src=video.webm><track default src=track.vtt kind=captions></video><audio src=audio.ogg></audio>
<style>@import "imported.css"; body { cursor: url(cursor.cur), auto } li { list-style-image: url(list.png) }</style>
<ul><li>x</ul>
<svg><use href="symbols.svg#x"/><image href="image.png"/></svg><input type=image src=input.png>
<picture><source srcset=picture.avif type=image/avif><img src=picture.png></picture>
<iframe srcdoc="<img src=/odd/srcdoc.png>"></iframe><iframe sandbox src=sandboxed.html></iframe>
<script>
new Worker('worker.js'); new SharedWorker('shared.js'); new EventSource('events');
fetch('kept', {keepalive: true, method: 'POST', body: 'x'}); fetch('opaque', {mode: 'no-cors'});
navigator.sendBeacon('beacon', 'x');
addEventListener('load', () => setTimeout(() => {
  const form = document.createElement('form'), frame = document.createElement('iframe');
  Object.assign(form, {method: 'POST', action: 'form', target: 'framed'}); frame.name = 'framed';
  document.body.append(frame, form); form.submit();
}, 100));
</script>"""
BODIES = {
    "": ("text/html", PAGE),
    "object.html": ("text/html", "<img src=in-object.png>"),
    "sandboxed.html": ("text/html", "<img src=in-sandbox.png>"),
    "spec.html": ("text/html", "ahead"),
    "form": ("text/html", "sent"),
    "worker.js": ("text/javascript", "importScripts('in-worker.js'); fetch('from-worker')"),
    "shared.js": ("text/javascript", "fetch('from-shared')"),
    "in-worker.js": ("text/javascript", "1"),
    "imported.css": ("text/css", "p { color: red }"),
    "symbols.svg": ("image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"><g id="x"/></svg>'),
    "track.vtt": ("text/vtt", "WEBVTT\n\n00:00.000 --> 00:01.000\nx"),
    "events": ("text/event-stream", "retry: 3600000\n\ndata: x\n\n"),
}
WAYS = {
    *(PREFIX + name for name in BODIES),
    *(
        PREFIX + name
        for name in ("prefetch.js", "manifest.json", "preloaded.json", "icon.png", "embed.svg", "video.webm")
    ),
    *(
        PREFIX + name
        for name in ("video.webm", "audio.ogg", "cursor.cur", "list.png", "image.png", "input.png", "picture.avif")
    ),
    *(PREFIX + name for name in ("srcdoc.png", "kept", "opaque", "beacon", "violation", "in-object.png")),
    *(PREFIX + name for name in ("in-sandbox.png", "from-worker", "from-shared")),
}


def body_of(path: str) -> tuple[str, str]:
    """Media type and body of any path below /odd/."""
    return BODIES.get(path.removeprefix(PREFIX), ("application/octet-stream", "x"))
