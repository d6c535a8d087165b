"""webfs: where objects are, what its log says, what an arm with it cannot be. And what every server keeps to."""

from dataclasses import fields as fields_of
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS, other_servers
from lanelab.driver.arm.servers.server import PLACED, judged_by_capture, read_in_capture
from lanelab.driver.arm.servers.webfs import log
from lanelab.driver.arm.servers.webfs import server as installation
from lanelab.driver.arm.servers.webfs.layout import headers_not_sent, lay_out
from lanelab.driver.base.errors import InputError, MissingProgram, RecordError
from lanelab.driver.record.evidence.server import LoggedRequest, ServedRequest
from lanelab.driver.site.site import Site, SiteObject
from tests.kit.server_arms import made

LINE = '10.10.1.2 - - [24/Nov/2026:04:06:27 +0000] "GET /x.png?a="b" HTTP/1.1" 200 100870'
HELP = "".join(f"  {option}  what it is for\n" for option in installation.OPTIONS)


def one(path: str, mime: str, body: str = "aa", **more: Any) -> SiteObject:
    return SiteObject("a.test", path, 1, mime, body * 32, **more)


def site(*objects: SiteObject) -> Site:
    return Site("s", "S", "a.test", "/", objects, made(("a.test", "/", "text/html")).content)


def test_a_line_of_its_log() -> None:
    assert log.requests([LINE, "", LINE.replace("10.10.1.2", "127.0.0.1")]) == [
        LoggedRequest(
            client="10.10.1.2", method="GET", host=None, path='/x.png?a="b"', protocol="HTTP/1.1", status=200,
            body_bytes=None, connection_bytes=100870,
        )
    ]  # fmt: skip


def test_the_end_of_an_unused_connection_is_no_request_and_garbage_is() -> None:
    line = '10.10.1.2 - - [24/Nov/2026:04:06:19 +0000] "-" 400 '
    assert log.requests([f"{line}0"]) == []
    (found,) = log.requests([f"{line}179"])
    assert (found.path, found.protocol, found.status) == (None, None, 400)


@pytest.mark.parametrize(
    "line",
    [
        LINE[:-6], "no line", LINE.replace(" 200 ", " - "), LINE.replace("GET ", "GET"), LINE.replace("[", ""),
        LINE.replace("24/Nov", "Nov"), f"{LINE} x",
    ],
)  # fmt: skip
def test_a_false_line_is_an_error(line: str) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        log.requests([line])


def test_whatever_its_error_log_says_speaks_against_a_trial() -> None:
    assert log.unexpected(["", "mmap: Cannot allocate memory"]) == ["mmap: Cannot allocate memory"]


def test_objects_are_where_their_address_says_without_its_query() -> None:
    found = lay_out(
        site(
            one("/", "text/html"), one("/a.css?v=1", "text/css"), one("/a.css?v=2", "text/css"),
            one("/b%20c.PNG", "image/png"), one("/none", "text/plain"), one("/x//y.png", "image/png"),
        )
    )  # fmt: skip
    assert found.lost == ()
    assert sorted(found.layout.files) == [
        f"hosts/a.test/{name}" for name in ("a.css", "b c.PNG", "index.html", "none", "x/y.png")
    ]
    assert found.types == {"html": "text/html", "css": "text/css", "png": "image/png"}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (one("/a.png", "text/css"), "webfs says image/png of it, not text/css"),
        (one("/a", "text/html"), "webfs says text/plain of it, not text/html"),
        (one("/p.png?x=1", "image/png", "bb"), "webfs answers it as a.test/p.png"),
        (one("/b.png", "image/png", method="POST"), "webfs does not answer POST"),
        (one("/b.png", "image/png", status=302), "with status 200 alone, not 302"),
        (one("/b.png", "image/png", compressed="gzip"), "webfs says nothing of compression"),
        (one("/b.png", "image/png", headers=(("Content-Encoding", "br"),)), "webfs says nothing of compression"),
        (one("/%2e%2e/b.png", "image/png"), "no file can be called so"),
        (one("/%00.png", "image/png"), "no file can be called so"),
        (one(f"/{'b' * 300}.png", "image/png"), "no file can be called so"),
        (one("/p.png/q.png", "image/png"), "others are in a folder of that name"),
    ],
)
def test_what_it_cannot_answer_is_named(wrong: SiteObject, why: str) -> None:
    (lost,) = lay_out(site(one("/", "text/html"), one("/p.png", "image/png"), one("/o.png", "image/png"), wrong)).lost
    assert why in lost


def test_recorded_headers_are_said_to_be_lost() -> None:
    recorded = one("/p.png", "image/png", headers=(("X-A", "b"),))
    assert headers_not_sent(site(one("/", "text/html"), recorded)) == (
        "GET a.test/p.png: its recorded headers are not sent",
    )


@pytest.mark.parametrize(
    ("settings", "key", "says"),
    [
        ({"tls": "1.3"}, "tls", "webfs does not speak TLS here"),
        ({"protocol": "h2"}, "protocol", "webfs does not speak h2"),
        ({"keepalive": False}, "keepalive", "no switch for keepalive"),
        ({"keepalive_requests": 100}, "keepalive_requests", "does not count"),
        ({"keepalive_timeout": "6s"}, "keepalive_timeout", "waits 5s for the next request"),
        ({"max_connections": 501}, "max_connections", "Write 500 or less"),
        ({"server_directives": "x"}, "server_directives", "no configuration"),
        ({"compression": "gzip"}, "compression", "does not compress with gzip"),
        ({"proxy": "nginx"}, "proxy", "does not put webfs behind a proxy"),
    ],
)
def test_what_it_cannot_do_is_an_error(settings: dict[str, Any], key: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        Arm.parse("a", {"server": "webfs", **settings})
    assert caught.value.key == key
    assert says in str(caught.value)


def test_refuses_a_node_without_a_fit_one() -> None:
    assert installation.read_installation(f"/usr/bin/webfsd\n{HELP}", "server").program == "/usr/bin/webfsd"
    with pytest.raises(MissingProgram, match="cannot be found"):
        installation.read_installation("", "server")
    with pytest.raises(MissingProgram, match="has no option -L log"):
        installation.read_installation(f"/usr/bin/webfsd\n{HELP.replace('-L log', '-l log')}", "server")


# --- of all servers


@pytest.mark.parametrize("name", SERVERS)
def test_a_log_without_ports_is_of_a_server_in_clear_that_needs_whole_packets(name: str) -> None:
    """What `untold` names is a fact, and who leaves one of three to the capture leaves all three."""
    server = SERVERS[name]
    for protocol in server.protocols:
        untold = server.untold(protocol)
        assert untold <= {field.name for field in fields_of(ServedRequest)}
        assert untold & PLACED in (set(), PLACED)
        if untold & PLACED:
            assert not server.speaks_tls
            assert judged_by_capture(server, protocol)
        assert read_in_capture(server, protocol) is bool(untold & PLACED)


def test_every_server_that_its_arms_alone_need_is_examined_and_tested() -> None:
    """Those that lanelab builds something for, Apache and the back ends, have purposes of their own."""
    own = {name for name, server in SERVERS.items() if not server.builds(Arm.parse("a", {"server": name}))}
    assert set(other_servers()) == own
