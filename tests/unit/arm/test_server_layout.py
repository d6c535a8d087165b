"""Where objects lie on the server, and what its logs say."""

import ipaddress
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.arm.servers.apache import log as apache_log
from lanelab.driver.arm.servers.layout import MAPPED, lay_out, type_by_name
from lanelab.driver.arm.servers.nginx import log as nginx_log
from lanelab.driver.arm.servers.nginx.configuration import Build
from lanelab.driver.arm.servers.nginx.installation import BROTLI, LUA
from lanelab.driver.arm.servers.nginx.installation import read as read_installation
from lanelab.driver.arm.servers.resolver import configuration, queries_in
from lanelab.driver.base.errors import InputError, MissingProgram, RecordError
from lanelab.driver.bed.addresses import ADDRESSES, LINK_NETWORK, origin_addresses
from lanelab.driver.record.evidence.server import Query
from lanelab.driver.site.site import Site, SiteObject


def site(*objects: tuple[str, str]) -> Site:
    found = tuple(
        SiteObject("a.test", path, 1, mime, f"{number:02x}" * 32) for number, (path, mime) in enumerate(objects)
    )
    return Site("site", "A site", "a.test", found[0].path, found, Path("/nowhere"))


def test_what_a_name_can_say_lies_where_the_url_says() -> None:
    layout = lay_out(site(("/", "text/html"), ("/deep/", "text/html"), ("/x/y.min.js", "text/javascript")))
    assert sorted(layout.files) == [
        "hosts/a.test/deep/index.html",
        "hosts/a.test/index.html",
        "hosts/a.test/x/y.min.js",
    ]
    assert not layout.maps


@pytest.mark.parametrize(
    ("path", "mime"),
    [("/x.js?v=1", "text/javascript"), ("/a%20b.png", "image/png"), ("/lie.png", "text/html"), ("/bare", "text/css")],
)
def test_what_a_name_cannot_say_is_mapped(path: str, mime: str) -> None:
    layout = lay_out(site(("/", "text/html"), ("/1.png", "image/png"), ("/2.png", "image/png"), (path, mime)))
    (name,) = layout.maps["a.test"].values()
    assert layout.mapped_types[int(name.rpartition(".type")[2])] == mime
    assert layout.files[f"{MAPPED}/{name}"].path == path


def test_the_same_content_under_two_types_is_two_files() -> None:
    objects = [SiteObject("a.test", f"/x?{number}", 1, mime, "ab" * 32) for number, mime in enumerate(("a/b", "c/d"))]
    layout = lay_out(Site("site", "A site", "a.test", "/x?0", tuple(objects), Path("/nowhere")))
    assert len(layout.files) == 2


WORDS = st.lists(st.sampled_from(["a", "B", "js", "PNG", "png", "", "x?y", "%20"]), min_size=1, max_size=4)


@given(
    st.lists(
        st.tuples(WORDS.map(".".join), st.sampled_from(["a/b", "c/d", "e/f"])), min_size=1, unique_by=lambda o: o[0]
    )
)
def test_every_object_has_its_type_one_way_or_the_other(objects: list[tuple[str, str]]) -> None:
    layout = lay_out(site(*(("/" + path, mime) for path, mime in objects)))
    mapped = layout.maps.get("a.test", {})
    for name, each in layout.files.items():
        if name.startswith("hosts/"):
            assert each.path not in mapped
            assert type_by_name(name, layout.types["a.test"]) == each.mime
    for path, name in mapped.items():
        expected = next(mime for other, mime in objects if "/" + other == path)
        assert layout.mapped_types[int(name.rpartition(".type")[2])] == expected
    natural = {each.path for name, each in layout.files.items() if name.startswith("hosts/")}
    assert natural | set(mapped) == {"/" + path for path, _ in objects}


def test_digest_tells_contents_and_places_apart() -> None:
    digests = [lay_out(site(*o)).digest() for o in ([("/", "a/b")], [("/x.y", "a/b")], [("/", "a/b"), ("/x.y", "a/b")])]
    assert len(set(digests)) == 3


NOTICE = "[Fri Nov 20 15:14:47.77 2026] [mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4 configured"
WARNING = "[Fri Nov 20 15:14:47.77 2026] [ssl:warn] [pid 1:tid 1] AH01909: lanelab.invalid:443:0 server certificate"
FULL = "[Fri Nov 20 15:14:47.77 2026] [mpm_event:error] [pid 1:tid 1] AH00484: server reached MaxRequestWorkers setting"


def test_only_what_speaks_against_a_trial_is_unexpected() -> None:
    assert apache_log.unexpected([NOTICE, WARNING, FULL, "", "free(): invalid pointer"]) == [
        FULL,
        "free(): invalid pointer",
    ]


@pytest.mark.parametrize("code", ["AH00050", "AH00051", "AH00052"])
@pytest.mark.parametrize("level", ["alert", "notice", "debug"])
def test_a_child_that_died_is_never_expected(code: str, level: str) -> None:
    line = f"[Fri Nov 20 15:14:47.77 2026] [core:{level}] [pid 1:tid 1] {code}: child pid 7 exit signal Segmentation"
    assert apache_log.unexpected([NOTICE, line]) == [line]


LINE = (
    r'{"began_us":1,"duration_us":2,"host":"a\"b","request":"GET /\xc3\xa4\\x41\v HTTP/1.1","status":404,'
    r'"body_bytes":0,"sent_bytes":9,"received_bytes":8,"protocol":"HTTP/1.1","remote":"10.10.1.2:5",'
    r'"local":"10.10.2.2:80","keepalives":0,"connection":"+","encoding":"-","match":"exact"}'
)


OWN = (
    '{"began_us":1795981748337137,"duration_us":310,"host":"-","request":"OPTIONS * HTTP/1.0","status":404,'
    '"body_bytes":18,"sent_bytes":178,"received_bytes":86,"protocol":"HTTP/1.0","remote":"10.10.16.2:41222","local":"10.10.16.2:80",'
    '"keepalives":0,"connection":"-","encoding":"-","match":"none"}'
)


def test_what_apache_asks_itself_is_no_request() -> None:
    """So it wakes a child that it has no need of; the same by a client is a request."""
    by_client = OWN.replace("10.10.16.2:41222", "10.10.1.2:41222")
    assert [each.remote for each in apache_log.requests([OWN, by_client])] == ["10.10.1.2:41222"]


def test_reads_what_apache_escapes() -> None:
    (line,) = apache_log.requests([LINE])
    assert line.host == 'a"b'
    assert line.path == "/\u00c3\u00a4\\x41\u000b"
    assert (line.method, line.status, line.encoding, line.tls_resumed) == ("GET", 404, None, None)
    assert line.match == "exact"
    none = re.sub('"request":"[^"]*"', '"request":"-"', LINE).replace('"exact"', '"-"')
    (line,) = apache_log.requests([none])
    assert (line.method, line.path, line.match) == ("-", None, None)


@pytest.mark.parametrize(("told", "resumed"), [("Resumed", True), ("Initial", False)])
def test_reads_whether_a_session_was_resumed(told: str, *, resumed: bool) -> None:
    (line,) = apache_log.requests([LINE.removesuffix("}") + f',"tls":"TLSv1.3","tls_resumed":"{told}"}}'])
    assert (line.tls, line.tls_resumed) == ("TLSv1.3", resumed)


@pytest.mark.parametrize("damaged", [LINE[:40], LINE.replace("status", "state"), LINE.replace("match", "fit"), "[]"])
def test_a_line_that_cannot_be_read_is_an_error(damaged: str) -> None:
    with pytest.raises(RecordError, match=r"line of the server's log|requests"):
        apache_log.requests([damaged])


NGINX_REQUEST = (
    '{"ended_s":1795348850.594,"duration_s":0.013,"host":"a.test","method":"GET","path":"/x?y","status":200,'
    '"body_bytes":3,"sent_bytes":4,"received_bytes":5,"protocol":"HTTP/2.0","remote":"10.10.1.2:5",'
    '"local":"10.10.2.2:443","number":3,"completion":"OK","encoding":"","tls":"TLSv1.3","reused":"r"}'
)


def test_reads_what_nginx_logs() -> None:
    (found,) = nginx_log.requests([NGINX_REQUEST, ""])
    assert (found.began_us, found.duration_us) == (1795348850_581_000, 13_000)
    assert (found.host, found.method, found.path, found.status) == ("a.test", "GET", "/x?y", 200)
    assert (found.keepalives, found.connection, found.encoding) == (2, None, None)
    assert (found.tls, found.tls_resumed, found.spdy) == ("TLSv1.3", True, None)
    clear = NGINX_REQUEST.replace("TLSv1.3", "").replace('"r"', '""').replace('"OK"', '""').replace("GET", "")
    (broken,) = nginx_log.requests([clear])
    assert (broken.tls, broken.tls_resumed, broken.connection, broken.method) == (None, None, "X", "-")
    (none,) = nginx_log.requests([NGINX_REQUEST.replace("HTTP/2.0", "")])
    assert none.protocol is None
    renamed = NGINX_REQUEST.replace("protocol", "spoken")
    for damaged in (NGINX_REQUEST[:40], renamed, NGINX_REQUEST.replace("status", "state"), "[]", '{"ended_s":"x"}'):
        with pytest.raises(RecordError, match=r"line of the server's log|requests"):
            nginx_log.requests([damaged])


def test_only_what_speaks_against_a_trial_is_unexpected_of_nginx() -> None:
    lines = {
        level: f"2026/11/22 12:00:00 [{level}] 12#12: *1 something" for level in ("notice", "warn", "error", "alert")
    }
    bad = [lines["warn"], lines["error"], lines["alert"], "free(): invalid pointer"]
    assert nginx_log.unexpected([lines["notice"], "", *bad]) == bad


@pytest.mark.parametrize(
    ("modules", "version", "brotli", "lua"),
    [
        ((), "1.22.1", "", ()),
        (("lib/" + BROTLI,), "1.26.3 (x)", "/lib/" + BROTLI, ()),
        (("lib/" + LUA[1],), "1.26.3", "", ()),
        (("lib/" + LUA[1], "lib/" + LUA[0], "lib64/" + LUA[0]), "1.26.3", "", ("/lib/" + LUA[0], "/lib/" + LUA[1])),
    ],
)
def test_looks_for_nginx(modules: tuple[str, ...], version: str, brotli: str, lua: tuple[str, ...]) -> None:
    words = "".join(f"{line}\n" for line in ("/usr/sbin/nginx", f"nginx version: nginx/{version}", *modules))
    found = read_installation(words.replace("lib", "/lib"), "server")
    number = tuple(map(int, version.partition(" ")[0].split(".")))
    assert found.program == "/usr/sbin/nginx"
    assert found.build == Build(number, brotli, lua)


@pytest.mark.parametrize(
    ("words", "says"), [("", "nginx cannot be found"), ("/nginx\nnginx version: nginx/1.18.0\n", "1.18.0 is too old")]
)
def test_refuses_a_node_without_a_fit_nginx(words: str, says: str) -> None:
    with pytest.raises(MissingProgram, match=says):
        read_installation(words, "server")


def test_lists_who_else_was_asked_for() -> None:
    log = (
        "Nov 20 15:21:00 dnsmasq[9]: query[A] ready.lanelab.invalid from 10.10.2.2\n"
        "Nov 20 15:21:00 dnsmasq[9]: config ready.lanelab.invalid is NXDOMAIN\n"
        "Nov 20 15:21:01 dnsmasq[9]: query[type=65] www.site.test from 10.10.1.2\n"
        "Nov 20 15:21:01 dnsmasq[9]: query[AAAA] x.test from 10.10.1.2\n"
    )
    assert queries_in(log) == (Query("www.site.test", "type=65"), Query("x.test", "AAAA"))


def test_the_resolver_knows_the_names_of_the_site_alone() -> None:
    text = configuration({"a.test": "10.10.16.1", "b.test": "10.10.16.2"}, "/run/x/dnsmasq.log")
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("host-record")] == [
        "host-record=a.test,10.10.16.1",
        "host-record=b.test,10.10.16.2",
    ]
    assert {"no-resolv", "no-hosts", "local=/#/", "log-facility=/run/x/dnsmasq.log"} <= set(lines)
    assert "dns-rr" not in text


def test_names_have_https_records_where_http3_is_discovered_by_them() -> None:
    """As dnspython writes `1 . alpn="h3,h2"`."""
    text = configuration({"a.test": "10.10.16.1"}, "/run/x/dnsmasq.log", ("h3", "h2"))
    assert "dns-rr=a.test,65,00010000010006026833026832\n" in text


def test_origins_share_an_address_or_have_their_own() -> None:
    names = ["a.test", "b.test", "a.test", "c.test"]
    assert origin_addresses(names, "shared") == dict.fromkeys(names, "10.10.2.2")
    assert origin_addresses(names, "per-origin") == {
        "a.test": "10.10.16.1", "b.test": "10.10.16.2", "c.test": "10.10.16.3",
    }  # fmt: skip
    many = [f"{number}.test" for number in range(4095)]
    own = origin_addresses(many[:4094], "per-origin")
    assert own["4093.test"] == "10.10.31.254"
    assert len(set(own.values())) == 4094
    ends = {ipaddress.ip_address(each) for each in ADDRESSES.values()}
    assert not ends & {ipaddress.ip_address(each) for each in own.values()}
    assert all(ipaddress.ip_address(each) in ipaddress.ip_network(LINK_NETWORK) for each in own.values())
    with pytest.raises(InputError, match=r"addresses: .*4095 origins.*shared"):
        origin_addresses(many, "per-origin")
    with pytest.raises(InputError, match=r"per-origin"):
        origin_addresses(names, "own")
