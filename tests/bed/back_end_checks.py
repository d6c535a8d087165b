"""Checks of Tomcat and Jetty in a bed; test_back_ends.py runs them."""

import contextlib
import hashlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.arm.servers.life import RunningServer, check_configuration
from lanelab.driver.arm.servers.server import Assignment
from lanelab.driver.base.errors import ServerError
from lanelab.driver.run.built_programs import of_servers
from lanelab.driver.site.site import Site, SiteObject
from tests.kit.inside import Check, InsideBed, main
from tests.kit.wait import wait_until

from .serving import ANY_TLS, TLS12, TLS13, await_end, fetch, fetch_whole, site

TITLES = {
    "tomcat": ("Tomcat/10.1", {"server": "tomcat"}),
    "jetty-12": ("Jetty(12.0", {"server": "jetty"}),
    "jetty-9.2": ("Jetty(9.2.30", {"server": "jetty", "jetty_version": "9.2"}),
    "jetty-8.1": ("Jetty(8.1.13", {"server": "jetty", "jetty_version": "8.1"}),
}
SMALL = {"heap": "128MB", "threads": 40}


def arm_of(bed: InsideBed, **settings: Any) -> Arm:
    return Arm.parse("arm", {**TITLES[bed.kept["back_end"]][1], **SMALL, **settings})


@contextlib.contextmanager
def served(bed: InsideBed, what: Site | None = None, **settings: Any) -> Iterator[RunningServer]:
    arm, what = arm_of(bed, **settings), what or site(bed)
    bed.kept.setdefault("authority", Authority.make(bed.memory / "authority"))
    leaf = bed.kept["authority"].leaf(what.hosts, arm.tls_certificate) if arm.tls != "off" else None
    assignment = Assignment(arm, what, bed.memory / "server", leaf, of_servers([arm]))
    server = RunningServer.start(bed.server, assignment)
    try:
        yield server
    finally:
        server.stop()
    wait_until(lambda: not javas(), what=javas)


def javas() -> set[int]:
    """Also those of the bed's own."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and b"lanelab.Main" in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


def every_object_comes_as_the_manifest_says(bed: InsideBed) -> None:
    what = site(bed)
    with served(bed, keepalive_requests=0) as server:
        for response in fetch_whole(bed, what):
            assert response["headers"]["Last-Modified"] == "Wed, 01 Jan 2020 00:00:00 GMT"
        (missing,) = fetch(bed, {"name": "a.test", "get": ["/nothing", "/get.php", "/lanelab/no", "/V?a=x"]})
        assert [one["status"] for one in missing["responses"]] == [404] * 4
        (elsewhere,) = fetch(bed, {"name": "elsewhere.test", "get": ["/style.css"]})
        assert elsewhere["responses"][0]["status"] == 404
        assert server.error_lines() == []
        assert server.version.startswith(TITLES[bed.kept["back_end"]][0]), server.version
        logged = server.files()["access.log"].decode().splitlines()
        assert len(logged) == len(what.objects) + 5, logged  # without lanelab's own question
        assert '"path":"/get.php?id=1&x=a/b"' in "".join(logged)
        arm = arm_of(bed)
        check_configuration(bed.server, Assignment(arm, what, bed.memory / "check", None, of_servers([arm])))


def bodies_can_be_large_and_slow(bed: InsideBed) -> None:
    with served(bed):
        paths = ["/lanelab/stream?bytes=3000001&chunk=1000", "/lanelab/slow?lines=3&every_ms=20"]
        wrong = ["/lanelab/stream", "/lanelab/slow?lines=0"]  # Tomcat ends the connection after each
        plans = [{"name": "anything.test", "get": asked} for asked in (paths, *([each] for each in wrong))]
        found, *refused = fetch(bed, *plans)
        large, slow = found["responses"]
        assert large["sha256"] == hashlib.sha256(b"x" * 3000001).hexdigest()
        text = b"line 1 of 3\nline 2 of 3\nline 3 of 3\n"
        assert (slow["status"], slow["sha256"]) == (200, hashlib.sha256(text).hexdigest())
        assert [one["responses"][0]["status"] for one in refused] == [400, 400]


def keepalive_is_as_asked(bed: InsideBed) -> None:
    paths = ["/", "/style.css", "/pic.png"]
    with served(bed):
        (found,) = fetch(bed, {"name": "a.test", "get": paths})
        assert [response["closed"] for response in found["responses"]] == [False] * 3
    with served(bed, keepalive=False):
        (found,) = fetch(bed, {"name": "a.test", "get": paths})
        assert [response["closed"] for response in found["responses"]] == [True]
    with served(bed, keepalive_requests=2):
        (found,) = fetch(bed, {"name": "a.test", "get": paths})
        assert [response["closed"] for response in found["responses"]] == [False, False, True]


def tls_is_exactly_the_one_asked_for(bed: InsideBed) -> None:
    site(bed)
    plans = [{"name": "a.test", "tls": version, "get": ["/"]} for version in (TLS12, TLS13)]
    for version, good, kind in (("1.2", 0, "rsa-2048"), ("1.3", 1, "ecdsa-p256")):
        with served(bed, tls=version, tls_certificate=kind) as server:
            found = fetch(bed, *plans)
            assert found[good]["responses"][0]["status"] == 200
            assert found[good]["tls"] == f"TLSv{version}"
            assert "error" in found[1 - good]
            assert server.error_lines() == []
            assert server.version


def http2_is_negotiated(bed: InsideBed) -> None:
    both = {"name": "a.test", "tls": ANY_TLS, "alpn": ["h2", "http/1.1"]}
    with served(bed, tls="1.3", protocol="h2"):
        assert fetch(bed, both)[0]["alpn"] == "h2"
    with served(bed, tls="1.3"):
        assert fetch(bed, both)[0]["alpn"] != "h2"


def recorded_answers_come_as_they_were(bed: InsideBed) -> None:
    body = b"it is lost"
    digest = hashlib.sha256(body).hexdigest()
    content = bed.memory / "recorded"
    content.mkdir(exist_ok=True)
    (content / digest).write_bytes(body)
    wanted = (("Content-Type", "text/plain"), ("X-Two", "two"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
    lost = SiteObject("a.test", "/lost", len(body), "text/plain", digest, status=404, headers=wanted)
    moved = (("Location", "/lost"),)
    gone = SiteObject("a.test", "/moved", len(body), "text/plain", digest, status=302, headers=moved)
    with served(bed, Site("recorded", "A recorded site", "a.test", "/", (lost, gone), content)):
        (found,) = fetch(bed, {"name": "a.test", "get": ["/lost", "/moved"]})
        first, second = found["responses"]
        assert (first["status"], first["headers"]["X-Two"], first["cookies"]) == (404, "two", ["a=1", "b=2"])
        assert (second["status"], second["headers"]["Location"], second["sha256"]) == (302, "/lost", digest)


def a_crash_is_told_and_cleared_away(bed: InsideBed) -> None:
    with served(bed) as server:
        server.require_alive()
        (pid,) = javas()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ServerError, match="signal 9"):
            await_end(server)


def starts_are_told(bed: InsideBed) -> None:
    """No limit: the figures are for people (docs/reference/back-ends.md)."""
    starts, stops = [], []
    for _ in range(3):
        began = time.monotonic()
        with served(bed):
            ready = time.monotonic()
        stops.append(time.monotonic() - ready)
        starts.append(ready - began)
    print(bed.kept["back_end"], f"start {sorted(starts)[1] * 1000:.0f} ms, stop {sorted(stops)[1] * 1000:.0f} ms")


ALL = (
    every_object_comes_as_the_manifest_says,
    bodies_can_be_large_and_slow,
    keepalive_is_as_asked,
    recorded_answers_come_as_they_were,
    a_crash_is_told_and_cleared_away,
    starts_are_told,
)
WITH_TLS = (tls_is_exactly_the_one_asked_for, http2_is_negotiated)


def with_back_end(name: str, check: Check) -> Check:
    def run(bed: InsideBed) -> None:
        bed.kept["back_end"] = name
        check(bed)

    run.__name__ = f"{name}: {check.__name__}"
    return run


CHECKS = [
    with_back_end(name, check)
    for name in TITLES
    for check in (*ALL, *(WITH_TLS if name in ("tomcat", "jetty-12") else ()))
]

if __name__ == "__main__":
    main(*CHECKS)
