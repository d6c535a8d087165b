"""A small site for tests: real, decodable images; served by Python's own server, so that no test of the browser waits
for Apache."""

import struct
import zlib
from pathlib import Path

from lanelab.driver.bed.node import Command, Node
from tests.kit.inside import InsideBed
from tests.kit.wait import wait_until

HOST = "site.example"
URL = f"http://{HOST}/"
IMAGES = 12
WIDE = "wide.html"  # wider and longer than any screen
RESTLESS = "restless.html"  # goes on asking and complaining for as long as it is there
FILES = IMAGES + 2  # beside the page: a style sheet and a script
SERVER = """
import http.server, ssl, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def end_headers(self):
        self.send_header('Cache-Control', 'max-age=600')
        super().end_headers()
    def do_GET(self):
        if self.path == '/slow':
            import time
            time.sleep(60)  # the page that does not end
        if self.path == '/cookie':
            self.send_response(200)
            self.send_header('Set-Cookie', 'seen=1; Max-Age=600')
            self.send_header('Content-Length', '0')
            return self.end_headers()
        super().do_GET()
    def log_message(self, form, *rest):
        sys.stdout.write(f"{self.client_address[1]} {self.headers.get('Cookie', '-')} {form % rest}\\n")
        sys.stdout.flush()
server = http.server.ThreadingHTTPServer(('10.10.2.2', int(sys.argv[2])), lambda *a: Handler(*a, directory=sys.argv[1]))
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain(sys.argv[3], sys.argv[4])
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def png(seed: int, side: int = 64) -> bytes:
    """Noise that does not compress, as a picture that decodes."""
    state, rows = seed or 1, bytearray()
    for _ in range(side):
        rows.append(0)
        for _ in range(side * 3):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            rows.append(state >> 16 & 0xFF)
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows))), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    images = "".join(f'<img src="{number}.png" width="64" height="64">' for number in range(IMAGES))
    head = '<link rel="icon" href="data:,"><link rel="stylesheet" href="s.css"><script src="s.js"></script>'
    (folder / "index.html").write_text(
        f"<!doctype html><html><head>{head}</head><body><h1>Page</h1>{images}</body></html>"
    )
    (folder / WIDE).write_text(
        '<!doctype html><html><head><link rel="icon" href="data:,">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'
        '<body style="margin: 0"><div style="width: 1500px; height: 9000px"></div></body></html>'
    )
    (folder / RESTLESS).write_text(
        '<!doctype html><html><head><link rel="icon" href="data:,"><script>'
        "setInterval(() => { console.error('restless'); fetch('s.css?' + Math.random()); }, 20)</script></head></html>"
    )
    (folder / "s.css").write_text("body { background: #eef }")
    (folder / "s.js").write_text("console.error('from the page')")
    for number in range(IMAGES):
        (folder / f"{number}.png").write_bytes(png(number + 1))


def serve(inside: InsideBed, port: int = 80, *tls: str) -> Path:
    """The server's own log: a line per request, with the client's port and cookies first."""
    folder, log = Path("/run/site"), Path(f"/run/site-{port}.log")
    if not folder.exists():
        write(folder)
    server = inside.node("server")
    command = ["sh", "-c", 'exec python3 -c "$0" "$@" >"$LOG"', SERVER, str(folder), str(port), *tls]
    server.spawn(Command(command, {"LOG": str(log)}))
    await_port(server, port)
    return log


def await_port(node: Node, port: int) -> None:
    listens = ["sh", "-c", f"ss -ltn | grep -q :{port}"]
    wait_until(lambda: node.run(listens, check=False).status == 0, what=lambda: f"nobody listens at {port}")
