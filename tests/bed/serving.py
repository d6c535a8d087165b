"""What checks of the real web servers in a bed are made with: they are in serving_answers.py and serving_life.py. webfs
can do less, and has checks of its own (webfs.py)."""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.certificates import Authority, Leaf
from lanelab.driver.arm.servers.life import RunningServer
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import Assignment
from lanelab.driver.base.programs.building.apache_module import module
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.units import Duration
from lanelab.driver.record.evidence.server import LoggedRequest, ServedRequest
from lanelab.driver.site.site import Site, SiteObject
from tests.kit.inside import Check, InsideBed
from tests.kit.server_arms import compressed
from tests.kit.wait import wait_until

FETCH = str(Path(__file__).parent / "fetch.py")


ADDRESS = "10.10.2.2"


NO_DELAYS: Mapping[str, Duration] = {}


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
    bed: InsideBed,
    /,
    what: Site | None = None,
    *,
    marked: bool = True,
    delays: Mapping[str, Duration] = NO_DELAYS,
    **settings: Any,
) -> Iterator[RunningServer]:
    """`marked`: with the marks of the arm's compression, as preparing a site gives them."""
    arm = Arm.parse("arm", {"server": bed.kept.get("server", "apache"), **settings})
    what = what or site(bed)
    what = compressed(what, arm) if marked else what
    leaf = bed.kept["authority"].leaf(what.hosts, arm.tls_certificate) if arm.tls != "off" else None
    server = RunningServer.start(bed.server, replace(assigned(bed, arm, what, leaf=leaf), delays=delays))
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


def access(server: RunningServer, count: int) -> list[ServedRequest]:
    return awaited_lines(server, ServedRequest, count)


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


def await_end(server: RunningServer) -> None:
    """Raises its error."""
    wait_until(server.require_alive)


OTHERS: dict[str, tuple[Check, ...]] = {"lighttpd": (), "caddy": (), "h2o": ()}


PROGRAMS = {"apache": ("apache2", "httpd"), "nginx": ("nginx",)} | {name: (name,) for name in OTHERS}


HERE = [name for name, programs in PROGRAMS.items() if any(map(find, programs))]
