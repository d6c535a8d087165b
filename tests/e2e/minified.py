"""A page with scripts, style sheets and images of every kind, loaded as it is and minified."""

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.bed.node import Command
from lanelab.driver.site.minify import minify, parse_minify
from lanelab.driver.site.site import StoredObject
from tests.e2e import pages
from tests.e2e.loads import Settings, browsers
from tests.kit.images import drawing, photo, saved
from tests.kit.inside import InsideBed
from tests.kit.minified import stored

HOST = "m.test"
PLAIN = "plain"
RESIZED = (600, 20, 648, 60)  # where the page shows an image smaller than it is, whose pixels cannot be the same
ROOT = Path("/run/minified")
# Each host of its own folder, with the type of each file.
SERVER = """
import http.server, json, pathlib, sys
root = pathlib.Path(sys.argv[1])
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        folder = root / self.headers['Host']
        found = json.loads((folder / 'objects.json').read_text()).get(self.path)
        body = (folder / found[0]).read_bytes() if found else b''
        self.send_response(200 if found else 404)
        self.send_header('Content-Type', found[1] if found else 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, form, *rest):
        pass
http.server.ThreadingHTTPServer(('10.10.2.2', 80), Handler).serve_forever()
"""
# Everything that a script could see of the page but scripts, styles and addresses, and the order in which scripts ran.
DIGEST = """
const seen = [];
for (const each of document.body.querySelectorAll('*')) {
  if (['SCRIPT', 'STYLE', 'LINK', 'NOSCRIPT'].includes(each.tagName) || each.hasAttribute('psa_dw_target')) continue;
  const box = each.getBoundingClientRect();
  const text = [...each.childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join(' ');
  const style = getComputedStyle(each);
  seen.push([each.tagName, each.id, box.x, box.y, box.width, box.height, text.replace(/\\s+/g, ' '), style.color,
             style.backgroundColor, each.tagName === 'IMG' ? each.complete && each.naturalWidth > 0 : null].join('|'));
}
return {seen: seen, ran: window.ran, text: document.title};
"""
STYLE = b"""
/* a sheet */
body { margin: 0;  color: #223344; font-family: monospace }
.box { position: absolute; }
#icon { background: url("img/icon.png") no-repeat; width: 40px; height: 30px; left: 20px; top: 300px }
#logo { background-image: url(img/logo.png); width: 30px; height: 20px; left: 80px; top: 300px }
"""
MORE_STYLE = b"p  >  b { color : rgb( 10 , 100 , 10 ) }\n@media print { p { display: none } }\n"
SCRIPTS = {
    "/js/first.js": b"// first\nvar ran = window.ran || [];\nran.push( 'first' );\n"
    b"function add ( a, b ) { return a + b; }\n",
    "/js/second.js": b"ran.push('second ' + add( 1, 2 ));  /* uses the first */\n"
    b"document.addEventListener('DOMContentLoaded', function () { ran.push('ready'); });\n"
    b"window.addEventListener('load', function () {\n"
    b"  ran.push('loaded'); console.error('loaded after ' + ran.length); });\n",
    "/js/writer.js": b"document.write('<p id=\"written\">written by a script</p>');\nran.push('writer');\n",
    "/js/finder.js": b"var scripts = document.getElementsByTagName('script');\n"
    b"ran.push('finder ' + /finder/.test(scripts[scripts.length - 1].src + scripts[scripts.length - 1].text));\n",
    "/js/long.js": b"// " + b"padding " * 400 + b"\nran.push('long');\n",
}
PAGE = """<!DOCTYPE html>
<html><head><title>A  page</title><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/css/one.css"><link rel="stylesheet" href="/css/two.css">
<script src="/js/first.js"></script>
<script src="/js/second.js"></script>
</head><body>
<!-- a comment -->
<p>Some   text with <b>bold</b> words, and an é.</p>
<script>
  // inline
  ran.push( 'inline ' + typeof add );
</script>
<img id="drawing" src="/img/drawing.png" width="120" height="90" alt="">
<img id="gif" src="/img/drawing.gif" width="100" height="70" alt="">
<img id="jpeg" src="/img/photo.jpg" width="96" height="80" alt="">
<img id="alpha" src="/img/alpha.png" width="64" height="48" alt="">
<img id="small" class="box" style="left:600px;top:20px" src="/img/large.png" width="48" height="40" alt="">
<script src="/js/writer.js"></script>
<div id="icon" class="box"></div><div id="logo" class="box"></div>
<script src="/js/long.js"></script>
<noscript><img src="/img/drawing.png"></noscript>
<script src="/js/finder.js"></script>
</body></html>
"""


def site() -> list[StoredObject]:
    files = {
        "/css/one.css": STYLE.replace(b"(img/", b"(../img/").replace(b'"img/', b'"../img/'),
        "/css/two.css": MORE_STYLE,
        **SCRIPTS,
        "/img/drawing.png": saved(drawing((120, 90)), "PNG", compress_level=1),
        "/img/drawing.gif": saved(drawing((100, 70)).convert("P"), "GIF"),
        "/img/photo.jpg": saved(photo(), "JPEG", quality=92),
        "/img/alpha.png": saved(drawing(mode="RGBA"), "PNG", compress_level=1),
        "/img/large.png": saved(photo((192, 160)), "PNG"),
        "/img/logo.png": saved(drawing((36, 24)), "PNG", compress_level=1),
        "/img/icon.png": saved(drawing((40, 30)), "PNG", compress_level=1),
    }
    return [stored("/index.html", PAGE.encode()), *(stored(name, body) for name, body in files.items())]


def loads(inside: InsideBed, variants: dict[str, str], wait_s: float) -> dict[str, Any]:
    """What the browser saw of each variant, and where its picture is. `variants`: by name, the filters."""
    hosts = {f"{name}.{HOST}": ADDRESSES["server"] for name in (PLAIN, *variants)}
    shutil.rmtree(ROOT, ignore_errors=True)
    sizes = {name: _write(name, variants.get(name)) for name in (PLAIN, *variants)}
    inside.node("server").spawn(Command(["python3", "-c", SERVER, str(ROOT)], {}))
    pages.await_port(inside.node("server"), 80)
    found: dict[str, Any] = {}
    with browsers(inside) as made:
        for name in (PLAIN, *variants):
            url = f"http://{name}.{HOST}/index.html"
            page = made.open(Settings(start="fresh-context", scripts="as-is"), Surroundings(hosts=hosts), url)
            page.load(url, 60)
            time.sleep(wait_s)  # for what runs and loads after the page
            told = page._session.execute_script(DIGEST)
            picture = inside.folder / f"{name}.png"
            page.screenshot(picture)
            record = page.record()
            page.close()
            statuses = sorted(str(each.status) for each in record.requests)
            lines = [line.text.rpartition('"')[0].rpartition('"')[2] or line.text for line in record.browser.console]
            found[name] = {
                **told,
                "statuses": statuses,
                "console": lines,
                "picture": str(picture),
                "objects": sizes[name],
                "failures": [each.to_json() for each in record.failures],
            }
    return found


def _write(name: str, filters: str | None) -> int:
    """Its objects in a folder of the host; how many."""
    host = f"{name}.{HOST}"
    objects = [replace(each, object=replace(each.object, host=host)) for each in site()]
    wish = parse_minify(filters) if filters else None
    if wish:
        objects = list(minify(objects, host, "/index.html", wish).objects)
    folder = ROOT / host
    folder.mkdir(parents=True)
    index = {}
    for number, each in enumerate(objects):
        (folder / str(number)).write_bytes(each.body)
        index[each.object.path] = (str(number), dict(each.object.sent_headers).get("Content-Type", each.object.mime))
    (folder / "objects.json").write_text(json.dumps(index))
    return len(objects)
