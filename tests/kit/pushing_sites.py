"""A site whose page names what a server could push, for tests."""

import hashlib
from pathlib import Path

from lanelab.driver.site.site import Site, SiteObject

HTML = b"""<html><head><link rel="preconnect" href="//cdn.test"><link rel="Stylesheet" href="css/b.css">
<link rel=stylesheet href="/css/a.css?v=1&amp;w=2"><script src="//www.test/x.js"></script>
<script>var a = "<img src='/no.png'>"</script>
<script src="https://cdn.test/y.js"></script></head><body><img src="logo.png"><img src="logo.png"><img src="/gone.png">
<noscript><img src="/pixel.gif"></noscript><img src="http://[bad"></body></html>"""
PATHS = {
    "/css/b.css": "text/css", "/css/a.css?v=1&w=2": "text/css", "/x.js": "text/javascript", "/logo.png": "image/png",
    "/pixel.gif": "image/gif", "/late.css": "text/css",
}  # fmt: skip


def site(folder: Path, *more: SiteObject, html: bytes = HTML, **changed: object) -> Site:
    digest = hashlib.sha256(html).hexdigest()
    (folder / digest).write_bytes(html)
    found = [SiteObject("www.test", "/", len(html), "text/html", digest)]
    found += [SiteObject("www.test", path, 9, mime, digest) for path, mime in PATHS.items()]
    found.append(SiteObject("cdn.test", "/y.js", 9, "text/javascript", digest))
    return Site("a-site", "", "www.test", "/", (*found, *more), folder, **changed)  # type: ignore[arg-type]
