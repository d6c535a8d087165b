"""mod_spdy in a real httpd: what a client asks for is what a client gets, in every version, in clear and in TLS."""

import gzip
import http.client
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.programs.find_program import find

from .httpd import Httpd, Module, running
from .spdy_client import SpdyClient, connect, tls_context

VERSIONS = ("2", "3", "3.1")
ENVIRONMENT = b"""#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
env | sort
"""
REWRITES = """
RewriteEngine on
RewriteRule ^/old$ /page.html [R=302,L]
RewriteRule ^/inside$ /page.html [L]
AddOutputFilterByType DEFLATE text/css
Header always set x-always yes
Header always set status "500 by a script"
Header always set version 0.9
ErrorDocument 404 /lost.html
"""


@pytest.fixture(scope="module")
def server(apache: Path, spdy_module: Module) -> Iterator[Httpd]:
    """SPDY/3.1 begins in clear, all versions in TLS."""
    with running(
        apache, spdy_module, "SpdyEnabled on\nSpdyCleartext 3.1\nProtocols h2 http/1.1", tls=REWRITES, in_clear=REWRITES
    ) as httpd:
        httpd.put("page.html", b"<p>page</p>")
        httpd.put("index.html", b"<p>index</p>")
        httpd.put("lost.html", b"<p>lost</p>")
        httpd.put("style.css", b"p { color: red }\n" * 1000)
        httpd.put("empty", b"")
        httpd.put("large", bytes(range(256)) * 4096)
        httpd.put("cgi/environment", ENVIRONMENT)
        yield httpd


@pytest.fixture(params=[*((version, True) for version in VERSIONS), ("3.1", False)], ids=str)
def client(request: pytest.FixtureRequest, server: Httpd) -> Iterator[SpdyClient]:
    version, tls = request.param
    client = connect(server.tls_port if tls else server.port, version, tls=tls)
    yield client
    client.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_begins_in_clear_where_it_is_asked_for(apache: Path, spdy_module: Module, version: str) -> None:
    with running(apache, spdy_module, in_clear=f"SpdyCleartext {version}") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        client = connect(httpd.port, version)
        assert client.get("/page.html").body == b"<p>page</p>"
        assert httpd.access(1)[0]["spdy"] == version
        client.close()


def test_serves_a_file_with_its_headers(client: SpdyClient) -> None:
    response = client.get("/page.html")
    assert response.status == "200 OK", "in SPDY/2 a field of this name would come on top"
    assert response.headers["content-length"] == "11"
    assert response.headers["content-type"] == "text/html"
    assert response.headers["x-always"] == "yes"
    assert response.body == b"<p>page</p>"
    assert {"date", "server", "last-modified", "etag"} <= response.headers.keys()
    assert not {"connection", "transfer-encoding", "keep-alive", "upgrade"} & response.headers.keys()


def test_streams_share_a_connection(client: SpdyClient) -> None:
    streams = [client.request("/large", priority=number % 4) for number in range(20)]
    bodies = {client.response(stream).body for stream in streams}
    assert bodies == {bytes(range(256)) * 4096}


def test_tells_only_of_the_head(client: SpdyClient) -> None:
    response = client.get("/page.html", method="HEAD")
    assert (response.status, response.headers["content-length"], response.body) == ("200 OK", "11", b"")


def test_answers_that_nothing_has_changed(client: SpdyClient) -> None:
    etag = client.get("/page.html").headers["etag"]
    response = client.get("/page.html", headers=[("if-none-match", etag)])
    assert (response.status, response.body) == ("304 Not Modified", b"")
    assert "content-type" not in response.headers


def test_sends_an_empty_file_as_the_head_alone(client: SpdyClient) -> None:
    response = client.get("/empty")
    assert (response.status, response.headers["content-length"]) == ("200 OK", "0")
    assert not [frame for frame in client.frames if frame.kind == 0]


def test_sends_a_part_of_a_file(client: SpdyClient) -> None:
    response = client.get("/large", headers=[("range", "bytes=100-199")])
    assert (response.status, response.body) == ("206 Partial Content", bytes(range(100, 200)))


def test_finds_the_index(client: SpdyClient) -> None:
    assert client.get("/").body == b"<p>index</p>"


def test_redirects_and_rewrites(client: SpdyClient) -> None:
    assert client.get("/old").headers["location"].endswith("://a.example/page.html")
    assert client.get("/inside").body == b"<p>page</p>"


def test_says_what_is_not_there_in_the_servers_own_words(client: SpdyClient, server: Httpd) -> None:
    response = client.get("/nowhere")
    assert (response.status, response.body) == ("404 Not Found", b"<p>lost</p>")
    server.wait(lambda: any(line["request"].startswith("GET /nowhere") for line in server.access()))


def test_compresses_what_the_server_is_told_to(client: SpdyClient) -> None:
    response = client.get("/style.css", headers=[("accept-encoding", "gzip")])
    assert response.headers["content-encoding"] == "gzip"
    assert gzip.decompress(response.body) == b"p { color: red }\n" * 1000


def test_finds_the_virtual_host_by_each_streams_host(client: SpdyClient) -> None:
    assert client.get("/page.html", host="b.example").headers["x-host"] == "b"
    assert "x-host" not in client.get("/page.html", host="a.example").headers


def test_tells_scripts_of_the_stream(client: SpdyClient) -> None:
    tls = isinstance(client.sock, ssl.SSLSocket)
    text = client.get("/cgi/environment", priority=2).body.decode()
    environment = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    assert environment["SPDY_VERSION"] == client.version
    assert environment["SPDY_STREAM_ID"] == "1"
    assert environment["SPDY_PRIORITY"] == "2"
    assert environment["SERVER_PROTOCOL"] == "HTTP/1.1"
    assert environment["HTTP_HOST"] == "a.example"
    assert environment["REQUEST_SCHEME"] == ("https" if tls else "http")
    assert (environment.get("HTTPS"), environment.get("SSL_PROTOCOL")) == (("on", "TLSv1.3") if tls else (None, None))


def test_logs_a_stream_as_a_request(server: Httpd) -> None:
    client = connect(server.tls_port, "3.1", tls=True)
    client.get("/page.html?logged", priority=5)
    server.wait(lambda: any("logged" in line["request"] for line in server.access()))
    line = next(line for line in server.access() if "logged" in line["request"])
    mine = client.sock.getsockname()
    wanted = {
        "request": "GET /page.html?logged HTTP/1.1",
        "status": 200,
        "spdy": "3.1",
        "stream": "1",
        "priority": "5",
        "protocol": "HTTP/1.1",
        "body": 11,
        "state": "+",
        "remote": f"{mine[0]}:{mine[1]}",
        "host": "a.example",
        "server": "a.example",
        "tls": "TLSv1.3",
        "resumed": "Initial",
        "https": "on",
    }
    assert {key: line[key] for key in wanted} == wanted
    head = next(frame for frame in client.frames if frame.kind == 2)
    assert line["out"] == 8 + len(head.payload) + 8 + 11, "what went over the wire for the stream"
    client.close()


def test_shows_streams_in_the_servers_status(server: Httpd) -> None:
    client = connect(server.port, "3.1")
    client.get("/page.html?shown")
    page = client.get("/server-status").body.decode()
    assert "GET /server-status HTTP/1.1" in page
    assert "spdy/3.1" in page
    assert re.search(r"<h2>SPDY in process \d+</h2>\n<p>\d+ sessions; [1-8] threads for streams", page)
    assert "SpdyMaxThreads: 8\n" in client.get("/server-status?auto").body.decode()
    client.close()


@pytest.mark.parametrize("port", ["port", "tls_port"])
def test_leaves_http_1_alone(server: Httpd, port: str) -> None:
    connection: http.client.HTTPConnection
    if port == "port":
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    else:
        context = tls_context(["http/1.1"])
        connection = http.client.HTTPSConnection("127.0.0.1", server.tls_port, timeout=60, context=context)
    for _ in range(3):
        connection.request("GET", "/page.html", headers={"Host": "a.example"})
        response = connection.getresponse()
        assert response.read() == b"<p>page</p>"
        assert "spdy" not in (response.getheader("Upgrade") or "")
    connection.close()


def test_offers_no_upgrade_where_there_is_only_http_1(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyEnabled on\nSpdyCleartext 3.1\nProtocols http/1.1") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        connection = http.client.HTTPConnection("127.0.0.1", httpd.port, timeout=60)
        connection.request("GET", "/page.html", headers={"Host": "a.example"})
        response = connection.getresponse()
        response.read()
        assert response.getheader("Upgrade") is None
        assert response.getheader("Connection") is None
        connection.close()


def test_leaves_http_2_alone(server: Httpd) -> None:
    h2load = find("h2load")
    if h2load is None:
        pytest.skip("missing: h2load")
    command = [str(h2load), "-n", "200", "-c", "4", "-m", "10", f"https://127.0.0.1:{server.tls_port}/page.html"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Application protocol: h2" in said
    assert "200 succeeded, 0 failed" in said


@pytest.mark.parametrize(
    ("wanted", "offered", "agreed"),
    [
        ("SpdyVersions 3.1 3 2", ["spdy/2", "spdy/3", "spdy/3.1"], "spdy/3.1"),
        ("SpdyVersions 2 3", ["spdy/3.1", "spdy/3", "spdy/2"], "spdy/2"),
        ("SpdyVersions 3", ["spdy/3.1", "http/1.1"], "http/1.1"),
        ("", ["http/1.1", "spdy/3"], "spdy/3"),
        ("Protocols h2 http/1.1", ["spdy/3.1", "h2"], "h2"),
        ("Protocols spdy/3.1 h2", ["spdy/3.1", "h2"], "spdy/3.1"),
        ("SpdyEnabled off", ["spdy/3.1", "http/1.1"], "http/1.1"),
    ],
)
def test_agrees_on_the_version_that_the_server_wants_most(
    apache: Path, spdy_module: Module, wanted: str, offered: list[str], agreed: str
) -> None:
    with running(apache, spdy_module, "SpdyEnabled on", tls=wanted) as httpd:
        raw = socket.create_connection(("127.0.0.1", httpd.tls_port), 60)
        with tls_context(offered).wrap_socket(raw, server_hostname="a.example") as sock:
            assert sock.selected_alpn_protocol() == agreed


def test_works_with_the_worker_mpm(apache: Path, spdy_module: Module) -> None:
    with running(apache, spdy_module, "SpdyEnabled on\nSpdyCleartext 3", mpm="worker") as httpd:
        httpd.put("page.html", b"<p>page</p>")
        for tls in (False, True):
            client = connect(httpd.tls_port if tls else httpd.port, "3", tls=tls)
            assert [client.get("/page.html").body for _ in range(3)] == [b"<p>page</p>"] * 3
            client.close()
