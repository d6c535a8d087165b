"""Checks of the real proxies in a bed, with nginx or Apache behind them; test_proxies.py runs them."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.server import NOBODY
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.run.built_programs import of_servers
from lanelab.driver.trial.serving import Served, Serving
from lanelab.driver.trial.spec import TrialSpec
from tests.bed.serving import fetch, site
from tests.kit.inside import Check, InsideBed, main
from tests.kit.wait import wait_until

HAVE = {"nginx": ("nginx",), "apache": ("apache2", "httpd"), "haproxy": ("haproxy",), "gateway": ()}
HERE = [name for name, programs in HAVE.items() if not programs or any(map(find, programs))]
TLS13 = ["TLSv1_3", "TLSv1_3"]
# What is in front, what it speaks to the server behind, and which server that is.
WAYS = (
    ("apache", "http/1.1", "nginx"),
    ("apache", "h2", "apache"),
    ("nginx", "http/1.1", "nginx"),
    ("haproxy", "http/1.1", "nginx"),
    ("haproxy", "h2", "nginx"),
    ("gateway", "http/1.1", "nginx"),
    ("gateway", "h2", "nginx"),
    ("gateway", "spdy/3", "apache"),
    ("gateway", "spdy/3.1", "apache"),
)


@contextlib.contextmanager
def proxied(bed: InsideBed, **settings: Any) -> Iterator[Served]:
    what = site(bed)
    arm = Arm.parse("arm", {"proxy": bed.kept["proxy"], "proxy_protocol": bed.kept["spoken"], **settings})
    spec = TrialSpec(what, arm, 60, {}, bed.folder, Path(bed.memory / "authority"), built=of_servers([arm]))
    served = Serving(bed.client, bed.server, bed.memory / "proxied").start(spec)
    try:
        yield served
    finally:
        served.stop()


def asked(served: Served) -> list[ServedRequest]:
    """What the server behind was asked for since the last call, but for whether it is ready."""
    lines = (line for line in served.server.requests() if isinstance(line, ServedRequest))
    return [line for line in lines if line.host != NOBODY]


def settled(served: Served, count: int) -> int:
    """How many connections the proxy made to the server behind it, when that has logged so many requests."""
    lines: list[ServedRequest] = []

    def all_came() -> bool:
        lines.extend(asked(served))
        return len(lines) >= count

    wait_until(all_came, what=lambda: lines)
    assert len(lines) == count, lines
    return len({line.remote for line in lines})


def every_object_comes_through_it(bed: InsideBed) -> None:
    what = site(bed)
    with proxied(bed, server=bed.kept["behind"]) as served:
        assert served.proxy
        assert set(served.folders) == {"proxy", "back_end"}
        served.forget()
        for host in what.hosts:
            mine = [each for each in what.objects if each.host == host]
            (found,) = fetch(bed, {"name": host, "get": [each.path for each in mine]})
            assert "error" not in found, found
            for each, response in zip(mine, found["responses"], strict=True):
                seen = (response["status"], response["type"], response["bytes"], response["sha256"])
                assert seen == (200, each.mime, each.size, each.sha256), response
        connections = settled(served, len(what.objects))
        if bed.kept["spoken"] in ("h2", "spdy/3", "spdy/3.1") and bed.kept["proxy"] == "gateway":
            assert connections == 1
        assert served.proxy.error_lines() == []
        assert served.server.error_lines() == []
        served.require_alive()
    assert served.proxy.files()["access.log"].count(b"\n") >= len(what.objects)  # whole when it has ended


def clients_may_speak_tls(bed: InsideBed) -> None:
    with proxied(bed, server=bed.kept["behind"], tls="1.3", protocol="h2") as served:
        (found,) = fetch(bed, {"name": "a.test", "tls": TLS13, "alpn": ["http/1.1"], "get": ["/style.css", "/pic.png"]})
        assert "error" not in found, found
        assert [response["status"] for response in found["responses"]] == [200, 200]
        (offered,) = fetch(bed, {"name": "a.test", "tls": TLS13, "alpn": ["h2"], "get": []})
        assert offered["alpn"] == "h2", offered
        assert served.proxy
        assert served.proxy.error_lines() == []


def nothing_of_it_is_left(bed: InsideBed) -> None:
    with proxied(bed, server=bed.kept["behind"]) as served:
        folders = list(served.folders.values())
    for folder in folders:
        look = f'for each in /proc/[0-9]*; do readlink "$each/cwd"; done | grep -cxF {folder}'
        assert bed.server.run(["sh", "-c", look], check=False).stdout.strip() == "0"


def a_log_is_whole_although_its_program_ends_late(bed: InsideBed) -> None:
    """It gets no processor while it is told to end."""
    what = site(bed)
    mine = [each.path for each in what.objects if each.host == what.hosts[0]]
    with proxied(bed, server=bed.kept["behind"]) as served:
        assert served.proxy
        where = f'[ "$(readlink "$p/cwd")" = {served.proxy.folder} ] && echo "${{p#/proc/}}"'
        pids = bed.server.run(["sh", "-c", f"for p in /proc/[0-9]*; do {where}; done; true"]).stdout.split()
        assert pids
        fetch(bed, {"name": what.hosts[0], "get": mine})
        numbers = " ".join(pids)
        pause = f"kill -STOP {numbers}; (sleep 0.4; kill -CONT {numbers}) >&- 2>&- &"
        bed.server.run(["sh", "-c", pause])
    assert served.proxy.files()["access.log"].count(b"\n") >= len(mine)


def on_way(proxy: str, spoken: str, behind: Any, check: Check) -> Check:
    """The same check, of this proxy."""

    def run(bed: InsideBed) -> None:
        bed.kept |= {"proxy": proxy, "spoken": spoken, "behind": behind}
        check(bed)

    run.__name__ = (
        f"{proxy}, {spoken} to {behind if isinstance(behind, str) else ' '.join(behind.values())}: {check.__name__}"
    )
    return run


GATEWAY = ("gateway", "h2", "nginx")  # which holds lines of its log for a while
OF_EACH = (every_object_comes_through_it, clients_may_speak_tls, nothing_of_it_is_left)
CHECKS = {way: [on_way(*way, check) for check in OF_EACH] for way in WAYS}
CHECKS[GATEWAY].append(on_way(*GATEWAY, a_log_is_whole_although_its_program_ends_late))


def possible(way: tuple[str, str, str]) -> bool:
    return way[0] in HERE and way[2] in HERE


if __name__ == "__main__":
    main(*(check for way, checks in CHECKS.items() if possible(way) for check in checks))
