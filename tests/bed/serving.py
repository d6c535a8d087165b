"""Checks of the real web servers in a bed; test_serving.py runs them. Those of BOTH run with each server but webfs,
which can do less, and has checks of its own (webfs.py)."""

import contextlib
import gzip
import hashlib
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.certificates import Authority, Leaf
from lanelab.driver.arm.servers.life import RunningServer, check_configuration
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import Assignment
from lanelab.driver.base.errors import InputError, ServerError
from lanelab.driver.base.programs.building.apache_module import module
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.record.evidence.server import LoggedRequest, ServedRequest
from lanelab.driver.site.site import Headers, Site, SiteObject
from tests.kit.inside import Check, InsideBed, main
from tests.kit.server_arms import compressed
from tests.kit.wait import wait_until

FETCH = str(Path(__file__).parent / "fetch.py")
ADDRESS = "10.10.2.2"
L = TypeVar("L", ServedRequest, LoggedRequest)
FILES: dict[tuple[str, str, str], bytes] = {
    ("a.test", "/", "text/html"): b"<!doctype html>" + b"<p>page</p>" * 500,
    ("a.test", "/style.css", "text/css"): b"body { color: red }\n" * 200,
    ("a.test", "/pic.png", "image/png"): bytes(range(256)) * 40,
    ("a.test", "/odd.png", "text/plain"): b"not a picture",
    ("a.test", "/api/x", "application/json"): b"{}",
    ("a.test", "/get.php?id=1&x=a/b", "text/html"): b"one",
    ("a.test", "/get.php?id=2", "application/javascript"): b"two()",
    ("a.test", "/with%20space.png", "image/png"): b"space",
    ("a.test", "/v?a=x", "text/css"): b"small",
    ("a.test", "/v?a=X", "text/css"): b"large",
    ("b.test", "/deep/er/", "text/html"): b"deep",
    ("b.test", "/same.css", "text/css"): b"b { }",
}
TLS12, TLS13 = ["TLSv1_2", "TLSv1_2"], ["TLSv1_3", "TLSv1_3"]
ANY_TLS = ["TLSv1_2", "TLSv1_3"]


def site(bed: InsideBed) -> Site:
    if "site" not in bed.kept:
        content = bed.memory / "content"
        objects = tuple(
            SiteObject(host, path, len(data), mime, hashlib.sha256(data).hexdigest())
            for (host, path, mime), data in FILES.items()
        )
        for each, data in zip(objects, FILES.values(), strict=True):
            content.mkdir(exist_ok=True)
            (content / each.sha256).write_bytes(data)
        bed.kept["site"] = Site("odd", "An odd site", "a.test", "/", objects, content)
        bed.kept["authority"] = Authority.make(bed.memory / "authority")
    found: Site = bed.kept["site"]
    return found


@contextlib.contextmanager
def served(
    bed: InsideBed, /, what: Site | None = None, *, marked: bool = True, **settings: Any
) -> Iterator[RunningServer]:
    """`marked`: with the marks of the arm's compression, as preparing a site gives them."""
    arm = Arm.parse("arm", {"server": bed.kept.get("server", "apache"), **settings})
    what = what or site(bed)
    what = compressed(what, arm) if marked else what
    leaf = bed.kept["authority"].leaf(what.hosts, arm.tls_certificate) if arm.tls != "off" else None
    server = RunningServer.start(bed.server, assigned(bed, arm, what, leaf=leaf))
    try:
        yield server
    finally:
        server.stop()


def assigned(
    bed: InsideBed, arm: Arm, what: Site | None = None, *, leaf: Leaf | None = None, folder: str = "server"
) -> Assignment:
    programs = {name: module(name) for name in SERVERS[arm.server].builds(arm)}
    return Assignment(arm, what or site(bed), bed.memory / folder, leaf, programs)


def plain(bed: InsideBed) -> Arm:
    return Arm.parse("arm", {"server": bed.kept.get("server", "apache")})


def name_of(bed: InsideBed) -> str:
    return str(bed.kept.get("server", "apache"))


def is_nginx(bed: InsideBed) -> bool:
    return name_of(bed) == "nginx"


VERSIONS = {"apache": "Apache/2.4", "nginx": "nginx/1.", "lighttpd": "lighttpd/1.4", "caddy": "Caddy", "h2o": "h2o/2."}
NO_BYTES = ("caddy", "h2o")  # do not log how many bytes there were with the headers
NO_ADDRESS = ("lighttpd", "caddy")  # do not log the address that was asked
REDIRECTING = ("lighttpd", "h2o")  # from a folder's name without its slash to the one with it


def endless(bed: InsideBed) -> int:
    """`keepalive_requests` with which a connection carries all that is asked for here."""
    return 1000 if name_of(bed) == "lighttpd" else 0


def fetch(bed: InsideBed, *plans: dict[str, Any]) -> list[dict[str, Any]]:
    text = json.dumps([{"address": ADDRESS, "port": 443 if plan.get("tls") else 80, **plan} for plan in plans])
    found: list[dict[str, Any]] = json.loads(bed.client.run([*bed.client.python, FETCH, text]).stdout)
    return found


def fetch_whole(bed: InsideBed, what: Site) -> list[dict[str, Any]]:
    """The answers to requests for all objects, one connection to each host; each is as the manifest says."""
    responses: list[dict[str, Any]] = []
    for host in what.hosts:
        mine = [each for each in what.objects if each.host == host]
        (found,) = fetch(bed, {"name": host, "get": [each.path for each in mine]})
        assert "error" not in found, found
        for each, response in zip(mine, found["responses"], strict=True):
            assert (response["status"], response["type"], response["bytes"], response["sha256"]) == (
                200, each.mime, each.size, each.sha256,
            ), response  # fmt: skip
        responses += found["responses"]
    return responses


def awaited_lines(server: RunningServer, kind: type[L], count: int) -> list[L]:
    """A line is written when the server is done with a request, which may be after the client is."""
    lines: list[L] = []

    def all_came() -> bool:
        lines.extend(line for line in server.requests() if isinstance(line, kind))
        return len(lines) >= count

    wait_until(all_came, what=lambda: lines)
    return lines


def awaited_error_lines(server: RunningServer) -> list[str]:
    """A parent looks at its children once a second."""
    lines: list[str] = []

    def some_came() -> bool:
        lines.extend(server.error_lines())
        return bool(lines)

    wait_until(some_came)
    return lines


def access(server: RunningServer, count: int) -> list[ServedRequest]:
    return awaited_lines(server, ServedRequest, count)


def every_object_comes_as_the_manifest_says(bed: InsideBed) -> None:
    what = site(bed)
    with served(bed, keepalive_requests=endless(bed)) as server:
        fetch_whole(bed, what)
        lines = access(server, len(what.objects))
        assert [(line.host, line.path) for line in lines] == [(each.host, each.path) for each in what.objects]
        assert {line.status for line in lines} == {200}
        assert {line.protocol for line in lines} == {"HTTP/1.1"}
        first = [line for line in lines if line.host == "a.test"]
        counts = [None] * len(first) if name_of(bed) == "caddy" else list(range(len(first)))
        assert [line.keepalives for line in first] == counts
        assert len({line.remote for line in first}) == 1
        assert server.error_lines() == []
        assert server.version.startswith(VERSIONS[name_of(bed)])


def responses_are_the_same_every_time(bed: InsideBed) -> None:
    headers = []
    for _ in range(2):
        with served(bed) as server:
            (found,) = fetch(bed, {"name": "a.test", "get": ["/pic.png"]})
            (response,) = found["responses"]
            headers.append({key.lower(): value for key, value in response["headers"].items() if key != "Date"})
            (line,) = access(server, 1)
            assert line.body_bytes == response["bytes"]
            assert line.sent_bytes is None if name_of(bed) in NO_BYTES else (line.sent_bytes or 0) > response["bytes"]
    assert headers[0] == headers[1]
    assert headers[0]["last-modified"] == "Wed, 01 Jan 2020 00:00:00 GMT"
    assert "etag" in headers[0]


def what_the_site_does_not_have_is_404(bed: InsideBed) -> None:
    with served(bed) as server:
        missing = ["/nothing", "/deep", "/with%2520space.png"]
        missing += [] if name_of(bed) in REDIRECTING else ["/api"]
        missing += ["/get.php", "/get.php?id=3"] if name_of(bed) != "apache" else []  # Apache has the nearest one
        plan = {"name": "a.test", "get": missing}
        other = {"name": "elsewhere.test", "get": ["/", "/style.css"]}
        found = fetch(bed, plan, other, {"name": ADDRESS, "get": ["/"]})
        statuses = [response["status"] for one in found for response in one["responses"]]
        assert set(statuses) == {404}, found
        lines = server.error_lines()
        assert lines == [], lines
        (found_outside,) = fetch(bed, {"name": "a.test", "get": ["/../../etc/passwd"]})
        assert found_outside["responses"][0]["status"] in (
            (400,) if name_of(bed) in ("apache", "nginx") else (400, 404)
        )
        lines = server.error_lines()
        assert "AH10244" in lines[0] if name_of(bed) == "apache" else not lines


def keepalive_is_as_asked(bed: InsideBed) -> None:
    paths = ["/", "/style.css", "/pic.png"]
    with served(bed):
        (found,) = fetch(bed, {"name": "a.test", "get": paths})
        assert [response["closed"] for response in found["responses"]] == [False] * 3
    if name_of(bed) != "h2o":
        with served(bed, keepalive=False):
            (found,) = fetch(bed, {"name": "a.test", "get": paths})
            assert [response["closed"] for response in found["responses"]] == [True]
            assert "error" in found
    if not SERVERS[name_of(bed)].counts_requests:
        return
    with served(bed, keepalive_requests=2) as server:
        (found,) = fetch(bed, {"name": "a.test", "get": paths})
        assert [response["closed"] for response in found["responses"]][-1] is True
        # The setting is how often a connection is kept, not what it carries: one request more.
        assert len(found["responses"]) == 3, found
        assert len(access(server, 3)) == 3


def tls_is_exactly_the_one_asked_for(bed: InsideBed) -> None:
    plans = [{"name": "a.test", "tls": version, "get": ["/"]} for version in (TLS12, TLS13)]
    for version, good in (("1.2", 0), ("1.3", 1)):
        with served(bed, tls=version) as server:
            found = fetch(bed, *plans)
            assert found[good]["responses"][0]["status"] == 200
            assert found[good]["tls"] == f"TLSv{version}"
            assert found[good]["alpn"] == "http/1.1"
            assert "error" in found[1 - good]
            assert access(server, 1)[0].tls == (None if name_of(bed) == "lighttpd" else f"TLSv{version}")
            refused = fetch(bed, {"name": "a.test", "port": 80})
            assert "refused" in refused[0]["error"]


def resumption_is_as_asked(bed: InsideBed) -> None:
    for version, span in (("1.2", TLS12), ("1.3", TLS13)):
        for on in (True, False):
            with served(bed, tls=version, tls_resumption=on) as server:
                plan = {"name": "a.test", "tls": span, "get": ["/"]}
                first, second = fetch(bed, plan, {**plan, "resume": True})
                assert first["resumed"] is False
                assert second["resumed"] is on, (version, on, second)
                assert first["tickets"] is on, (version, on)
                logged = [None, None] if name_of(bed) == "lighttpd" else [False, on]
                assert [line.tls_resumed for line in access(server, 2)] == logged
                assert server.error_lines() == []


def the_certificate_is_the_leaf(bed: InsideBed) -> None:
    what = site(bed)
    from cryptography import x509  # noqa: PLC0415 - only here
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    names = ("a.test", "b.test", *([] if name_of(bed) == "caddy" else ["c.test"]))  # Caddy knows no certificate for it
    for kind in ("ecdsa-p256", "rsa-2048"):
        with served(bed, tls="1.3", tls_certificate=kind):
            found = fetch(bed, *({"name": name, "tls": ANY_TLS} for name in names))
            leaf = bed.kept["authority"].leaf(what.hosts, kind)
            der = x509.load_pem_x509_certificate(leaf.certificate.read_bytes()).public_bytes(Encoding.DER)
            assert {one["certificate_sha256"] for one in found} == {hashlib.sha256(der).hexdigest()}


def http2_is_negotiated(bed: InsideBed) -> None:
    both = {"name": "a.test", "tls": ANY_TLS, "alpn": ["h2", "http/1.1"]}
    with served(bed, tls="1.3", protocol="h2"):
        assert fetch(bed, both)[0]["alpn"] == "h2"
    if name_of(bed) == "h2o":
        return  # it always offers HTTP/2
    with served(bed, tls="1.3"):
        assert fetch(bed, both)[0]["alpn"] == "http/1.1"


CODINGS = (("off", None, "off"), ("gzip", "gzip", "off"), ("brotli", "br", "1.3"), ("zstd", "zstd", "1.3"))


def compression_is_as_asked(bed: InsideBed) -> None:
    for name, encoding, tls in CODINGS:
        if name not in SERVERS[name_of(bed)].compressions:
            continue
        with served(bed, compression=name, tls=tls) as server:
            plan: dict[str, Any] = {"name": "a.test", "get": ["/", "/style.css", "/pic.png"]}
            plan |= {"headers": {"Accept-Encoding": "gzip, br, zstd"}, "tls": ANY_TLS if tls != "off" else None}
            (found,) = fetch(bed, plan)
            assert [response["encoding"] for response in found["responses"]] == [encoding, encoding, None]
            page = found["responses"][0]
            size = len(FILES["a.test", "/", "text/html"])
            assert page["bytes"] == size if encoding is None else page["bytes"] < size / 4
            if encoding == "gzip":
                assert page["sha256"] == site(bed).objects[0].sha256
            assert [line.encoding for line in access(server, 3)] == [encoding, encoding, None]


def every_mpm_serves(bed: InsideBed) -> None:
    for mpm in ("event", "worker", "prefork"):
        with served(bed, mpm=mpm) as server:
            (found,) = fetch(bed, {"name": "a.test", "get": ["/"]})
            assert found["responses"][0]["status"] == 200
            assert server.error_lines() == []


def each_origin_has_its_address(bed: InsideBed) -> None:
    what = site(bed)
    with served(bed) as server:
        addresses = origin_addresses(what.hosts, "per-origin")
        found = fetch(bed, *({"name": host, "address": address, "get": ["/"]} for host, address in addresses.items()))
        assert [one["responses"][0]["status"] for one in found] == [200, 403 if name_of(bed) == "lighttpd" else 404]
        # Two processes of the server may have logged them, so their order is no fact.
        known = {":80"} if name_of(bed) in NO_ADDRESS else {f"{address}:80" for address in addresses.values()}
        assert {line.local for line in access(server, 2)} == known


def bad_lines_in_its_error_log_are_seen(bed: InsideBed) -> None:
    directives = ["Redirect 500 /broken"]
    with served(bed, server_directives=directives, max_workers=25, start_servers=1) as server:
        assert server.error_lines() == []
        error_log = bed.memory / "server" / "apache" / "error.log"
        with error_log.open("a") as file:
            file.write("[Fri Nov 20 15:14:46.340115 2026] [core:error] [pid 1:tid 1] AH00999: something\n[half a line")
        assert [line.partition("AH")[2] for line in server.error_lines()] == ["00999: something"]
        assert server.error_lines() == []


def a_child_that_dies_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed) as server:
        os.kill(max(pids()), signal.SIGSEGV)
        lines = awaited_error_lines(server)
        assert "exit signal Segmentation fault" in lines[0], lines
        server.require_alive()
        (found,) = fetch(bed, {"name": "a.test", "get": ["/"]})
        assert found["responses"][0]["status"] == 200


def it_is_first_stopped_gracefully(bed: InsideBed) -> None:
    """It has 30 ms for that, which on a busy machine it may sleep through: once is enough."""
    for _ in range(20):
        with served(bed):
            pass
        if "shutting down gracefully" in (bed.memory / "server" / "apache" / "error.log").read_text():
            return
    raise AssertionError("it was never stopped gracefully")


def a_denied_file_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed, server_directives=['<Location "/pic.png">', "Require all denied", "</Location>"]) as server:
        (found,) = fetch(bed, {"name": "a.test", "get": ["/pic.png"]})
        assert found["responses"][0]["status"] == 403
        assert "AH01630" in server.error_lines()[0]


def a_directive_that_apache_does_not_take_is_named(bed: InsideBed) -> None:
    for directive in ("Tiemout 10", "UseCanonicalName Perhaps", "Header set X-Y z", '<Location "/x">', "</Location>"):
        named = rf"(?s)server_directives.*{re.escape(directive)}"
        with pytest.raises(InputError, match=named), served(bed, server_directives=["HostnameLookups On", directive]):
            pass
        arm = Arm.parse("arm", {"server_directives": [directive]})
        with pytest.raises(InputError, match=named):
            check_configuration(bed.server, assigned(bed, arm))
    with served(bed, server_directives=["LoadModule headers_module ${MODULES}/mod_headers.so", "Header set X-Y z"]):
        (found,) = fetch(bed, {"name": "a.test", "get": ["/"]})
        assert found["responses"][0]["headers"]["X-Y"] == "z"


def a_port_in_use_is_named(bed: InsideBed) -> None:
    with served(bed), pytest.raises(ServerError, match="something else answers at port 80"):
        RunningServer.start(bed.server, assigned(bed, plain(bed), folder="other"))
    silent = "import socket, time; s = socket.create_server(('', 80)); print(1, flush=True); time.sleep(60)"
    seen, said = os.pipe()
    process = bed.server.spawn(Command([*bed.server.python, "-c", silent]), Stdio(None, said, None))
    os.read(seen, 1)
    with pytest.raises(ServerError, match="port is in use"):
        RunningServer.start(bed.server, assigned(bed, plain(bed)))
    process.signal(signal.SIGKILL)
    process.wait(60)


def one_connection_may_be_for_several_hosts(bed: InsideBed) -> None:
    """As browsers do with HTTP/2 where one certificate has the names: not 421 (Misdirected Request)."""
    for protocol in ("http/1.1", "h2"):
        with served(bed, tls="1.3", protocol=protocol):
            (found,) = fetch(bed, {"name": "a.test", "host": "b.test", "tls": ANY_TLS, "get": ["/same.css"]})
            assert found["responses"][0]["status"] == 200


def pids() -> set[int]:
    """Of all web servers here: this process namespace is the bed's own."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and re.search(
                rb"httpd[.]conf|nginx|lighttpd[.]conf|caddy[.]json|h2o[.]conf|webfsd", (entry / "cmdline").read_bytes()
            ):
                found.add(int(entry.name))
    return found


def assert_all_gone() -> None:
    """What was killed may need a moment on a busy machine."""
    wait_until(lambda: not pids(), what=pids)


def nothing_is_left(bed: InsideBed) -> None:
    arms: list[dict[str, Any]] = [
        {},
        *([{"tls": "1.3", "protocol": "h2"}] if SERVERS[name_of(bed)].speaks_tls else []),
        *([{"mpm": "prefork"}] if name_of(bed) == "apache" else []),
    ]
    for settings in arms:
        with served(bed, **settings):
            assert pids()
        assert_all_gone()


def await_end(server: RunningServer) -> None:
    """Raises its error."""
    wait_until(server.require_alive)


def a_crash_is_told_and_cleared_away(bed: InsideBed) -> None:
    with served(bed) as server:
        server.require_alive()
        os.kill(min(pids()), signal.SIGKILL)  # the parent alone: its children live on
        with pytest.raises(ServerError, match="signal 9"):
            await_end(server)
    assert_all_gone()
    with served(bed):
        pass


def many_starts_are_quick(bed: InsideBed) -> None:
    """No limit: the figures are for people (docs/reference/server.md)."""
    more = [{"mpm": "prefork"}] if name_of(bed) == "apache" else []
    arms: list[dict[str, Any]] = [{}, {"tls": "1.3"}, {"tls": "1.3", "protocol": "h2"}, *more]
    for settings in arms:
        starts, stops = [], []
        for _ in range(5):
            began = time.monotonic()
            with served(bed, **settings):
                ready = time.monotonic()
            stops.append(time.monotonic() - ready)
            starts.append(ready - began)
        medians = [sorted(values)[2] * 1000 for values in (starts, stops)]
        print(settings, "start {:.0f} ms, stop {:.0f} ms".format(*medians))
    assert_all_gone()


def a_worker_of_nginx_that_dies_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed, worker_processes=1) as server:
        os.kill(max(pids()), signal.SIGSEGV)
        lines = awaited_error_lines(server)
        assert "exited on signal 11" in lines[0], lines
        server.require_alive()


def a_file_that_nginx_cannot_open_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed) as server:
        host = Path(server.content) / "hosts/a.test"
        loop = host / "loop.png"
        loop.symlink_to(loop)
        try:
            (found,) = fetch(bed, {"name": "a.test", "get": ["/loop.png"]})
        finally:
            loop.unlink()
        assert found["responses"][0]["status"] == 404
        assert "Too many levels of symbolic links" in server.error_lines()[0]


RECORDED: dict[str, tuple[int, Headers, bytes]] = {
    "/": (200, (("Content-Type", "text/html; charset=utf-8"), ("X-One", 'a "b" c'), ("Set-Cookie", "a=1"),
                ("Set-Cookie", "b=2"), ("ETag", '"e"'), ("Last-Modified", "Tue, 01 Jan 2019 00:00:00 GMT")), b"<p>"),
    "/packed.css": (200, (("Content-Type", "text/css"), ("Content-Encoding", "gzip")), gzip.compress(b"p {}", mtime=0)),
    "/lost": (404, (("Content-Type", "text/plain"), ("X-Two", "two")), b"it is lost"),
    "/broken?x=1": (502, (("Content-Type", "text/html"),), b"broken"),
    "/moved": (302, (("Location", "http://a.test/"), ("Set-Cookie", "c=3")), b"elsewhere"),
    "/asked": (303, (("Location", "/lost"),), b""),
    "/either": (300, (("Content-Type", "text/html"), ("Location", "/")), b"choose"),
    "/nothing": (204, (("X-Three", "three"),), b""),
}  # fmt: skip


def recorded_site(bed: InsideBed) -> Site:
    content = bed.memory / "recorded"
    content.mkdir(exist_ok=True)
    objects = []
    for path, (status, headers, body) in RECORDED.items():
        digest = hashlib.sha256(body).hexdigest()
        (content / digest).write_bytes(body)
        mime = next((value for name, value in headers if name == "Content-Type"), "text/plain").partition(";")[0]
        objects.append(SiteObject("a.test", path, len(body), mime, digest, status=status, headers=headers))
    rewritten = b"p { color: red }" * 100
    digest = hashlib.sha256(rewritten).hexdigest()
    (content / digest).write_bytes(rewritten)
    objects.append(SiteObject("a.test", "/min.css", len(rewritten), "text/css", digest, compressed="gzip"))
    return Site("recorded", "A recorded site", "a.test", "/", tuple(objects), content)


def recorded_answers_come_as_they_were(bed: InsideBed) -> None:
    """Those that both servers can give."""
    site(bed)  # makes the authority
    headers = {"Accept-Encoding": "gzip"}
    with served(bed, recorded_site(bed), keepalive_requests=endless(bed), marked=False) as server:
        (found,) = fetch(bed, {"name": "a.test", "get": [*RECORDED, "/min.css"], "headers": headers})
        *answers, small = found["responses"]
        for answer, (status, wanted, body) in zip(answers, RECORDED.values(), strict=True):
            cookies = [value for name, value in wanted if name == "Set-Cookie"]
            assert (answer["status"], answer["cookies"], answer["bytes"]) == (status, cookies, len(body)), answer
            recorded = {name.lower(): value for name, value in wanted if name != "Set-Cookie"}
            assert recorded.items() <= {key.lower(): value for key, value in answer["headers"].items()}.items(), answer
            once = [name for name in answer["names"] if name != "set-cookie"]
            assert len(set(once)) == len(once), answer
        assert (small["encoding"], small["type"]) == ("gzip", "text/css")
        assert small["sha256"] == recorded_site(bed).objects[-1].sha256
        (missing,) = fetch(bed, {"name": "a.test", "get": ["/gone", "/lanelab-mapped/x.type0"]})
        assert [one["status"] for one in missing["responses"]] == [404, 404]
        assert server.error_lines() == []


def three_hundred_origins_have_an_address_each(bed: InsideBed) -> None:
    what = site(bed)
    names = [f"h{number}.test" for number in range(300)]
    objects = tuple(replace(what.objects[0], host=name) for name in names)
    many = replace(what, name="many", entry_host=names[0], objects=objects)
    addresses = origin_addresses(many.hosts, "per-origin")
    plans = [{"name": name, "address": address, "get": ["/"]} for name, address in addresses.items()]
    with served(bed, many) as server:
        for found, each in zip(fetch(bed, *plans), objects, strict=True):
            assert found["responses"][0]["sha256"] == each.sha256, found
        known = {":80"} if name_of(bed) in NO_ADDRESS else {f"{address}:80" for address in addresses.values()}
        assert {line.local for line in access(server, 300)} == known
    assert "10.10.17.44" in addresses.values()


def names_that_differ_in_case_alone_are_told_apart(bed: InsideBed) -> None:
    with served(bed):
        (found,) = fetch(bed, {"name": "a.test", "get": ["/v?a=x", "/v?a=X", "/V?a=x"]})
        assert [one["sha256"] for one in found["responses"][:2]] == [
            hashlib.sha256(FILES["a.test", path, "text/css"]).hexdigest() for path in ("/v?a=x", "/v?a=X")
        ]
        assert found["responses"][2]["status"] == 404


def a_directive_that_nginx_does_not_take_is_named(bed: InsideBed) -> None:
    for directive in ("sendfiel on;", "sendfile perhaps;", "proxy_pass http://x;", "sendfile on off;"):
        arm = Arm.parse("arm", {"server": "nginx", "server_directives": ["server_tokens off;", directive]})
        with pytest.raises(InputError, match=rf"(?s)server_directives.*{re.escape(directive)}"):
            check_configuration(bed.server, assigned(bed, arm))
    with served(bed, server_directives=["add_header X-Y z;"]):
        (found,) = fetch(bed, {"name": "a.test", "get": ["/"]})
        assert found["responses"][0]["headers"]["X-Y"] == "z"


BOTH = (
    every_object_comes_as_the_manifest_says,
    responses_are_the_same_every_time,
    what_the_site_does_not_have_is_404,
    keepalive_is_as_asked,
    tls_is_exactly_the_one_asked_for,
    resumption_is_as_asked,
    the_certificate_is_the_leaf,
    http2_is_negotiated,
    compression_is_as_asked,
    each_origin_has_its_address,
    three_hundred_origins_have_an_address_each,
    recorded_answers_come_as_they_were,
    names_that_differ_in_case_alone_are_told_apart,
    one_connection_may_be_for_several_hosts,
    a_port_in_use_is_named,
    nothing_is_left,
    a_crash_is_told_and_cleared_away,
)
APACHE = (
    every_mpm_serves,
    bad_lines_in_its_error_log_are_seen,
    a_child_that_dies_is_an_unexpected_line,
    it_is_first_stopped_gracefully,
    a_denied_file_is_an_unexpected_line,
    a_directive_that_apache_does_not_take_is_named,
)
NGINX = (
    a_worker_of_nginx_that_dies_is_an_unexpected_line,
    a_file_that_nginx_cannot_open_is_an_unexpected_line,
    a_directive_that_nginx_does_not_take_is_named,
)


def with_server(name: str, check: Check) -> Check:
    """The same check, of this server."""

    def run(bed: InsideBed) -> None:
        bed.kept["server"] = name
        check(bed)

    run.__name__ = f"{name}: {check.__name__}"
    return run


OTHERS: dict[str, tuple[Check, ...]] = {"lighttpd": (), "caddy": (), "h2o": ()}
CHECKS = {
    "apache": [with_server("apache", check) for check in (*BOTH, *APACHE, many_starts_are_quick)],
    "nginx": [with_server("nginx", check) for check in (*BOTH, *NGINX, many_starts_are_quick)],
}
CHECKS |= {
    name: [with_server(name, check) for check in (*BOTH, *more, many_starts_are_quick)] for name, more in OTHERS.items()
}

PROGRAMS = {"apache": ("apache2", "httpd"), "nginx": ("nginx",)} | {name: (name,) for name in OTHERS}
HERE = [name for name, programs in PROGRAMS.items() if any(map(find, programs))]

if __name__ == "__main__":
    main(*(check for name in HERE for check in CHECKS[name]))
