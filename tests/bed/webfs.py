"""Checks of webfs in a bed; test_webfs.py runs them."""

import time
from dataclasses import replace

import pytest

from lanelab.driver.arm.servers.life import check_configuration
from lanelab.driver.arm.servers.server import asked_at
from lanelab.driver.base.errors import InputError
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.record.evidence.server import LoggedRequest
from lanelab.driver.site.site import Site
from tests.bed.serving import assigned, awaited_lines, fetch, fetch_whole, plain, served, site
from tests.bed.serving_checks import with_server
from tests.bed.serving_life import a_crash_is_told_and_cleared_away, a_port_in_use_is_named, nothing_is_left
from tests.kit.inside import InsideBed, main

ODD = ("/odd.png", "/api/x", "/get.php?id=1&x=a/b", "/get.php?id=2", "/v?a=x", "/v?a=X")


def whole(bed: InsideBed) -> Site:
    """The odd site, with all that is odd in it."""
    return bed.kept.setdefault("whole", site(bed))  # type: ignore[no-any-return]


def simple(bed: InsideBed) -> Site:
    """What of it webfs can serve, and an object that is asked for with a query."""
    odd = whole(bed)
    objects = [each for each in odd.objects if each.path not in ODD]
    queried = replace(objects[1], path="/style.css?v=1")
    bed.kept["site"] = replace(odd, name="simple", objects=(*objects, queried))
    return site(bed)


def every_object_comes_as_the_manifest_says(bed: InsideBed) -> None:
    what = simple(bed)
    with served(bed) as server:
        for response in fetch_whole(bed, what):
            assert response["headers"]["Last-Modified"] == "Wed, 01 Jan 2020 00:00:00 GMT"
        assert server.error_lines() == []
        assert server.version == "webfs/1.21"


def its_log_says_what_a_connection_has_carried(bed: InsideBed) -> None:
    """Of requests of the node itself nothing, as that which asks whether it is ready."""
    simple(bed)
    paths = ["/", "/pic.png", "/nothing"]
    with served(bed) as server:
        (found,) = fetch(bed, {"name": "a.test", "get": paths})
        # With the end of the connection the last line comes again. A connection without a request has none.
        fetch(bed, {"name": "a.test", "get": []})
        lines = awaited_lines(server, LoggedRequest, 4)
        assert [(line.method, line.path, line.status, line.protocol) for line in lines] == [
            *(("GET", path, status, "HTTP/1.1") for path, status in zip(paths, (200, 200, 404), strict=True)),
            ("GET", "/nothing", 404, "HTTP/1.1"),
        ]
        carried = [line.connection_bytes or 0 for line in lines]
        bodies = [response["bytes"] for response in found["responses"]]
        heads = [carried[0] - bodies[0], carried[1] - carried[0] - bodies[1]]
        assert all(150 < head < 300 for head in heads), (carried, bodies)
        assert carried[3] == carried[2]
        assert {line.client for line in lines} == {"10.10.1.2"}
        time.sleep(0.2)  # for a line too many, which nothing announces
        assert server.requests() == []


def what_the_site_does_not_have_is_refused(bed: InsideBed) -> None:
    simple(bed)
    with served(bed) as server:
        found = fetch(
            bed,
            {"name": "a.test", "get": ["/nothing", "/get.php?id=1", "/hosts/b.test/same.css"]},
            {"name": "elsewhere.test", "get": ["/style.css"]},
            {"name": "b.test", "get": ["/deep", "/deep/"]},
            {"name": "a.test", "get": ["/../b.test/same.css"]},
        )
        statuses = [[response["status"] for response in one["responses"]] for one in found]
        assert statuses == [[404, 404, 404], [404], [302, 403], [403]], statuses
        assert server.error_lines() == []


def connections_are_kept(bed: InsideBed) -> None:
    simple(bed)
    with served(bed):
        (found,) = fetch(bed, {"name": "a.test", "get": ["/"] * 200})
        assert [response["headers"]["Connection"] for response in found["responses"]] == ["Keep-Alive"] * 200


def each_host_has_its_address(bed: InsideBed) -> None:
    what = simple(bed)
    with served(bed):
        addresses = origin_addresses(what.hosts, "per-origin")
        plans = [{"name": host, "address": address, "get": ["/same.css"]} for host, address in addresses.items()]
        assert [one["responses"][0]["status"] for one in fetch(bed, *plans)] == [404, 200]


def a_site_that_it_cannot_serve_whole_is_refused(bed: InsideBed) -> None:
    with pytest.raises(InputError, match=r"server: webfs cannot serve the site odd: GET a\.test/odd\.png: webfs says"):
        check_configuration(bed.server, assigned(bed, plain(bed), whole(bed)))


def a_site_that_it_can_serve_is_not(bed: InsideBed) -> None:
    text = check_configuration(bed.server, assigned(bed, plain(bed), simple(bed)))
    assert "image/png\tpng" in text
    assert f"-p {asked_at(plain(bed))[0][1]} " in text


CHECKS = [
    with_server("webfs", check)
    for check in (
        every_object_comes_as_the_manifest_says,
        its_log_says_what_a_connection_has_carried,
        what_the_site_does_not_have_is_refused,
        connections_are_kept,
        each_host_has_its_address,
        a_site_that_it_cannot_serve_whole_is_refused,
        a_site_that_it_can_serve_is_not,
        a_port_in_use_is_named,
        nothing_is_left,
        a_crash_is_told_and_cleared_away,
    )
]

if __name__ == "__main__":
    main(*CHECKS)
