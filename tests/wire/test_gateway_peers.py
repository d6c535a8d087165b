"""The gateway in front of other people's SPDY servers, and of mod_spdy. curl asks it as a browser does, in HTTP/2; what
is on the wire is decoded by tshark's SPDY dissector as well.

Known of these servers: npm's keeps to windows in SPDY/2 too, which has none, in clear cannot tell 3.1 from 3 before it
sees the session's window grow, and sends a whole frame where a window has but a byte left. Jetty's in SPDY/2 drops what
a handler does not read in time, and its GOAWAY ends the connection at once, whatever is under way.
"""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .client_peers import digest, h2load, pattern
from .dissected import dissect, priorities
from .front import HOST, Ask, Front, events, gateway_before
from .httpd import Module, running
from .peers import JavaPeer, NodePeer, started
from .relay import recording

LARGE_BYTES = 32 << 20  # more than twice the largest window, of 15 MiB
SUM = b"""#!/bin/sh
printf 'Content-Type: text/plain\\r\\n\\r\\n'
sha256sum | cut -c 1-64 | tr -d '\\n'
"""
OTHERS = ["npm 2", "npm 3", "npm 3.1", "Jetty 2", "Jetty 3"]
OURS = ["mod_spdy 2", "mod_spdy 3", "mod_spdy 3.1", "mod_spdy 3.1 TLS"]
SIZES = [0, 1, 1000, 16384, 65536, 300_001]


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and what the gateway has to know of it."""

    name: str
    version: str
    port: int
    certificate: Path | None = None

    @property
    def wire(self) -> dict[str, str]:
        return {"protocol": f"spdy/{self.version}"}


@contextlib.contextmanager
def _serving(request: pytest.FixtureRequest, folder: Path) -> Iterator[Server]:
    name, version, *tls = request.param.split()
    if name == "mod_spdy":
        with _apache(request, version, bool(tls)) as server:
            yield server
        return
    peer: NodePeer | JavaPeer
    if name == "npm":
        peer = request.getfixturevalue("node")
        command = peer.command("spdy-server.js", version)
    else:
        peer = request.getfixturevalue("java")
        command = peer.command("SpdyServer", version)
    with started(command, folder, environment=peer.environment()) as process:
        yield Server(name, version, process.port)


@contextlib.contextmanager
def _apache(request: pytest.FixtureRequest, version: str, tls: bool) -> Iterator[Server]:
    """With files and a script where the other servers have code."""
    program, module = request.getfixturevalue("apache"), request.getfixturevalue("spdy_module")
    assert isinstance(module, Module)
    directives = f"SpdyVersions {version}\nSpdyEnabled on\nRequestReadTimeout body=0\n"
    rewriting = "RewriteEngine on\nRewriteRule ^/sum$ /cgi/sum [PT]\n"
    clear = rewriting if tls else f"{rewriting}SpdyCleartext {version}"
    with running(program, module, directives, tls=rewriting, in_clear=clear) as httpd:
        for size in [*SIZES, 5000, LARGE_BYTES]:
            httpd.put(f"bytes/{size}", pattern(size))
        httpd.put("cgi/sum", SUM)
        port = httpd.tls_port if tls else httpd.port
        yield Server("mod_spdy", version, port, httpd.folder / "certificate.pem" if tls else None)


@pytest.fixture(scope="module")
def curl() -> Path:
    program = shutil.which("curl")
    if program is None:
        pytest.skip("missing: curl")
    return Path(program)


@pytest.fixture(scope="module", params=[*OTHERS, *OURS])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with _serving(request, tmp_path_factory.mktemp("server")) as server:
        yield server


@dataclass(frozen=True, slots=True)
class World:
    """What a test starts gateways with."""

    program: Path
    curl: Path
    tshark: Path
    folder: Path

    @contextlib.contextmanager
    def plain(self, server: Server) -> Iterator[Front]:
        with gateway_before(
            self.program, self.curl, self.folder / "front", server.port, server.wire, server.certificate
        ) as front:
            yield front

    @contextlib.contextmanager
    def recorded(self, server: Server) -> Iterator[Front]:
        """With a relay between, and the dissector's judgement at the end."""
        pcap = self.folder / "pcap"
        with (
            recording(server.port, pcap) as port,
            gateway_before(
                self.program, self.curl, self.folder / "front", port, server.wire, server.certificate
            ) as front,
        ):
            yield front
        if server.certificate is None:
            dissection = dissect(self.tshark, pcap, server.port)
            assert dissection.complaints == []
            assert dissection.frames["control 1"] > 0, dissection.frames


@pytest.fixture
def world(gateway_program: Path, curl: Path, tshark: Path, tmp_path: Path) -> World:
    return World(gateway_program, curl, tshark, tmp_path)


def test_many_requests_share_one_connection(world: World, server: Server) -> None:
    asks = [f"/bytes/{SIZES[i % len(SIZES)]}" for i in range(90)]
    with world.recorded(server) as front:
        answers = front.ask(*asks)
        for i, answer in enumerate(answers):
            size = SIZES[i % len(SIZES)]
            assert (answer.status, answer.error, answer.http) == (200, "", "2")
            assert (answer.size, answer.digest()) == (size, digest(pattern(size)))
        log = front.stop()
    connections = [connection for connection in events(log, "connection") if connection["requests"]]
    assert [connection["requests"] for connection in connections] == [90]
    assert connections[0]["protocol"] == f"spdy/{server.version}"
    assert connections[0]["alpn"] == (f"spdy/{server.version}" if server.certificate else None)
    requests = events(log, "request")
    assert sorted(request["stream"] for request in requests) == [2 * i + 1 for i in range(90)]
    assert max(request["in_flight"] for request in requests) > 1
    for request in requests:
        assert request["queued_ms"] <= request["sent_ms"] <= request["first_byte_ms"] <= request["last_byte_ms"]
        assert request["wire_priority"] == (2 if server.version == "2" else 3)
        if request["stream"] > 1:
            assert request["request_header_wire_bytes"] < request["request_header_bytes"]


@pytest.mark.parametrize("server", ["mod_spdy 3.1 TLS"], indirect=True)
@pytest.mark.parametrize(("tls", "share"), [("1.2", "p-256"), ("1.3", "browser"), ("1.3", "x25519"), ("1.3", "p-256")])
def test_apache_resumes_sessions_with_each_key_share(world: World, server: Server, tls: str, share: str) -> None:
    """One connection after another: but for the first two, which a navigation begins together."""
    wire = {"protocol": "http/1.1", "keepalive": False, "tls": tls, "tls_key_share": share}
    with gateway_before(
        world.program, world.curl, world.folder / "front", server.port, wire, server.certificate
    ) as front:
        for _ in range(5):
            (answer,) = front.ask("/bytes/1000")
            assert (answer.status, answer.size) == (200, 1000)
        connections = [each for each in events(front.stop(), "connection") if each["requests"]]
    assert {connection["tls"] for connection in connections} == {f"TLS {tls}"}
    assert [connection["tls_resumed"] for connection in connections[-3:]] == [True, True, True]


def test_large_bodies_both_ways_at_once(world: World, server: Server, tmp_path: Path) -> None:
    # Jetty loses bytes of a large body while it writes another one: a capture showed that all of them reached it.
    up = LARGE_BYTES if server.name != "Jetty" else 100_000
    (tmp_path / "up").write_bytes(pattern(up))
    with world.plain(server) as front:
        down, told = front.ask(f"/bytes/{LARGE_BYTES}", Ask("/sum", send=tmp_path / "up"))
        assert (down.status, down.size, down.error) == (200, LARGE_BYTES, "")
        assert down.digest() == digest(pattern(LARGE_BYTES))
        assert (told.status, told.error) == (200, "")
        assert told.text().split()[-1] == digest(pattern(up))
        requests = events(front.stop(), "request")
    by_method = {request["method"]: request for request in requests}
    assert by_method["GET"]["response_body_bytes"] == LARGE_BYTES
    assert by_method["POST"]["request_body_bytes"] == up


# npm's server of 3.1 goes beyond a window that is used up, which rightly ends the session now and then.
@pytest.mark.parametrize("server", [name for name in (*OTHERS, *OURS) if name != "npm 3.1"], indirect=True)
def test_cancelled_answers_disturb_no_other(world: World, server: Server) -> None:
    """curl gives up answers that it reads slowly, while others come whole on the same connection."""
    # Two windows of 6 MiB leave room in the session's of 15: npm's server goes beyond one that is used up.
    slow = [Ask(f"/bytes/{LARGE_BYTES}", give_up_s=1, bytes_per_s=100_000)] * (2 if server.name == "npm" else 6)
    whole = [Ask("/bytes/300001")] * 6
    with world.plain(server) as front:
        answers = front.ask(*slow, *whole)
        for answer in answers[: len(slow)]:
            assert answer.error
            assert answer.size < LARGE_BYTES
        for answer in answers[len(slow) :]:
            assert (answer.status, answer.error) == (200, "")
            assert answer.digest() == digest(pattern(300_001))
        assert front.ask("/bytes/5000")[0].digest() == digest(pattern(5000))
        log = front.stop()
    assert sum(request["cancelled"] for request in events(log, "request")) == len(slow)
    assert len([connection for connection in events(log, "connection") if connection["requests"]]) == 1


def test_h2load_has_all_its_answers(world: World, server: Server) -> None:
    with world.plain(server) as front:
        h2load(front.port, HOST, "/bytes/16384", requests=400, body_bytes=16384)
        log = front.stop()
    assert [request["status"] for request in events(log, "request")] == [200] * 400


@pytest.mark.parametrize("padding", ["NONE", "ALIGNED", "MAX"])
def test_http2_of_nghttp2_with_padding(world: World, node: NodePeer, padding: str, tmp_path: Path) -> None:
    """However its frames are padded, bodies are whole both ways, and windows are given back."""
    (tmp_path / "up").write_bytes(pattern(LARGE_BYTES))
    with (
        started(node.command("h2-server.js", padding), tmp_path, environment=node.environment()) as server,
        gateway_before(world.program, world.curl, world.folder / "front", server.port, {"protocol": "h2"}) as front,
    ):
        told, *answers = front.ask(
            Ask("/sum", send=tmp_path / "up"), *(f"/bytes/{size}" for size in [*SIZES, LARGE_BYTES])
        )
        log = front.stop()
    assert (told.error, told.text()) == ("", f"{LARGE_BYTES} {digest(pattern(LARGE_BYTES))}")
    for size, answer in zip([*SIZES, LARGE_BYTES], answers, strict=True):
        assert (answer.status, answer.error, answer.digest()) == (200, "", digest(pattern(size)))
    (connection,) = [each for each in events(log, "connection") if each["requests"]]
    assert connection["ended_by"] == "gateway"
    assert {each["response_body_bytes"] for each in events(log, "request")} >= {*SIZES, LARGE_BYTES}


# --- what only servers with code of ours can be made to do -----------------------------------------------------------


@pytest.fixture(params=OTHERS)
def coded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    with _serving(request, tmp_path / "server") as server:
        yield server


def test_requests_are_under_way_at_once(world: World, coded: Server) -> None:
    """The server answers none before it has all."""
    with world.recorded(coded) as front:
        answers = front.ask(*["/together/80"] * 80)
    assert [(answer.status, answer.text()) for answer in answers] == [(200, "80 at once")] * 80


def test_priorities_are_on_the_wire(world: World, coded: Server) -> None:
    """The browser's urgencies, which SPDY/2 has as Chromium put them into its four priorities."""
    with world.recorded(coded) as front:
        front.ask(*(Ask(f"/bytes/{1000 + urgency}", urgency=urgency) for urgency in range(8)))
        requests = events(front.stop(), "request")
    wanted = {request["stream"]: int(request["url"][-1]) for request in requests}
    for request in requests:
        urgency = wanted[request["stream"]]
        assert request["priority"]["urgency"] == urgency
        assert request["wire_priority"] == ([0, 1, 2, 2, 3, 3, 3, 3][urgency] if coded.version == "2" else urgency)
    if coded.version != "2":  # of which tshark decodes the framing only
        assert priorities(world.tshark, world.folder / "pcap", coded.port) == wanted


def test_resets_by_the_server(world: World, coded: Server) -> None:
    with world.recorded(coded) as front:
        answers = front.ask(*(path for i in range(10) for path in (f"/reset/1000/{i}", "/bytes/65536")))
        for broken, fine in zip(answers[::2], answers[1::2], strict=True):
            assert broken.error or broken.status == 502, "an answer that was reset seems complete"
            assert (fine.status, fine.digest()) == (200, digest(pattern(65536)))
        log = front.stop()
    assert sum(request["error"] is not None for request in events(log, "request")) == 10
    assert len([connection for connection in events(log, "connection") if connection["requests"]]) == 1


def test_goaway_in_the_middle_of_a_load(world: World, coded: Server) -> None:
    """What the server did not act on is asked for again on another connection.

    A server that closes while requests still come in resets the connection, and the kernel drops what it had promised
    and was not read yet: npm's does so rarely, Jetty's often. No gateway gets such answers, and none may seem whole.
    """
    asks = ["/bytes/65536"] * 80
    asks[30] = "/goaway"
    with world.recorded(coded) as front:
        answers = front.ask(*asks)
        again = front.ask(*["/bytes/5000"] * 10)
        log = front.stop()
    assert [answer.digest() for answer in again] == [digest(pattern(5000))] * 10
    whole = [answer for answer in answers if not answer.error and answer.status == 200]
    assert sorted(answer.size for answer in whole)[1:] == [65536] * (len(whole) - 1)
    assert {answer.digest() for answer in whole if answer.size == 65536} == {digest(pattern(65536))}
    connections = [connection for connection in events(log, "connection") if connection["requests"]]
    assert len(connections) > 1
    cut = {connection["connection"] for connection in connections if connection["ended_by"] == "error"}
    lost = [request["connection"] for request in events(log, "request") if request["error"]]
    assert len(lost) == len(asks) - len(whole)
    assert set(lost) <= cut, "an answer was lost on a connection that the server ended as it should"


def test_pushes_are_refused(world: World, coded: Server) -> None:
    with world.recorded(coded) as front:
        answers = front.ask(*["/push"] * 5, "/bytes/1000")
    assert [answer.text() for answer in answers[:5]] == ["pushing"] * 5
    assert answers[5].digest() == digest(pattern(1000))
    dissection = dissect(world.tshark, world.folder / "pcap", coded.port)
    assert dissection.frames["control 1"] > 6, "the server pushed nothing"
    assert dissection.frames["control 3"] > 0, "nothing was refused"
