"""Checks of what a web server of a bed answers."""

import gzip
import hashlib
import threading
from dataclasses import replace
from typing import Any

from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.site.site import Headers, Site, SiteObject
from tests.bed.serving import (
    ADDRESS,
    ANY_TLS,
    FILES,
    NO_ADDRESS,
    NO_BYTES,
    REDIRECTING,
    TLS12,
    TLS13,
    VERSIONS,
    access,
    endless,
    fetch,
    fetch_whole,
    name_of,
    served,
    site,
)
from tests.kit.inside import InsideBed


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


def one_connection_may_be_for_several_hosts(bed: InsideBed) -> None:
    """As browsers do with HTTP/2 where one certificate has the names: not 421 (Misdirected Request)."""
    for protocol in ("http/1.1", "h2"):
        with served(bed, tls="1.3", protocol=protocol):
            (found,) = fetch(bed, {"name": "a.test", "host": "b.test", "tls": ANY_TLS, "get": ["/same.css"]})
            assert found["responses"][0]["status"] == 200


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


def answers_wait_and_keep_no_other_waiting(bed: InsideBed) -> None:
    """Whatever the answer is made by: a file with its name, a map, an error page, or a status alone."""
    site(bed)  # makes the authority
    what = recorded_site(bed)
    wait = Duration.parse("700ms")
    quick, *slow = [each for each in what.objects if each.host == "a.test"]
    assert {each.status for each in slow} >= {200, 204, 404}
    with served(bed, what, marked=False, worker_processes=1, delays={each.url: wait for each in slow}) as server:
        plans = [{"name": "a.test", "get": [each.path]} for each in slow]
        threads = [threading.Thread(target=fetch, args=(bed, plan)) for plan in plans]
        for thread in threads:
            thread.start()
        fetch(bed, {"name": "a.test", "get": [quick.path]})
        for thread in threads:
            thread.join()
        lines = {line.path: line for line in access(server, len(what.objects))}
        assert server.error_lines() == []
    for each in slow:
        line = lines[each.path]
        # nginx cuts both ends of a request to whole milliseconds, so 700 ms may be logged as 699.
        assert (line.status, 699_000 <= line.duration_us < 900_000) == (each.status, True), line
    assert lines[quick.path].duration_us < 350_000


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
