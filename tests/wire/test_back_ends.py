"""Tomcat and Jetty behind what a proxy speaks: SPDY by clients of ours, AJP by Apache."""

import contextlib
import hashlib
import http.client
import json
import select
import socket
import subprocess
import time
from pathlib import Path

import pytest

from . import back_ends, httpd
from .httpd import MODULES
from .spdy_client import MAX_STREAMS, WAIT_S, Closed, SpdyClient, connect

AT_ONCE = 170  # slow requests, as in 2013
FOREVER = "lines=2&every_ms=600000"  # the second line comes when no test waits for it any more
SPDY = {"server": "jetty", "proxy": "gateway", "proxy_protocol": "spdy/3"}
versions = pytest.mark.parametrize("version", ["9.2", "8.1"])


@versions
def test_jetty_speaks_spdy(version: str) -> None:
    with back_ends.running(**SPDY, jetty_version=version) as jetty:
        client = connect(jetty.port, "3", host="a.test")
        client.until(lambda: MAX_STREAMS in client.settings)
        assert client.settings[MAX_STREAMS] == 1000
        answer = client.get("/x.png", host="a.test")
        assert (answer.status[:3], answer.headers["content-type"], answer.body) == ("200", "image/png", back_ends.BODY)
        assert client.get("/y.png", host="a.test").status[:3] == "404"
        stream = client.get("/lanelab/stream?bytes=1000001&chunk=32768")
        assert hashlib.sha256(stream.body).hexdigest() == hashlib.sha256(b"x" * 1000001).hexdigest()
        assert client.get("/lanelab/slow?lines=2&every_ms=10").body == b"line 1 of 2\nline 2 of 2\n"
        client.close()
        assert jetty.unexpected() == []


@versions
def test_our_own_client_loads_it(version: str, spdy_load: Path) -> None:
    with back_ends.running(**SPDY, jetty_version=version) as jetty:
        argv = [str(spdy_load), "-json", "-protocol", "spdy/3", "-streams", "20", "-requests", "500"]
        argv += ["-connect", f"127.0.0.1:{jetty.port}", "http://a.test/x.png"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        result = json.loads(done.stdout)
        assert (done.returncode, result["succeeded"], result["failed"]) == (0, 500, 0), result


@versions
def test_slow_requests_share_a_connection(version: str) -> None:
    """Each has its first line while none has its second: the pool is large enough for all."""
    with back_ends.running(**SPDY, jetty_version=version) as jetty:
        client = connect(jetty.port, "3")
        streams = [client.request(f"/lanelab/slow?{FOREVER}") for _ in range(AT_ONCE)]
        client.until(lambda: all(client.responses[stream].body == b"line 1 of 2\n" for stream in streams))
        assert client.goaway is None
        client.close()


@pytest.mark.long
def test_jetty_8_1_goes_away_when_its_threads_are_used_up() -> None:
    """What the study of 2013 saw after about 180 requests: docs/reference/back-ends.md."""
    threads = 60
    with back_ends.running(**SPDY, jetty_version="8.1", threads=threads) as jetty:
        client = connect(jetty.port, "3")
        for _ in range(threads // 2):  # one after the other: on a busy machine, half the pool at once uses it up too
            answer = client.responses[client.request(f"/lanelab/slow?{FOREVER}")]
            client.until(lambda answer=answer: bool(answer.body))  # type: ignore[misc]
        assert client.goaway is None
        with contextlib.suppress(Closed):
            for _ in range(threads):
                client.request("/lanelab/slow?lines=100000&every_ms=100")
            client.until(lambda: client.goaway is not None)
        assert ended(client)
        assert sum(bool(response.body) for response in client.responses.values()) <= threads
    with back_ends.running(**SPDY, jetty_version="9.2", threads=threads) as jetty:
        client = connect(jetty.port, "3")
        for _ in range(threads + threads // 2):
            client.request("/lanelab/slow?lines=100000&every_ms=100")
        look(client, 3)
        assert client.goaway is None
        assert 0 < sum(bool(response.body) for response in client.responses.values()) <= threads
        client.close()


def ended(client: SpdyClient) -> bool:
    """By the server: the last words of a connection may be lost where we were writing."""
    return client.closed or client.goaway is not None


def look(client: SpdyClient, seconds: float) -> None:
    """See what comes."""
    until = time.monotonic() + seconds
    with contextlib.suppress(AssertionError):
        client.until(lambda: time.monotonic() > until or client.goaway is not None, wait_s=seconds)


def test_apache_reaches_tomcat_by_ajp(apache: Path) -> None:
    if not (MODULES / "mod_proxy_ajp.so").is_file():
        pytest.skip("Apache has no mod_proxy_ajp here")
    with back_ends.running(server="tomcat", proxy="apache", proxy_protocol="ajp") as tomcat:
        directives = f"LoadModule proxy_ajp_module {MODULES}/mod_proxy_ajp.so\n"
        in_clear = f'ProxyPreserveHost On\nProxyPass "/" "ajp://127.0.0.1:{tomcat.port}/" flushpackets=on\n'
        with httpd.running(apache, None, directives, in_clear=in_clear, processes=4, threads=50) as front:
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", front.port)) as asking:
                asking.request("GET", "/x.png", headers={"Host": "a.test"})
                answer = asking.getresponse()
                assert (answer.headers["Content-Type"], answer.read()) == ("image/png", back_ends.BODY)
            all_have_a_first_line(front.port)
            front.expect("AH0|proxy")  # what it says of clients that leave
        assert tomcat.unexpected() == []


def all_have_a_first_line(port: int) -> None:
    request = f"GET /lanelab/slow?{FOREVER} HTTP/1.1\r\nHost: a.test\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(AT_ONCE)]
        for client in clients:
            client.sendall(request)
        waiting, deadline = dict.fromkeys(clients, b""), time.monotonic() + WAIT_S
        while waiting:
            assert time.monotonic() < deadline, f"{len(waiting)} of {AT_ONCE} had no line"
            for client in select.select(list(waiting), [], [], 1)[0]:
                waiting[client] += client.recv(4096)
                if b"line 1 of 2\n" in waiting[client]:
                    del waiting[client]
