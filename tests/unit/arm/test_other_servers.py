"""lighttpd, Caddy and h2o: their logs, what arms cannot ask of them, and what they are on a node."""

import re
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers import answers
from lanelab.driver.arm.servers.caddy import log as caddy_log
from lanelab.driver.arm.servers.caddy import server as caddy_server
from lanelab.driver.arm.servers.h2o import log as h2o_log
from lanelab.driver.arm.servers.h2o import server as h2o_server
from lanelab.driver.arm.servers.layout import lay_out
from lanelab.driver.arm.servers.lighttpd import log as lighttpd_log
from lanelab.driver.arm.servers.lighttpd import server as lighttpd_server
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.errors import InputError, MissingProgram, RecordError
from lanelab.driver.bed.open_files import MOST_FILES, with_open_files
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.site.site import SiteObject
from tests.kit.server_arms import made

# As the servers of Debian 12 wrote them.
LIGHTTPD = (
    '{"began_us":1795407192669054,"duration_us":8,"host":"a.test","request":"GET /x?a=1 HTTP/1.1","status":200,'
    '"body_bytes":"3","sent_bytes":"216","received_bytes":"69","protocol":"HTTP/1.1","remote":"10.10.1.2:58920",'
    '"port":80,"keepalives":1,"connection":"+","encoding":"-"}'
)
LIGHTTPD_PREFACE = (
    '{"began_us":1795407192642893,"duration_us":590,"host":"-","request":"PRI * HTTP/2.0","status":100,'
    '"body_bytes":"183","sent_bytes":"183","received_bytes":"106","protocol":"HTTP/2.0","remote":"10.10.1.2:58904",'
    '"port":80,"keepalives":1,"connection":"X","encoding":"-"}'
)
CADDY = (
    '{"level":"info","ts":1795407199085261134,"logger":"http.log.access.lanelab","msg":"handled request","request":'
    '{"remote_ip":"10.10.1.2","remote_port":"50258","proto":"HTTP/2.0","method":"GET","host":"a.test","uri":"/x?a=1",'
    '"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"a.test"}},"user_id":"",'
    '"duration":0.000037927,"size":3,"status":200,"resp_headers":{"Content-Encoding":["gzip"],"Server":["Caddy"]}}'
)
H2O = (
    '{"began_us":1795406896931249,"duration_s":0.000125,"host":"a.test","method":"GET","path":"/x?a=1","status":200,'
    '"body_bytes":3,"protocol":"HTTP/1.1","remote":"10.10.1.2:55114","local":"10.10.2.2:443","number":2,'
    '"encoding":null,"tls":"TLSv1.3","reused":"1"}'
)
Reader = Callable[[Any], list[ServedRequest]]
LINES = {"lighttpd": LIGHTTPD, "caddy": CADDY, "h2o": H2O}


def test_reads_what_lighttpd_logs() -> None:
    (found,) = lighttpd_log.requests([LIGHTTPD, "", LIGHTTPD_PREFACE, LIGHTTPD.replace("10.10.1.2", "127.0.0.1")])
    assert (found.method, found.path, found.host, found.local) == ("GET", "/x?a=1", "a.test", ":80")
    assert (found.body_bytes, found.sent_bytes, found.received_bytes) == (3, 216, 69)
    assert (found.keepalives, found.connection, found.encoding, found.tls_resumed) == (1, "+", None, None)
    (closed,) = lighttpd_log.requests([LIGHTTPD.replace('"+"', '"-"')])
    assert closed.connection == "-"
    (stream,) = lighttpd_log.requests([LIGHTTPD.replace("HTTP/1.1", "HTTP/2.0").replace('"+"', '"-"')])
    assert (stream.protocol, stream.keepalives, stream.connection) == ("HTTP/2.0", 0, None)
    (empty,) = lighttpd_log.requests([LIGHTTPD.replace('"body_bytes":"3"', '"body_bytes":"-"')])
    assert empty.body_bytes == 0


def test_reads_what_caddy_logs() -> None:
    (found,) = caddy_log.requests([CADDY, CADDY.replace('"10.10.1.2"', '"127.0.0.1"')])
    assert (found.began_us, found.duration_us) == (1795407199085261 - 38, 38)
    assert (found.path, found.remote, found.local) == ("/x?a=1", "10.10.1.2:50258", ":443")
    assert (found.tls, found.tls_resumed, found.encoding, found.keepalives) == ("TLSv1.3", False, "gzip", None)
    clear = CADDY.replace(
        '"tls":{"resumed":false,"version":772,"cipher_suite":4865,"proto":"h2","server_name":"a.test"}', '"x":1'
    )
    for line in (clear, clear.replace('"x":1', '"tls":null')):
        (found,) = caddy_log.requests([line])
        assert (found.tls, found.tls_resumed, found.local) == (None, None, ":80")
    (found,) = caddy_log.requests([re.sub(r'"ts":\d+', '"ts":1.7954071990852615e18', CADDY)])
    assert found.began_us == 1795407199085261 - 38


def test_reads_what_h2o_logs() -> None:
    (found,) = h2o_log.requests([H2O, H2O.replace("10.10.1.2", "127.0.0.1")])
    assert (found.duration_us, found.keepalives, found.tls, found.tls_resumed) == (125, 1, "TLSv1.3", True)
    assert (found.sent_bytes, found.received_bytes, found.connection) == (None, None, None)
    stream = H2O.replace("HTTP/1.1", "HTTP/2").replace('"number":2', '"number":null').replace('"1"', '"0"')
    (found,) = h2o_log.requests([stream])
    assert (found.protocol, found.keepalives, found.tls_resumed) == ("HTTP/2.0", None, False)
    clear = H2O.replace('"TLSv1.3"', "null").replace('"1"', "null")
    (found,) = h2o_log.requests([clear])
    assert (found.tls, found.tls_resumed) == (None, None)


@pytest.mark.parametrize("name", LINES)
def test_a_false_line_is_an_error(name: str) -> None:
    line = LINES[name]
    damaged = [
        line[:-20],
        "no line",
        "[]",
        line.replace('"status":200', '"status":"well"'),
        line.replace("GET", "G\tT")[:30],
    ]
    damaged += [line.replace('"status":200,', ""), line.replace('"duration', '"duratoin')]
    for each in damaged:
        with pytest.raises(RecordError):
            SERVERS[name].requests([each])


@pytest.mark.parametrize(
    ("name", "quiet", "loud"),
    [
        (
            "lighttpd",
            [
                "2026-11-23 04:13:11: (server.c.1704) server started (lighttpd/1.4.69)",
                "2026-11-23 04:13:17: (server.c.1057) [note] graceful shutdown started",
                "2026-11-23 04:13:17: (server.c.2078) server stopped by UID = 0 PID = 19831",
                "2026-11-23 04:13:12: (mod_openssl.c.3275) SSL: 1 error:0A000102:SSL routines::unsupported (10.10.1.2)",
            ],
            [
                "2026-11-23 04:13:17: (server.c.1763) can't have more connections than fds/2: 1365 1024",
                "2026-11-23 04:13:17: (server.c.1094) [note] sockets disabled, connection limit reached",
                "server started (",
            ],
        ),
        (
            "caddy",
            [
                '{"level":"warn","ts":1.5,"logger":"admin","msg":"admin endpoint disabled"}',
                '{"level":"warn","ts":1.5,"msg":"exiting; byeee!! \N{WAVING HAND SIGN}","signal":"SIGINT"}',
                '{"level":"info","ts":1.5,"msg":"anything"}',
            ],
            ['{"level":"error","ts":1.5,"msg":"accept: too many open files"}', "panic: x", '{"level":"warn"}', "[1]"],
        ),
        (
            "h2o",
            [
                "h2o server (pid:15164) is ready to serve requests",
                "received SIGTERM, gracefully shutting down",
                "[INFO] raised RLIMIT_NOFILE to 20000",
            ],
            ["received fatal signal 11; backtrace follows", "[lib/handler/file.c] failed to open", "h2o server (pid"],
        ),
    ],
)  # fmt: skip
def test_only_what_speaks_against_a_trial_is_unexpected(name: str, quiet: list[str], loud: list[str]) -> None:
    assert SERVERS[name].unexpected([*quiet, "", *loud]) == loud


@pytest.mark.parametrize(
    ("settings", "key", "says"),
    [
        ({"server": "lighttpd", "protocol": "spdy/3.1"}, "protocol", "lighttpd does not speak spdy/3.1"),
        ({"server": "lighttpd", "keepalive_timeout": "500ms"}, "keepalive_timeout", "whole seconds"),
        ({"server": "lighttpd", "keepalive_requests": 0}, "keepalive_requests", "keeps a connection 1 to 65535 times"),
        ({"server": "lighttpd", "server_directives": "server.port = 81"}, "server_directives", "where the server"),
        ({"server": "lighttpd", "server_directives": "server.port=81"}, "server_directives", "where the server"),
        ({"server": "caddy", "compression": "brotli", "tls": "1.3"}, "compression", "does not compress with brotli"),
        ({"server": "caddy", "keepalive_requests": 100}, "keepalive_requests", "does not count"),
        ({"server": "caddy", "server_directives": "x"}, "server_directives", "takes no further lines"),
        ({"server": "caddy", "max_connections": 5000}, "max_connections", "server: lighttpd or h2o"),
        ({"server": "h2o", "keepalive": False}, "keepalive", "no switch"),
        ({"server": "h2o", "keepalive_requests": 100}, "keepalive_requests", "does not count"),
        ({"server": "h2o", "keepalive_timeout": "1500ms"}, "keepalive_timeout", "whole seconds"),
        ({"server": "h2o", "server_directives": "num-threads: 4"}, "server_directives", "h2o_threads is for that"),
        ({"server": "h2o", "h2o_threads": 0}, "h2o_threads", "Write a whole number"),
        ({"lighttpd_workers": 2}, "lighttpd_workers", "it is one of server: lighttpd"),
    ],
)  # fmt: skip
def test_what_they_cannot_do_is_an_error(settings: dict[str, Any], key: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        Arm.parse("a", settings)
    assert caught.value.key == key
    assert says in str(caught.value)


def test_defaults_are_those_of_each_server() -> None:
    arms = {name: Arm.parse("a", {"server": name}) for name in SERVERS}
    assert {name: arms[name].keepalive_requests for name in ("apache", "lighttpd", "caddy", "h2o")} == {
        "apache": 100, "lighttpd": 100, "caddy": 0, "h2o": 0,
    }  # fmt: skip
    assert arms["lighttpd"].settings()["max_connections"] == 1365
    assert arms["h2o"].settings()["max_connections"] == 1024
    assert {name: arms[name].changed() for name in LINES} == {name: {"server": name} for name in LINES}


@pytest.mark.parametrize(
    ("read", "words", "says"),
    [
        (lighttpd_server.read_installation, "", "cannot be found"),
        (lighttpd_server.read_installation, "/l\nlighttpd/1.4.59 (ssl)\n", "1.4.59 is too old"),
        (
            lighttpd_server.read_installation,
            "/l\nlighttpd/1.4.69 (ssl)\nmod_openssl.so\nmod_magnet.so\n",
            "no mod_deflate",
        ),
        (caddy_server.read_installation, "", "cannot be found"),
        (caddy_server.read_installation, "/c\nv2.5.1 h1:x\n", "2.5.1 is too old"),
        (h2o_server.read_installation, "", "cannot be found"),
        (h2o_server.read_installation, "/h\n0\nh2o version 2.2.5\nmruby: NO\n", "no mruby"),
    ],
)  # fmt: skip
def test_refuses_a_node_without_a_fit_one(read: Callable[[str, str], object], words: str, says: str) -> None:
    with pytest.raises(MissingProgram, match=says):
        read(words, "server")


def test_knows_those_that_are_fit() -> None:
    words = "/usr/sbin/lighttpd\nlighttpd/1.4.69 (ssl)\nmod_deflate.so\nmod_magnet.so\nmod_openssl.so\n"
    assert lighttpd_server.read_installation(words, "server").name == "lighttpd/1.4.69"
    assert caddy_server.read_installation("/usr/bin/caddy\n2.6.2\n", "server").name == "Caddy/2.6.2"
    found = h2o_server.read_installation("/usr/bin/h2o\n0\nh2o version 2.2.5\nmruby: YES\n", "server")
    assert (found.name, found.as_root) == ("h2o/2.2.5", True)
    assert not h2o_server.read_installation("/usr/bin/h2o\n1000\nh2o version 2.2.5\nmruby: YES\n", "server").as_root


def test_answers_are_as_recorded() -> None:
    site = made(("a.test", "/", "text/html"))
    headers = (("Content-Type", "text/css"), ("Connection", "close"), ("Server", "x"), ("X-A", "é"), ("X-B", "b{$}"))
    objects = (
        SiteObject("a.test", "/a", 1, "text/css", "11" * 32, headers=headers),
        SiteObject("a.test", "/none", 1, "text/css", "22" * 32, status=204, headers=headers[:1]),
        SiteObject("a.test", "/odd", 1, "text/css", "33" * 32, status=777, headers=headers[:1]),
        SiteObject("a.test", "/a", 1, "text/css", "44" * 32, method="POST"),
    )
    found = {
        each.path: each
        for each in answers.answers(
            lay_out(type(site)("s", "S", "a.test", "/a", objects, site.content)), answers.Ability("h2o")
        )
    }
    assert found["/a"].headers == (("Content-Type", "text/css"), ("X-B", "b{$}"))
    assert (found["/none"].status, found["/none"].file) == (204, "")
    assert found["/odd"].status == 200
    lost = "\n".join(answers.not_reproduced(objects, answers.Ability("h2o")))
    for words in (
        "status 777 becomes 200",
        "the header X-A is left out",
        "Server is h2o's own",
        "POST is not answered",
    ):
        assert words in lost
    assert "its body is not sent with status 204" in lost
    assert "X-B" not in lost


@pytest.mark.parametrize(("soft", "hard"), [(256, 1024), (256, 256)])
def test_programs_may_open_as_many_files_as_their_user_may(soft: int, hard: int) -> None:
    limited = f'ulimit -Sn {soft}; ulimit -Hn {hard}; exec "$@"'
    argv = ["sh", "-c", limited, "sh", *with_open_files(["sh", "-c", "ulimit -Sn; ulimit -Hn"])]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(hard), str(hard)]
    assert hard < MOST_FILES
