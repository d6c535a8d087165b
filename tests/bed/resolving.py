"""Checks of the real resolver in a bed; test_resolving.py runs them."""

import json
from pathlib import Path

import pytest

from lanelab.driver.arm.servers.resolver import Resolver, use_resolver
from lanelab.driver.base.errors import NodeError, ServerError
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.server import Query
from tests.kit.inside import InsideBed, main

HOSTS = ("www.site.test", "img.site.test")
# As a program of the client's does it: through the C library.
LOOK_UP = """
import json, socket, sys, time
found = []
for name in sys.argv[1:]:
    began = time.monotonic()
    try:
        addresses = sorted({entry[4][0] for entry in socket.getaddrinfo(name, 80, socket.AF_INET, socket.SOCK_STREAM)})
        found.append([addresses, None, time.monotonic() - began])
    except socket.gaierror as error:
        found.append([[], error.args[0] == socket.EAI_NONAME, time.monotonic() - began])
print(json.dumps(found))
"""
# Straight to the server, over UDP: [response code, answers] for a name and a number of a type.
ASK = """
import json, socket, struct, sys
found, SERVER = [], ("10.10.2.2", 53)
for number in sys.argv[2:]:
    labels = b"".join(bytes([len(word)]) + word.encode() for word in sys.argv[1].split(".")) + b"\\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(5)
        line.sendto(struct.pack(">6H", 7, 256, 1, 0, 0, 0) + labels + struct.pack(">2H", int(number), 1), SERVER)
        _, flags, _, answers, _, _ = struct.unpack(">6H", line.recv(4096)[:12])
    found.append([flags & 15, answers])
print(json.dumps(found))
"""
A, AAAA, HTTPS = "1", "28", "65"
NOERROR, NXDOMAIN = 0, 3


def resolving(bed: InsideBed, how: str = "per-origin") -> Resolver:
    return Resolver.start(bed.server, origin_addresses(HOSTS, how), bed.memory / "server")


def look_up(bed: InsideBed, *names: str) -> list[tuple[list[str], bool | None, float]]:
    found: list[tuple[list[str], bool | None, float]] = json.loads(
        bed.client.run([*bed.client.python, "-c", LOOK_UP, *names]).stdout
    )
    return found


def names_have_their_addresses_and_others_do_not_exist(bed: InsideBed) -> None:
    use_resolver(bed.client)
    resolver = resolving(bed)
    try:
        found = look_up(bed, *HOSTS, "elsewhere.test", "www.google.com")
        assert [addresses for addresses, _, _ in found] == [["10.10.16.1"], ["10.10.16.2"], [], []], found
        assert [gone for _, gone, _ in found] == [None, None, True, True], found
        names = [*HOSTS, "elsewhere.test", "www.google.com"]
        assert resolver.queries() == tuple(Query(name, "A") for name in names)
        assert resolver.queries() == ()
    finally:
        resolver.stop()
    resolver = resolving(bed, "shared")
    try:
        assert [addresses for addresses, _, _ in look_up(bed, *HOSTS)] == [["10.10.2.2"], ["10.10.2.2"]]
    finally:
        resolver.stop()
    assert [gone for _, gone, _ in look_up(bed, HOSTS[0])] == [False]  # nobody answers any more


def other_records_of_a_name_are_empty_not_missing(bed: InsideBed) -> None:
    resolver = resolving(bed)
    try:
        said = {
            name: json.loads(bed.client.run([*bed.client.python, "-c", ASK, name, A, AAAA, HTTPS]).stdout)
            for name in (HOSTS[0], "elsewhere.test", "site.test")
        }
        assert said[HOSTS[0]] == [[NOERROR, 1], [NOERROR, 0], [NOERROR, 0]], said
        assert said["elsewhere.test"] == [[NXDOMAIN, 0]] * 3, said
        assert [query.type for query in resolver.queries()][:3] == ["A", "AAAA", "HTTPS"]
    finally:
        resolver.stop()
    resolver = Resolver.start(bed.server, origin_addresses(HOSTS, "shared"), bed.memory / "server", ("h3", "h2"))
    try:
        said = json.loads(bed.client.run([*bed.client.python, "-c", ASK, HOSTS[1], A, AAAA, HTTPS]).stdout)
        assert said == [[NOERROR, 1], [NOERROR, 0], [NOERROR, 1]], said
    finally:
        resolver.stop()


def a_look_up_costs_a_round_trip(bed: InsideBed) -> None:
    bed.link.set(Link.parse({"rtt": "200ms"}))
    use_resolver(bed.client)
    resolver = resolving(bed)
    try:
        times = [took for _, _, took in look_up(bed, *HOSTS)]
        assert all(0.19 < took < 2 for took in times), times
    finally:
        resolver.stop()
        bed.link.set(Link.parse({}))


def only_the_client_has_that_file(bed: InsideBed) -> None:
    use_resolver(bed.client)
    use_resolver(bed.client)
    assert bed.client.run(["cat", "/etc/resolv.conf"]).stdout == "nameserver 10.10.2.2\n"
    own = Path("/etc/resolv.conf")
    if own.exists():
        assert bed.server.run(["cat", "/etc/resolv.conf"]).stdout == own.read_text()
    bed.client.cover("/etc/resolv.conf", "")
    assert bed.client.run(["cat", "/etc/resolv.conf"]).stdout == ""
    dangling = bed.memory / "resolv.conf"  # as /etc/resolv.conf is where systemd-resolved has it, and /run is hidden
    dangling.symlink_to("/run/resolve/stub-resolv.conf")
    bed.client.cover(str(dangling), "nameserver 192.0.2.1\n")
    assert bed.client.run(["cat", str(dangling)]).stdout == "nameserver 192.0.2.1\n"
    assert dangling.read_text() == ""
    with pytest.raises(NodeError, match="/etc/no-such-file"):
        bed.client.cover("/etc/no-such-file", "text")
    assert not Path("/etc/no-such-file").exists()


def a_second_one_is_refused(bed: InsideBed) -> None:
    resolver = resolving(bed)
    try:
        with pytest.raises(ServerError, match="port 53"):
            resolving(bed)
    finally:
        resolver.stop()


CHECKS = (
    names_have_their_addresses_and_others_do_not_exist,
    other_records_of_a_name_are_empty_not_missing,
    a_look_up_costs_a_round_trip,
    only_the_client_has_that_file,
    a_second_one_is_refused,
)

if __name__ == "__main__":
    main(*CHECKS)
