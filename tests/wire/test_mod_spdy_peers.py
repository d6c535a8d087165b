"""mod_spdy in a real httpd against clients of others: the npm package spdy, and Jetty's. All that passes is decoded by
tshark's SPDY dissector as well.

Known of these clients: npm's waits in SPDY/2 for WINDOW_UPDATE after 64 KiB of a request's body, though SPDY/2 has no
windows, and takes SPDY/2's GOAWAY of 4 bytes for an error. It sees pushes only where SYN_STREAM names :method and
:status, which the draft does not ask for. tshark decodes SPDY/3 wholly, and of SPDY/2 the framing.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .client_peers import Order, Peer, digest, h2load, pattern, talk, talking
from .httpd import Httpd, Module, running
from .peers import NodePeer

LARGE_BYTES = 32 << 20  # more than twice the largest window, of 15 MiB
NPM_2_MOST_BODY_BYTES = 65536
PEERS = ["npm 2", "npm 3", "npm 3.1", "Jetty 3"]
PEERS_THAT_TAKE_GOAWAY, PEERS_THAT_SEE_PUSHES = PEERS[1:], PEERS[3:]
SUM = b"""#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
sha256sum | cut -c 1-64 | tr -d '\\n'
"""
SLOW = b"""#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\nfirst '
while [ ! -e "$DOCUMENT_ROOT/go-on" ]; do sleep 0.1; done
printf 'last'
"""
PUSHING = """
SpdyPush on
<Location /page.html>
    Header set X-Associated-Content "\\"/style.css\\""
</Location>
"""


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> Peer:
    name, version = request.param.split()
    return Peer(name, version, request.getfixturevalue("node" if name == "npm" else "java"))


@contextlib.contextmanager
def serving(apache: Path, module: Module, version: str, more: str = "") -> Iterator[Httpd]:
    with running(
        apache, module, f"SpdyCleartext {version}\nSendBufferSize 16384\nRequestReadTimeout body=0\n{more}"
    ) as httpd:
        httpd.put("small", b"small")
        httpd.put("middle", pattern(1 << 20))
        httpd.put("page.html", b"<p>page</p>")
        httpd.put("style.css", b"p { color: red }")
        httpd.put("cgi/sum", SUM)
        httpd.put("cgi/slow", SLOW)
        yield httpd


@pytest.fixture(scope="module")
def server(peer: Peer, apache: Path, spdy_module: Module) -> Iterator[Httpd]:
    with serving(apache, spdy_module, peer.version) as httpd:
        yield httpd


def test_many_streams_at_once(peer: Peer, server: Httpd, tshark: Path) -> None:
    orders = [Order("/middle" if number % 10 == 0 else f"/small?{number}", priority=number % 8) for number in range(90)]
    done = talk(peer, server, tshark, orders)
    answers = done.answers()
    assert answers.keys() == set(range(90)), done.of("failed")
    for number, (status, size, sha) in answers.items():
        content = pattern(1 << 20) if number % 10 == 0 else b"small"
        assert (status, size, sha) == (200, len(content), digest(content))
    assert done.dissection is not None
    assert done.dissection.frames["control 2"] == 90


def test_what_is_not_there(peer: Peer, server: Httpd, tshark: Path) -> None:
    answers = talk(peer, server, tshark, [Order("/nothing"), Order("/small")]).answers()
    assert answers[0][0] == 404
    assert answers[1][0] == 200


def test_large_bodies_both_ways_at_once(peer: Peer, server: Httpd, tshark: Path) -> None:
    up = NPM_2_MOST_BODY_BYTES if (peer.name, peer.version) == ("npm", "2") else LARGE_BYTES
    server.put("large", pattern(LARGE_BYTES))
    done = talk(peer, server, tshark, [Order("/large"), Order("/cgi/sum", method="POST", body_bytes=up)])
    answers = done.answers()
    assert answers.keys() == {0, 1}, done.of("failed")
    assert answers[0] == (200, LARGE_BYTES, digest(pattern(LARGE_BYTES)))
    assert answers[1] == (200, 64, digest(digest(pattern(up)).encode()))
    (server.site / "large").unlink()


def test_tiny_windows_both_ways(peer: Peer, apache: Path, spdy_module: Module, tshark: Path) -> None:
    """SPDY/2 has none, and must not mind them. In SPDY/3.1 npm's client cannot say a smaller one than the draft's."""
    down, window_bytes = 50_000, 65536 if peer.version == "3.1" else 500
    up = NPM_2_MOST_BODY_BYTES if (peer.name, peer.version) == ("npm", "2") else 400_000
    with serving(apache, spdy_module, peer.version, "SpdyStreamWindow 1024") as httpd:
        httpd.put("little", pattern(down))
        orders = [Order("/little"), Order("/cgi/sum", method="POST", body_bytes=up), Order("/little", priority=7)]
        done = talk(peer, httpd, tshark, orders, window_bytes=window_bytes)
    answers = done.answers()
    assert answers.keys() == {0, 1, 2}, done.of("failed")
    assert answers[0] == answers[2] == (200, down, digest(pattern(down)))
    assert answers[1] == (200, 64, digest(digest(pattern(up)).encode()))
    assert done.dissection is not None
    if peer.version != "2":
        assert done.dissection.frames["control 9"] > 100


def test_streams_cancelled_in_the_middle_disturb_no_other(peer: Peer, server: Httpd, tshark: Path) -> None:
    orders = [Order("/middle", priority=2, reset_after_bytes=50_000 if number % 2 else -1) for number in range(20)]
    done = talk(peer, server, tshark, orders)
    assert {int(number) for number, _ in done.of("reset")} == set(range(1, 20, 2)), done.of("failed")
    assert set(done.answers().values()) == {(200, 1 << 20, digest(pattern(1 << 20)))}
    assert done.answers().keys() == set(range(0, 20, 2))
    assert talk(peer, server, tshark, [Order("/small")]).answers()[0][0] == 200


@pytest.mark.parametrize("peer", PEERS_THAT_TAKE_GOAWAY, indirect=True)
def test_a_graceful_restart_ends_no_stream(peer: Peer, apache: Path, spdy_module: Module, tshark: Path) -> None:
    with serving(apache, spdy_module, peer.version) as httpd:
        orders = [Order("/cgi/slow") for _ in range(4)]
        before = httpd.children()
        with talking(peer, httpd, tshark, orders) as done:
            done.wait_for("replied", len(orders))
            httpd.graceful_restart()
            httpd.wait(lambda: set(httpd.children()) - set(before))
            assert talk(peer, httpd, tshark, [Order("/small")]).answers()[0][0] == 200
            httpd.put("go-on", b"")
        content = b"first last"
        assert set(done.answers().values()) == {(200, len(content), digest(content))}, done.lines
        assert done.answers().keys() == set(range(4))
        assert done.dissection is not None
        assert done.dissection.frames["control 7"] >= 1


def test_the_more_urgent_end_first_on_a_slow_wire(peer: Peer, server: Httpd, tshark: Path) -> None:
    """Asked for in the wrong order. npm writes SPDY/3's priorities in SPDY/2 too: there the first two bits count."""
    orders = [Order("/middle", priority=priority) for priority in (7, 5, 2, 0)]
    with talking(peer, server, tshark, orders, bytes_per_s=3 << 20) as done:
        pass
    assert [int(number) for number, *_ in done.of("done")] == [3, 2, 1, 0]


@pytest.mark.parametrize("peer", PEERS_THAT_SEE_PUSHES, indirect=True)
def test_a_pushed_stream_is_seen(peer: Peer, apache: Path, spdy_module: Module, tshark: Path) -> None:
    with serving(apache, spdy_module, peer.version, PUSHING) as httpd:
        done = talk(peer, httpd, tshark, [Order("/page.html")])
    style = b"p { color: red }"
    assert done.of("push") == [["/style.css", "200", str(len(style)), digest(style)]]
    assert done.answers()[0][0] == 200
    assert done.dissection is not None
    assert done.dissection.frames["control 1"] == 2


@pytest.mark.parametrize("version", ["2", "3", "3.1"])
def test_npms_agent_for_nodes_own_http_client(apache: Path, spdy_module: Module, node: NodePeer, version: str) -> None:
    with serving(apache, spdy_module, version) as httpd:
        paths = ["/small", "/middle", "/nothing"] * 5
        command = node.command("spdy-agent.js", str(httpd.port), version, *paths)
        done = subprocess.run(command, env=node.environment(), capture_output=True, text=True, check=True, timeout=600)
    words = {int(line[1]): line[2:] for line in map(str.split, done.stdout.splitlines()) if line[0] == "done"}
    assert words.keys() == set(range(15)), done.stdout
    for number, (status, size, sha) in words.items():
        if number % 3 == 2:
            assert status == "404"
        else:
            content = pattern(1 << 20) if number % 3 else b"small"
            assert (status, size, sha) == ("200", str(len(content)), digest(content))


def test_h2load_has_its_http2_beside_spdy(apache: Path, spdy_module: Module) -> None:
    with serving(apache, spdy_module, "3.1", "SpdyEnabled on\nProtocols h2 http/1.1") as httpd:
        h2load(httpd.tls_port, "a.example", "/small", requests=400, body_bytes=5)
        assert {line["protocol"] for line in httpd.access(400)} == {"HTTP/2.0"}
